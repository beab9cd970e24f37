"""A certificate holds for the judge that it was given to, and no longer than it says."""

from pathlib import Path
from typing import Any

import pytest

from misstep.harness.errors import InputError
from misstep.harness.journal.records import SCHEMA, Inputs, Manifest, toml_text
from misstep.harness.runs.judging.certificate import ShownOn, certificate, changes, check_certified

ASKED: dict[str, Any] = {
    "judge": "loops",
    "judge_digest": "aa",
    "prompt": "loops@1",
    "model": "small-1",
    "settings": {"temperature": 0.0},
    "votes": 1,
    "benchmark": "gates",
}
ON = ShownOn("gates", 40, "d1")


def certified(file: Path, days: int = 30, **asked: object) -> Path:
    manifest = Manifest(SCHEMA, "judge run", [], "1", "3", "", ASKED | asked, Inputs(1, 1, "d1"))
    shown = {"accuracy_all": {"value": 0.9, "low": None, "high": None}}
    file.write_bytes(toml_text(certificate(manifest, "run", ON, shown, days)))
    return file


def test_a_judge_that_is_as_it_was_is_let_through_on_any_benchmark(tmp_path: Path) -> None:
    check_certified([certified(tmp_path / "c.toml")], ASKED | {"benchmark": "another", "sample": 3})
    check_certified([], ASKED)


@pytest.mark.parametrize(
    ("now", "message"),
    [
        ({"model": "small-2"}, "model: small-1 there, small-2 here"),
        ({"judge_digest": "bb", "prompt": "loops@2"}, "prompt: loops@1 there, loops@2 here"),
        ({"judge_digest": "bb"}, "file of the judge: aa there, bb here"),
        (
            {"settings": {"temperature": 0.7, "seed": 3}},
            "settings.temperature: 0.0 there, 0.7 here; settings.seed: nothing",
        ),
        ({"judge": "limits"}, "judge: loops there, limits here"),
    ],
)
def test_the_part_that_changed_is_named(tmp_path: Path, now: dict[str, object], message: str) -> None:
    file = certified(tmp_path / "c.toml")
    with pytest.raises(InputError, match=f"not of this judge: {message}") as refused:
        check_certified([file], ASKED | now)
    assert str(file) in str(refused.value)


def test_of_several_one_has_to_hold(tmp_path: Path) -> None:
    files = [certified(tmp_path / "a.toml", judge="limits"), certified(tmp_path / "b.toml")]
    check_certified(files, ASKED)
    with pytest.raises(InputError, match=r"b\.toml: .*model"):
        check_certified(files, ASKED | {"model": "small-2"})


def test_one_that_has_run_out_is_refused_with_its_day(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ran out on \d{4}-\d{2}-\d{2}"):
        check_certified([certified(tmp_path / "c.toml", days=-1)], ASKED)


@pytest.mark.parametrize("damage", [b"run = 3", b"nonsense", None])
def test_a_file_that_is_no_certificate_is_named(tmp_path: Path, damage: bytes | None) -> None:
    file = certified(tmp_path / "c.toml")
    changed = file.read_bytes().replace(b'valid_until = "2', b'valid_until = "soon 2') if damage is None else damage
    file.write_bytes(changed)
    with pytest.raises(InputError, match=r"c\.toml"):
        check_certified([file], ASKED)


def test_what_differs_is_told_with_both_values() -> None:
    assert changes(ASKED, ASKED | {"votes": 3}) == {"votes": ("1", "3")}
    assert changes(ASKED, ASKED) == {}

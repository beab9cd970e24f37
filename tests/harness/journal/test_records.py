"""Rows out and in: what is written reads back, and what is broken is named with file and line."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.journal.records import (
    MANIFEST,
    SCHEMA,
    Inputs,
    Manifest,
    encode_verdicts,
    read_items,
    read_manifest,
    read_verdicts,
    replace_file,
    write_manifest,
    write_verdicts,
)
from harness.verdict import Verdict

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
ANSWERED = st.builds(Verdict, TEXT, TEXT, TEXT, steps=st.tuples(st.integers(0, 99)), rationale=TEXT)
UNANSWERED = st.builds(Verdict, TEXT, TEXT, st.none(), st.sampled_from(["abstained", "failed"]))
TWO = [Verdict("a", "judge", "yes", steps=(1, 2)), Verdict("a\nb", "judge", None, "abstained")]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ANSWERED | UNANSWERED, max_size=5))
def test_verdicts_read_back_as_they_were_written(tmp_path: Path, verdicts: list[Verdict]) -> None:
    write_verdicts(tmp_path / "verdicts.jsonl", verdicts)
    assert list(read_verdicts(tmp_path)) == verdicts
    assert list(read_items(tmp_path / "verdicts.jsonl")) == [verdict.item for verdict in verdicts]


def test_each_verdict_is_one_line_whatever_its_text() -> None:
    assert encode_verdicts(TWO).count(b"\n") == 2


def test_a_half_written_last_line_is_an_error_unless_the_run_may_be_unfinished(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    file.write_bytes(encode_verdicts(TWO)[:-20])
    with pytest.raises(InputError, match=r"verdicts\.jsonl:2: no verdict"):
        list(read_verdicts(file))
    assert list(read_verdicts(file, unfinished=True)) == TWO[:1]


def test_a_broken_line_before_the_last_is_an_error_in_any_run(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    file.write_bytes(b'{"item": "a"\n' + encode_verdicts(TWO))
    with pytest.raises(InputError, match=r"verdicts\.jsonl:1: "):
        list(read_verdicts(file, unfinished=True))


def test_a_label_without_an_answer_is_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    file.write_bytes(b'{"item":"a","judge":"j","label":"no","status":"abstained"}\n')
    with pytest.raises(InputError, match="label exactly when it is answered"):
        list(read_verdicts(file))


def test_a_missing_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot open"):
        list(read_verdicts(tmp_path / "none"))


def _manifest(**changes: object) -> Manifest:
    values: dict[str, object] = {
        "schema": SCHEMA,
        "command": "classify",
        "arguments": ["ü \\ \x7f", "--out"],
        "misstep": "1",
        "python": "3",
        "started": "2026-01-01T00:00:00+00:00",
        "asked": {"categories": ["a", "b"]},
        "inputs": Inputs(1, 2, "ff"),
    }
    return Manifest(**(values | changes))  # type: ignore[arg-type]


def test_a_manifest_reads_back_and_a_folder_without_one_is_no_run(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    for manifest in (_manifest(), _manifest(finished="2026-01-02T00:00:00+00:00")):
        write_manifest(tmp_path, manifest)
        assert read_manifest(tmp_path) == manifest


@pytest.mark.parametrize(
    ("content", "said"),
    [("schema = 99\n", "schema version 99"), ("schema =", "cannot be read"), ("schema = 1\n", "not the manifest")],
)
def test_a_manifest_of_another_kind_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(InputError, match=said):
        read_manifest(tmp_path)


def test_replacing_a_file_leaves_nothing_beside_it(tmp_path: Path) -> None:
    replace_file(tmp_path / "a.json", b"1")
    replace_file(tmp_path / "a.json", b"2")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("a.json", b"2")]

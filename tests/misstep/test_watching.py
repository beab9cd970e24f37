"""A run that is watched tells each finding once, also of files that come and change between two looks."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from misstep.classify.findings import classified_findings
from misstep.watch import watch_sessions
from misstep_harness.errors import InputError, UsageError
from misstep_harness.runs.classify import ClassifyPlan
from tests.misstep.made_up import CATEGORIES, atif_lines, by_id

PLAN = ClassifyPlan(CATEGORIES, by_id)


def _flagged(names: str, tmp_path: Path) -> list[str]:
    """The made-up sessions of these names that are flagged, once a category."""
    file = atif_lines(tmp_path / "all.jsonl", names.split())
    return [one.item for one in classified_findings([file], PLAN).findings]


class _Over(Exception):
    """There is no further look."""


def _looks(
    paths: list[Path], run: Path, plan: ClassifyPlan = PLAN, looks: Iterable[Callable[[], object]] = ()
) -> list[str]:
    """What is told in a look, and in one after each of `looks`."""
    told: list[str] = []
    before = iter(looks)

    def wait() -> None:
        try:
            next(before)()
        except StopIteration:
            raise _Over from None

    with suppress(_Over):
        watch_sessions(paths, plan, run, tell=lambda finding: told.append(finding.item), wait=wait)
    return told


def test_each_look_tells_what_came_since_and_nothing_twice(tmp_path: Path) -> None:
    folder, names = tmp_path / "sessions", [f"s{number}" for number in range(12)]
    folder.mkdir()
    atif_lines(folder / "one.jsonl", names[:5])
    come_in = [
        partial(atif_lines, folder / "one.jsonl", names[:8]),
        partial(atif_lines, folder / "two.jsonl", names[8:]),
        partial((folder / "one.jsonl").rename, folder / "one.jsonl.1"),
    ]
    assert _looks([folder], tmp_path / "run", looks=come_in) == _flagged(" ".join(names), tmp_path)


def test_a_run_that_goes_on_tells_what_it_has_not_told(tmp_path: Path) -> None:
    names, run = [f"s{number}" for number in range(12)], tmp_path / "run"
    file = tmp_path / "all.jsonl"
    before, every = _flagged(" ".join(names[:5]), tmp_path), _flagged(" ".join(names), tmp_path)

    def stopped(_finding: object) -> None:
        raise KeyboardInterrupt

    for written, told in ((names[:5], before), (names, every[len(before) :])):
        atif_lines(file, written)
        with pytest.raises(KeyboardInterrupt):
            watch_sessions([file], PLAN, run, tell=stopped, wait=lambda: None)
        assert _looks([file], run) == told, "the program was stopped before the first was told"
        assert _looks([file], run) == []


def test_of_a_run_of_classify_what_comes_after_it_is_told(tmp_path: Path) -> None:
    names, file = [f"s{number}" for number in range(12)], tmp_path / "runs.jsonl"
    atif_lines(file, names[:5])
    known = classified_findings([file], PLAN, tmp_path / "run").findings
    look = partial(atif_lines, file, names)
    assert _looks([file], tmp_path / "run", looks=[look]) == _flagged(" ".join(names), tmp_path)[len(known) :]


def test_the_first_session_is_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    names = [f"s{number}" for number in range(9)]
    come_in = [lambda: None, partial(atif_lines, folder / "runs.jsonl", names)]
    assert _looks([folder], tmp_path / "run", looks=come_in) == _flagged(" ".join(names), tmp_path)
    assert capsys.readouterr().err.count("Waiting for the first session") == 1


def test_a_path_that_does_not_exist_and_a_run_of_other_categories_end_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        _looks([tmp_path / "nowhere"], tmp_path / "run")
    file = atif_lines(tmp_path / "runs.jsonl", [f"s{number}" for number in range(9)])
    _looks([file], tmp_path / "run")
    with pytest.raises(UsageError, match="categories"):
        _looks([file], tmp_path / "run", ClassifyPlan(CATEGORIES[:1], by_id))

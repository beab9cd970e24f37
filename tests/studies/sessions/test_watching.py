"""A run that is watched tells each finding once, also of files that come and change between two looks."""

from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from misstep.harness.errors import InputError, UsageError
from misstep.harness.runs.classify import ClassifyPlan
from misstep.studies.classified_paths import classified_findings
from misstep.studies.sessions.watching import TOLD, new_findings
from tests.misstep.made_up import CATEGORIES, atif_lines, by_id

PLAN = ClassifyPlan(CATEGORIES, by_id)


def _flagged(names: str, tmp_path: Path) -> list[str]:
    """The made-up sessions of these names that are flagged, once a category."""
    file = atif_lines(tmp_path / "all.jsonl", names.split())
    return [one.item for one in classified_findings([file], PLAN).findings]


def test_each_look_tells_what_came_since_and_nothing_twice(tmp_path: Path) -> None:
    folder, names = tmp_path / "sessions", [f"s{number}" for number in range(12)]
    folder.mkdir()
    expected = _flagged(" ".join(names), tmp_path)
    looks = iter([("one", names[:5]), ("one", names[:8]), ("two", names[8:])])

    def come_in() -> None:
        name, written = next(looks)
        atif_lines(folder / f"{name}.jsonl", written)

    come_in()
    result = new_findings([folder], PLAN, tmp_path / "run", wait=come_in)
    assert [one.item for one in islice(result, len(expected))] == expected


def test_a_run_that_goes_on_tells_what_it_has_not_told(tmp_path: Path) -> None:
    names, run = [f"s{number}" for number in range(12)], tmp_path / "run"
    file = tmp_path / "all.jsonl"
    before, every = _flagged(" ".join(names[:5]), tmp_path), _flagged(" ".join(names), tmp_path)
    atif_lines(file, names[:5])

    def told(most: int) -> list[str]:
        """What one look tells, or its beginning, when the program is stopped then."""
        result = new_findings([file], PLAN, run, wait=lambda: pytest.fail("there is no second look"))
        seen = []
        with suppress(pytest.fail.Exception):
            for one in result:
                seen.append(one.item)
                if len(seen) == most:
                    break
        return seen

    assert told(1) == before[:1]
    assert told(99) == before, "the first was printed, and the program stopped before that was written down"
    assert told(99) == []
    atif_lines(file, names)
    assert told(99) == every[len(before) :]
    (run / TOLD).unlink()
    assert told(99) == [], "a run of `classify` has found all of them"


def test_the_first_session_is_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    (name, *_) = _flagged(" ".join(f"s{number}" for number in range(9)), tmp_path)
    looks = iter([None, None, [name]])

    def come_in() -> None:
        if names := next(looks):
            atif_lines(folder / "runs.jsonl", names)

    result = new_findings([folder], PLAN, tmp_path / "run", wait=come_in)
    assert next(result).item == name
    assert capsys.readouterr().err.count("Waiting for the first session") == 1


def test_a_path_that_does_not_exist_and_a_run_of_other_categories_end_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        next(new_findings([tmp_path / "nowhere"], PLAN, tmp_path / "run", wait=lambda: None))
    file = atif_lines(tmp_path / "runs.jsonl", [f"s{number}" for number in range(9)])
    next(new_findings([file], PLAN, tmp_path / "run", wait=lambda: None))
    with pytest.raises(UsageError, match="categories"):
        next(new_findings([file], ClassifyPlan(CATEGORIES[:1], by_id), tmp_path / "run", wait=lambda: None))

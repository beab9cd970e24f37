"""A finished run takes new and changed files, and stands as if it had read all of them at once."""

import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from misstep.analysis.pages.findings import Findings
from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.records import SESSION_RECORDS, read_manifest, read_records, read_verdicts
from misstep.harness.runs import growth
from misstep.harness.runs.classify import ClassifyPlan
from misstep.harness.runs.inputs import Changed
from misstep.harness.runs.spread import Spread
from misstep.harness.trajectory import Trajectory
from misstep.harness.verdict import Verdict
from misstep.studies.classified_paths import as_json, classified_findings
from tests.misstep.made_up import CATEGORIES, atif_lines, by_id


def _classify(folder: Path, run: Path, calls: "count[int] | None" = None, stop_at: int = -1) -> Findings:
    classify = partial(_counted, calls or count(), stop_at)
    return classified_findings([folder], ClassifyPlan(CATEGORIES, classify, ["made up"], spread=Spread(1)), run)


def _counted(calls: "count[int]", stop_at: int, one: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    if next(calls) == stop_at:
        raise KeyboardInterrupt
    return by_id(one, categories)


def _records(run: Path) -> tuple[dict[str, list[str | None]], set[str]]:
    labels: dict[str, list[str | None]] = {}
    for verdict in read_verdicts(run):
        labels.setdefault(verdict.item, []).append(verdict.label)
    return labels, {session.item for session in read_records(run, SESSION_RECORDS)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files whose sessions a run has read, then a new file, a changed one and one that is gone."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("monday", "tuesday", "gone"):
        atif_lines(folder / f"{name}.jsonl", (f"{name}-{number}" for number in range(4)))
    (folder / "notes.txt").write_text("Mend the fence.\n")
    _classify(folder, tmp_path / "run")
    atif_lines(folder / "tuesday.jsonl", (f"tuesday-{number}" for number in range(6)))
    atif_lines(folder / "wednesday.jsonl", ["wednesday-0", "monday-1"])
    (folder / "gone.jsonl").unlink()
    return folder


def test_only_new_and_changed_files_are_read_and_the_others_stand(folder, tmp_path, capsys) -> None:
    calls = count()
    result = _classify(folder, tmp_path / "run", calls)
    assert (next(calls), result.n, result.renamed) == (6 + 2, 4 + 4 + 6 + 2, 1)
    assert "1 new and 1 changed files; the other 3 stay" in capsys.readouterr().err
    labels, sessions = _records(tmp_path / "run")
    assert set(labels) == sessions >= {"gone-3", "tuesday-5", "monday-1", "monday-1~2", "wednesday-0"}
    assert all(len(of_item) == len(CATEGORIES) for of_item in labels.values())
    assert [one.file for one in result.skipped] == [str(folder / "notes.txt")]
    assert _classify(folder, tmp_path / "run", count(), stop_at=0) == result


def test_it_counts_as_a_run_that_reads_everything_at_once(folder: Path, tmp_path: Path) -> None:
    grown = _classify(folder, tmp_path / "run")
    atif_lines(folder / "gone.jsonl", (f"gone-{number}" for number in range(4)))
    at_once = _classify(folder, tmp_path / "again")
    assert (grown.categories, grown.any, grown.sub_agents) == (at_once.categories, at_once.any, at_once.sub_agents)
    key = {(one.file, one.line, one.category) for one in at_once.findings}
    assert {(one.file, one.line, one.category) for one in grown.findings} == key
    assert sorted(map(str, grown.patterns)) == sorted(map(str, at_once.patterns))


def test_a_folder_of_its_own_for_each_day_is_added(tmp_path: Path) -> None:
    for day in ("one", "two"):
        (tmp_path / day).mkdir()
        atif_lines(tmp_path / day / "runs.jsonl", [f"{day}-{number}" for number in range(3)])
        result = _classify(tmp_path / day, tmp_path / "run")
    assert result.n == 6
    manifest = read_manifest(tmp_path / "run")
    assert manifest.inputs.files == 2


@pytest.mark.parametrize("stop_at", [0, 5])
def test_stopped_while_it_grows_the_same_command_goes_on(folder: Path, tmp_path: Path, stop_at: int) -> None:
    undisturbed = Path(shutil.copytree(tmp_path / "run", tmp_path / "undisturbed"))
    before = as_json(_classify(folder, undisturbed))
    with pytest.raises(KeyboardInterrupt):
        _classify(folder, tmp_path / "run", count(), stop_at)
    assert len(_records(tmp_path / "run")[1]) == 12, "the run that stands is whole until the new one is"
    assert as_json(_classify(folder, tmp_path / "run")) == before
    for name in ("verdicts.jsonl", "sessions.jsonl", "files.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (undisturbed / name).read_bytes()
    assert not list((tmp_path / "run").glob(".*"))


def test_killed_while_the_whole_is_moved_into_place_the_next_command_moves_the_rest(folder, tmp_path, monkeypatch):
    def half(out: Path) -> None:
        file = next((out / growth.WHOLE).iterdir(), None) if (out / growth.WHOLE).is_dir() else None
        if file is not None:
            file.replace(out / file.name)

    with monkeypatch.context() as patched:
        patched.setattr(growth, "complete", half)
        result = _classify(folder, tmp_path / "run")
    assert (tmp_path / "run" / growth.WHOLE).is_dir()
    assert _classify(folder, tmp_path / "run", count(), stop_at=0) == result
    assert len(_records(tmp_path / "run")[1]) == 16


def test_a_file_that_changed_while_the_first_run_was_stopped_begins_it_anew(tmp_path: Path) -> None:
    file = atif_lines(tmp_path / "runs.jsonl", map(str, range(9)))
    with pytest.raises(KeyboardInterrupt):
        _classify(file, tmp_path / "run", count(), 3)
    atif_lines(file, map(str, range(4)))
    assert _classify(file, tmp_path / "run").n == 4


def test_files_of_other_times_are_left_out(tmp_path: Path) -> None:
    for name, year in (("old", 2020), ("new", 2026)):
        file = atif_lines(tmp_path / f"{name}.jsonl", [name])
        os.utime(file, (datetime(year, 3, 1, tzinfo=UTC).timestamp(),) * 2)
    before, between, after = (datetime(year, 1, 1, tzinfo=UTC) for year in (2020, 2026, 2027))
    for changed in (Changed(since=between), Changed(until=between), Changed(between, after)):
        assert classified_findings([tmp_path], ClassifyPlan(CATEGORIES, by_id, changed=changed)).n == 1
    for changed, said in (
        (Changed(since=after), "no file was changed since 2027-01-01 00:00 UTC. Give --since or --until another time"),
        (Changed(before, before), "no file was changed since 2020-01-01 00:00 UTC and before 2020-01-01 00:00 UTC"),
    ):
        with pytest.raises(InputError, match=said):
            classified_findings([tmp_path], ClassifyPlan(CATEGORIES, by_id, changed=changed))


def test_a_run_whose_files_were_not_noted_is_not_guessed_at(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "run" / "files.jsonl").unlink()
    with pytest.raises(UsageError, match="did not note its files"):
        _classify(folder, tmp_path / "run")

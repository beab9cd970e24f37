"""A run in the folder of a finished one reads what is new, and is the run that reads everything at once."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep.classify.findings import classified_findings
from misstep_analysis.sessions.findings import Findings
from misstep_harness.errors import InputError, UsageError
from misstep_harness.journal.records import SESSION_RECORDS, read_records
from misstep_harness.runs import verdict_cache
from misstep_harness.runs.classify import (
    ClassifyPlan,
    InstructionSources,
    ProjectInstructions,
)
from misstep_harness.runs.inputs import Changed
from misstep_harness.runs.spread import Spread
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict
from tests.misstep.made_up import CATEGORIES, atif_lines, by_id


def _classify(folder: Path, run: Path, calls: "count[int] | None" = None, stop_at: int = -1) -> Findings:
    classify = partial(_counted, calls or count(), stop_at)
    return classified_findings([folder], ClassifyPlan(CATEGORIES, classify, ["made up"], spread=Spread(1)), run)


def _counted(calls: "count[int]", stop_at: int, one: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    if next(calls) == stop_at:
        raise KeyboardInterrupt
    return by_id(one, categories)


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


def _sessions(run: Path) -> dict[str, str]:
    return {one.item: Path(one.file).name for one in read_records(run, SESSION_RECORDS)}


def test_only_new_and_changed_files_are_read_and_what_is_gone_is_gone(folder: Path, tmp_path: Path) -> None:
    calls = count()
    result = _classify(folder, tmp_path / "run", calls)
    assert (next(calls), result.n, result.renamed) == (6 + 2, 4 + 6 + 2, 1)
    at_once = _classify(folder, tmp_path / "again")
    assert replace(result, findings=[], new=None, patterns=[]) == replace(at_once, findings=[], patterns=[])
    for name in ("verdicts.jsonl", "sessions.jsonl"):
        lines = [sorted((tmp_path / run / name).read_bytes().splitlines()) for run in ("run", "again")]
        assert lines[0] == lines[1]
    assert (tmp_path / "run" / "files.jsonl").read_bytes() == (tmp_path / "again" / "files.jsonl").read_bytes()
    again = _classify(folder, tmp_path / "run", count(), stop_at=0)
    assert replace(again, new=None) == replace(result, new=None)


def test_what_is_new_is_counted_by_session(folder: Path, tmp_path: Path) -> None:
    assert _classify(folder, tmp_path / "first").new is None
    new = _classify(folder, tmp_path / "run").new
    assert new is not None
    assert set(new.items) == {"tuesday-4", "tuesday-5", "wednesday-0", "monday-1~2"}
    wrong = {one.item for one in _classify(folder, tmp_path / "first").findings if one.item in new.items}
    assert (new.sessions, new.wrong) == (4, len(wrong))
    atif_lines(folder / "monday.jsonl", ["monday-0"], steps=4)
    changed = _classify(folder, tmp_path / "run").new
    assert changed is not None
    assert changed.items == ["monday-0"]
    unchanged = _classify(folder, tmp_path / "run").new
    assert unchanged is not None
    assert (unchanged.sessions, unchanged.wrong, unchanged.items) == (0, 0, [])


@pytest.mark.parametrize(
    ("renamed", "written", "read"),
    [({"monday": "old"}, (), 0), ({"monday": "tuesday", "tuesday": "old"}, (), 0), ({"monday": "old"}, ("monday",), 1)],
)
def test_a_file_with_another_name_keeps_its_sessions_unread(tmp_path, renamed, written, read) -> None:
    folder, calls = tmp_path / "sessions", count()
    folder.mkdir()
    for name in ("monday", "tuesday"):
        atif_lines(folder / f"{name}.jsonl", [f"{name}-1", "both"])
    _classify(folder, tmp_path / "run")
    before = _sessions(tmp_path / "run")
    for name in reversed(renamed):
        (folder / f"{name}.jsonl").rename(folder / f"{renamed[name]}.jsonl")
    for name in written:
        atif_lines(folder / f"{name}.jsonl", ["fresh"])
    _classify(folder, tmp_path / "run", calls)
    now = {item: f"{renamed.get(Path(file).stem, Path(file).stem)}.jsonl" for item, file in before.items()}
    assert _sessions(tmp_path / "run") == now | dict.fromkeys(["fresh"] * len(written), "monday.jsonl")
    assert next(calls) == read


def test_a_session_of_a_grown_log_keeps_the_id_that_another_one_made_it_take(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("a", "b"):
        atif_lines(folder / f"{name}.jsonl", ["same"])
    _classify(folder, tmp_path / "run")
    for grown in ("a", "b"):
        atif_lines(folder / f"{grown}.jsonl", ["same", grown])
        _classify(folder, tmp_path / "run")
        sessions = _sessions(tmp_path / "run")
        assert (sessions["same"], sessions["same~2"]) == ("a.jsonl", "b.jsonl")


def test_changed_instructions_read_everything_again_and_other_questions_are_refused(folder, tmp_path, capsys) -> None:
    def classify(text: str, categories: Sequence[str] = CATEGORIES) -> int:
        calls = count()
        rules = InstructionSources((ProjectInstructions("CLAUDE.md", text),), find=False)
        plan = ClassifyPlan(categories, partial(_counted, calls, -1), rules=rules, spread=Spread(1))
        classified_findings([folder], plan, tmp_path / "ruled")
        return next(calls)

    assert [classify(text) for text in ("No loops.", "No loops.", "No edits.")] == [12, 0, 12]
    assert "was made by other rules (CLAUDE.md): all is read again" in capsys.readouterr().err
    with pytest.raises(UsageError, match="holds another run: categories were first, second and are now first"):
        classify("No edits.", CATEGORIES[:1])


def test_while_one_command_makes_the_new_run_another_is_refused(folder: Path, tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from misstep_harness.journal.run_folder import locked\n"
        "stream = locked(Path('run/progress.jsonl')); print('locked', flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, text=True, **pipes) as other:  # type: ignore[call-overload]
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(UsageError, match="another process is writing to"):
            _classify(folder, tmp_path / "run")
        other.communicate("\n", timeout=60)
    assert _classify(folder, tmp_path / "run").n == 12


@pytest.mark.parametrize("stop_at", [0, 5])
def test_stopped_while_the_new_run_is_made_the_same_command_goes_on(folder: Path, tmp_path: Path, stop_at: int) -> None:
    undisturbed = Path(shutil.copytree(tmp_path / "run", tmp_path / "undisturbed"))
    before = _classify(folder, undisturbed)
    with pytest.raises(KeyboardInterrupt):
        _classify(folder, tmp_path / "run", count(), stop_at)
    assert "gone-3" in _sessions(tmp_path / "run"), "the run that stands is whole until the new one is"
    assert replace(_classify(folder, tmp_path / "run"), new=before.new) == before
    for name in ("verdicts.jsonl", "sessions.jsonl", "files.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (undisturbed / name).read_bytes()
    assert not list((tmp_path / "run").glob(".*"))


def test_killed_while_the_whole_is_moved_into_place_the_next_command_moves_the_rest(folder, tmp_path, monkeypatch):
    def half(out: Path) -> None:
        file = next((out / verdict_cache.WHOLE).iterdir(), None) if (out / verdict_cache.WHOLE).is_dir() else None
        if file is not None:
            file.replace(out / file.name)

    with monkeypatch.context() as patched:
        patched.setattr(verdict_cache, "complete", half)
        result = _classify(folder, tmp_path / "run")
    assert (tmp_path / "run" / verdict_cache.WHOLE).is_dir()
    again = _classify(folder, tmp_path / "run", count(), stop_at=0)
    assert replace(again, new=None) == replace(result, new=None)
    assert len(_sessions(tmp_path / "run")) == 12


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

"""A classification gives the same bytes whatever cuts it: processes, interruptions, kills."""

import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from misstep.classify.findings import classified_findings
from misstep_analysis.sessions.findings import Findings, as_json
from misstep_harness.errors import InputError, UnknownFormat
from misstep_harness.journal.records import read_manifest, read_verdicts
from misstep_harness.journal.run_folder import PROGRESS
from misstep_harness.runs.classify import ClassifyAs, ClassifyPlan
from misstep_harness.runs.spread import Spread
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict
from tests.misstep.made_up import CATEGORIES, LONG, atif_lines, by_id
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
SAME_BYTES = ("verdicts.jsonl", "scores.json", "report.html")


def nothing_found(trajectory: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    """No misbehaviour in any session."""
    return [Verdict(trajectory.id, category, "no") for category in categories]


def _classify(path: Path, out: Path | None = None, workers: int = 1, classify: ClassifyAs = by_id) -> Findings:
    return classified_findings([path], ClassifyPlan(CATEGORIES, classify, ["made up"], spread=Spread(workers)), out)


def _bytes(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in SAME_BYTES}


@pytest.fixture(scope="module")
def undisturbed(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of `inputs` that nothing has disturbed."""
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    _classify(inputs, run)
    return run


def test_all_is_counted_once_and_what_is_no_trajectory_is_named(inputs: Path, undisturbed: Path) -> None:
    result = msgspec.json.decode((undisturbed / "scores.json").read_bytes(), type=Findings)
    assert (result.n, result.renamed) == (551, 2)
    assert [(one.file, one.line) for one in result.unreadable] == [(str(inputs / "b.jsonl"), 251)]
    assert [one.file for one in result.skipped] == [str(inputs / "notes.txt")]
    verdicts = list(read_verdicts(undisturbed))
    assert len({(verdict.item, verdict.judge) for verdict in verdicts}) == len(verdicts) == 551 * len(CATEGORIES)
    for name, one in result.categories.items():
        of_category = [verdict.label for verdict in verdicts if verdict.judge == name]
        assert one.count == of_category.count("yes")
        assert one.abstained == of_category.count(None)
        assert one.checked == 551 - one.abstained
        assert one.share == one.count / one.checked


def test_two_processes_write_the_bytes_that_one_writes(inputs: Path, undisturbed: Path, tmp_path: Path) -> None:
    _classify(inputs, tmp_path / "run", workers=2)
    assert _bytes(tmp_path / "run") == _bytes(undisturbed)


def _stop_after(calls: "count[int]", limit: int, trajectory: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    if next(calls) == limit:
        raise KeyboardInterrupt
    return by_id(trajectory, categories)


@pytest.mark.parametrize(("workers", "batches"), [(1, 1), (2, 2), (1, 3)])
def test_killed_at_any_moment_and_started_again_it_writes_the_same_bytes(
    inputs: Path, undisturbed: Path, tmp_path: Path, workers: int, batches: int
) -> None:
    script = (
        "from pathlib import Path\n"
        "from misstep_harness.runs.classify import ClassifyPlan\n"
        "from misstep_harness.runs.spread import Spread\n"
        "from misstep.classify.findings import classified_findings\n"
        "from tests.misstep.made_up import CATEGORIES, slowly\n"
        f"plan = ClassifyPlan(CATEGORIES, slowly, ['made up'], spread=Spread({workers}))\n"
        f"classified_findings([Path({str(inputs)!r})], plan, Path('run'))\n"
    )
    path = {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, env=os.environ | path)
    journal = tmp_path / "run" / PROGRESS
    wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= batches, process)
    process.kill()
    process.wait(30)
    manifest = read_manifest(tmp_path / "run")
    assert not manifest.finished, "it was finished before it could be killed"
    _classify(inputs, tmp_path / "run")
    assert _bytes(tmp_path / "run") == _bytes(undisturbed)


def test_a_finished_run_gives_its_findings_without_classifying(inputs: Path, undisturbed: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(undisturbed, tmp_path / "run"))
    calls = count()
    again = classified_findings(
        [inputs], ClassifyPlan(CATEGORIES, partial(_stop_after, calls, 0), spread=Spread(1)), run
    )
    assert next(calls) == 0
    assert as_json(replace(again, new=None)) == (undisturbed / "scores.json").read_bytes()


def test_a_run_in_the_folder_that_it_reads_does_not_read_itself(tmp_path: Path) -> None:
    atif_lines(tmp_path / "runs.jsonl", "abc")
    first = _classify(tmp_path, tmp_path / "run")
    assert (first.n, first.skipped) == (3, [])
    assert replace(_classify(tmp_path, tmp_path / "run"), new=None) == first


def test_scores_that_are_gone_from_a_finished_run_are_made_again(tmp_path: Path) -> None:
    file, scores = atif_lines(tmp_path / "runs.jsonl", "abc"), tmp_path / "run" / "scores.json"
    _classify(file, tmp_path / "run")
    before = scores.read_bytes()
    scores.unlink()
    _classify(file, tmp_path / "run")
    assert scores.read_bytes() == before


def test_nothing_to_classify_is_an_error_and_not_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no trajectory in it"):
        _classify(tmp_path / "empty")
    (tmp_path / "notes.txt").write_text("Mend the fence.\n")
    with pytest.raises(InputError, match="only 1 file of no known format"):
        _classify(tmp_path)
    with pytest.raises(UnknownFormat):
        _classify(tmp_path / "notes.txt", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def _peak(folder: Path, number: int, classify: ClassifyAs) -> int:
    """The most memory that so many trajectories of 30 kB take."""
    file = atif_lines(folder / f"{number}.jsonl", map(str, range(number)), text=LONG[:10_000])
    tracemalloc.start()
    try:
        _classify(file, folder / f"run-{number}", classify=classify)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_number_of_trajectories(tmp_path: Path) -> None:
    _peak(tmp_path, 200, nothing_found)  # what is imported and cached once
    assert _peak(tmp_path, 2000, nothing_found) < 1.3 * _peak(tmp_path, 500, nothing_found)

"""A recording of judges of triage: what figures need and no more, and the same figures from it."""

from pathlib import Path

import pytest

from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.reproduction.triage_recording import (
    About,
    command_lines,
    compacted,
    open_recording,
    record_triage,
    recordings,
)
from misstep_analysis.triage.comparison import compared
from misstep_analysis.triage.judged import judged_cases
from misstep_harness.errors import UsageError
from misstep_harness.triage.records import read_triage_verdicts
from tests.misstep.made_up_runs import GOLD, triage_benchmark, triage_run

ABOUT = About(10, 0, "scoring", command_lines(10, 0, "scoring"))
ANSWERS = ["task", *GOLD[1:], *GOLD]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    cases = triage_benchmark(tmp_path / "cases")
    run = triage_run(tmp_path / "runs" / "a", cases, ANSWERS)
    record_triage(cases, [run], tmp_path / "recordings" / "scoring", ABOUT)
    return tmp_path


def test_the_figures_of_a_recording_are_those_of_the_run(recorded: Path) -> None:
    (folder,) = recordings(recorded / "recordings")
    from_recording = compared(open_recording(folder), resamples=200)
    from_run = compared(judged_cases({"triage@made-up": open_run(recorded / "runs" / "a")}), resamples=200)
    ours, theirs = (result.runs["triage@made-up"] for result in (from_recording, from_run))
    assert ours.scores.cohen_kappa == theirs.scores.cohen_kappa
    assert ours.scores.confusion == theirs.scores.confusion
    assert ours.direction == theirs.direction
    assert from_recording.cases.source == "generated, seed 0, n 10, scoring families"


def test_evidence_is_cut_to_a_line_and_names_no_place_of_this_machine(recorded: Path) -> None:
    verdict = next(iter(read_triage_verdicts(recorded / "runs" / "a")))
    long = "x" * 500 + "\n" + str(recorded / "runs" / "a")
    kept = compacted(type(verdict)("c", "j", "task", rationale=long, evidence=(*verdict.evidence,) * 4))
    assert len(kept.evidence) == 3
    assert len(kept.rationale) < 250
    assert str(recorded) not in kept.rationale


def test_a_folder_with_a_recording_is_not_written_over(recorded: Path) -> None:
    with pytest.raises(UsageError, match="is not empty"):
        record_triage(recorded / "cases", [], recorded / "recordings" / "scoring", ABOUT)

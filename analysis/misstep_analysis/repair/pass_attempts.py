"""Runs of repairs as repeated attempts, for pass@k."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from misstep_analysis.passing.attempts import PassAttempts, SystemAttempts, TaskCounts, Unanswered
from misstep_analysis.repair.attempts import RepairArm, by_case, counted, ended_as
from misstep_analysis.repair.recorded_runs import RepairRun, arms_of, warn_of
from misstep_analysis.tables.wording import counted_text
from misstep_harness.repair.records import FLAKY, NOT_AFFIRMED, RepairAttempt


def attempts_of_runs(runs: Sequence[RepairRun]) -> Iterator[PassAttempts]:
    """Return the attempts of each run of repairs."""
    remarks = [sentence.removesuffix(".") for sentence in warn_of(runs)] if runs else []
    for run, arm in zip(runs, arms_of(runs), strict=True):
        yield PassAttempts((_attempts_of_arm(arm, run.folder),), (*remarks, *_not_held(arm)))


def _not_held(arm: RepairArm) -> list[str]:
    ends = {"not affirmed": NOT_AFFIRMED, "with a flaky oracle": FLAKY}
    counts = {words: len(by_case(ended_as(end, arm.attempts))) for words, end in ends.items()}
    return [
        f"{arm.name}: {counted_text(count, 'case')} {words}, which counts nowhere"
        for words, count in counts.items()
        if count
    ]


def _attempts_of_arm(arm: RepairArm, folder: Path) -> SystemAttempts:
    """Return an arm's attempts; one that broke before its patch was scored has no outcome."""
    tasks: dict[str, TaskCounts] = {}
    unanswered = []
    for attempt in counted(arm.attempts):
        tasks[attempt.case] = tasks.get(attempt.case, TaskCounts()) + _counts_of(attempt)
        if attempt.solved is None:
            where = f"{folder.name}, attempt {attempt.sample}"
            unanswered.append(Unanswered(arm.name, attempt.case, where, "missing", attempt.error))
    return SystemAttempts(arm.name, tasks, tuple(unanswered), arm.evidence)


def _counts_of(attempt: RepairAttempt) -> TaskCounts:
    if attempt.solved is None:
        return TaskCounts(unanswered=1)
    return TaskCounts(passed=int(attempt.solved), failed=int(not attempt.solved))

"""Repeated attempts from wherever they are: users' files, and runs of `misstep repair run`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from misstep_analysis.labels.rows import STANDARD_INPUT, shown
from misstep_analysis.passing.attempts import (
    PassAttempts,
    SystemAttempts,
    TaskCounts,
    Unanswered,
    read_attempts,
    together,
)
from misstep_analysis.repair.attempts import RepairArm, by_case, counted, ended_as
from misstep_analysis.repair.recorded_runs import RepairRun, arms_of, open_repair_runs, warn_of
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import UsageError
from misstep_harness.repair.records import FLAKY, NOT_AFFIRMED, RepairAttempt


def open_attempts(paths: Sequence[Path], threshold: float | None = None) -> PassAttempts:
    """Return the attempts in files and in runs of repairs; those of one system in several files are put together."""
    resolved = [path.resolve() for path in paths]
    twice = next((path for path in resolved if resolved.count(path) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice.name} is named twice", "Name each file and each run once.")
    folders = [path for path in paths if path.is_dir()]
    files = [path for path in paths if not path.is_dir()]
    parts = [read_attempts(file, name, threshold) for file, name in zip(files, _names(files), strict=True)]
    return together([*parts, *attempts_of_runs(open_repair_runs(folders))])


def described(paths: Sequence[Path]) -> list[str]:
    """Return the files read, as the foot of a page names them."""
    return [f"{path.resolve().name if path != STANDARD_INPUT else shown(path)}: attempts" for path in paths]


def _names(files: Sequence[Path]) -> list[str]:
    stems = ["standard input" if file == STANDARD_INPUT else file.name.split(".")[0] or file.name for file in files]
    return stems if len(set(stems)) == len(stems) else [shown(file) for file in files]


def attempts_of_runs(runs: Sequence[RepairRun]) -> Iterator[PassAttempts]:
    """Return the attempts of each run of repairs."""
    remarks = [sentence.removesuffix(".") for sentence in warn_of(runs)] if runs else []
    for run, arm in zip(runs, arms_of(runs), strict=True):
        yield PassAttempts((_system(arm, run.folder),), (*remarks, *_not_held(arm)))


def _not_held(arm: RepairArm) -> list[str]:
    ends = {"not affirmed": NOT_AFFIRMED, "with a flaky oracle": FLAKY}
    counts = {words: len(by_case(ended_as(end, arm.attempts))) for words, end in ends.items()}
    return [
        f"{arm.name}: {counted_text(count, 'case')} {words}, which counts nowhere"
        for words, count in counts.items()
        if count
    ]


def _system(arm: RepairArm, folder: Path) -> SystemAttempts:
    """Return an arm's attempts; one that broke before its patch was scored has no outcome."""
    tasks: dict[str, TaskCounts] = {}
    unanswered = []
    for attempt in counted(arm.attempts):
        tasks[attempt.case] = tasks.get(attempt.case, TaskCounts()) + _one(attempt)
        if attempt.solved is None:
            where = f"{folder.name}, attempt {attempt.sample}"
            unanswered.append(Unanswered(arm.name, attempt.case, where, "missing", attempt.error))
    return SystemAttempts(arm.name, tasks, tuple(unanswered), arm.evidence)


def _one(attempt: RepairAttempt) -> TaskCounts:
    if attempt.solved is None:
        return TaskCounts(unanswered=1)
    return TaskCounts(passed=int(attempt.solved), failed=int(not attempt.solved))

"""What the classifiers find in files and folders: as a stream, or for a run that keeps it."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from misstep_harness.journal.classified import (
    BatchEntry,
    Judged,
    LabelledSession,
    Show,
    Summary,
    VerdictMerger,
    judge,
    summarise,
)
from misstep_harness.progress import Progress
from misstep_harness.runs.inputs import (
    EVER,
    Batch,
    Changed,
    batches,
    check_named,
    describe,
    files_changed,
    found_files,
    no_trajectory,
    placed_in,
    total_bytes,
)
from misstep_harness.runs.spread import BY_SIZE, Spread, in_order
from misstep_harness.runs.standing_rules import FIND_RULES, RulesAsked
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

ClassifyAs = Callable[[Trajectory, Sequence[str]], list[Verdict]]
"""A trajectory and the categories to look for → one verdict a category, in their order."""


class ClassifyPlan(Struct, frozen=True):
    """What is looked for, and in which files.

    - `arguments`: The command line, for the manifest.
    - `spread`: Where it is done.
    """

    categories: Sequence[str]
    classify: ClassifyAs
    arguments: Sequence[str] = ()
    changed: Changed = EVER
    rules: RulesAsked = FIND_RULES
    spread: Spread = BY_SIZE


def classify_stream(paths: Sequence[Path], plan: ClassifyPlan) -> Summary:
    """Classify all trajectories of the files and folders `paths`, of which no record is kept."""
    check_named(paths)
    files = partial(files_changed, changed=plan.changed)
    spread = plan.spread.for_bytes(total_bytes(files(found_files(paths))))
    work = partial(judge_batch, categories=tuple(plan.categories), classify=plan.classify, keep_lines=False)
    merger = VerdictMerger()
    costly: list[LabelledSession] = []

    def entries() -> Iterator[BatchEntry]:
        with Progress("sessions") as progress:
            for judged in in_order(work, batches(files(found_files(paths))), spread, describe):
                progress.advance(len(judged.items))
                named, entry = merger.add(judged)
                costly.extend(session for _, session in named.costly)
                yield entry

    summary = structs.replace(summarise(entries()), costly=costly)
    expect_some(summary, paths, plan.changed)
    return summary


def judge_batch(
    batch: Batch,
    categories: tuple[str, ...],
    classify: ClassifyAs,
    *,
    keep_lines: bool,
    show: Show | None = None,
) -> Judged:
    """Classify one batch; for a run with the lines of its records."""
    return judge(placed_in(batch), lambda one: classify(one, categories), keep_lines=keep_lines, show=show)


def expect_some(summary: Summary, paths: Sequence[Path | str], changed: Changed) -> None:
    """Raise `NoTrajectory` if there was nothing to read."""
    if summary.empty:
        raise no_trajectory(paths, len(summary.skipped), changed)

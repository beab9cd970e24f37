"""Files and folders to what the classifiers find in them: as a stream, in several processes, into a run folder."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from misstep_harness.journal.classified import (
    BatchEntry,
    Judged,
    LabelledSession,
    PlacedVerdict,
    Show,
    Summary,
    VerdictMerger,
    judge,
    summarise,
)
from misstep_harness.journal.records import SESSIONS, Manifest, items_in, new_manifest
from misstep_harness.journal.run_folder import RecordsBeside, RunInProgress
from misstep_harness.progress import Progress
from misstep_harness.readers import FoundFile
from misstep_harness.runs.file_batches import (
    Batch,
    batches,
    check_named,
    describe,
    files_changed,
    found_files,
    placed_in,
    total_bytes,
)
from misstep_harness.runs.inputs import EVER, Changed, no_trajectory
from misstep_harness.runs.project_instructions import FIND_RULES, InstructionSources
from misstep_harness.runs.rule_sources import source_digests
from misstep_harness.runs.spread import BY_SIZE, Spread, in_order
from misstep_harness.runs.verdict_cache import NOTHING, Conclude, Run, run_of_files
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

ClassifyAs = Callable[[Trajectory, Sequence[str]], list[Verdict]]
"""A trajectory and the categories to look for → one verdict a category, in their order."""

JudgeBatch = Callable[[Batch], Judged]


class ClassifyPlan(Struct, frozen=True):
    """What is looked for, and in which files.

    - `arguments`: The command line, for the manifest.
    - `spread`: Where it is done.
    """

    categories: Sequence[str]
    classify: ClassifyAs
    arguments: Sequence[str] = ()
    changed: Changed = EVER
    rules: InstructionSources = FIND_RULES
    spread: Spread = BY_SIZE

    def manifest(self) -> Manifest:
        """Return the manifest of a new run, before the files are looked at; it starts now."""
        settings = {"categories": list(self.categories), **self.rules.settings()}
        manifest = new_manifest("classify", settings, NOTHING, self.arguments)
        return structs.replace(manifest, sources=source_digests(tuple(self.categories)) | self.rules.digests())

    def judge(self, *, keep_lines: bool, show: Show | None = None) -> JudgeBatch:
        """Return what judges a batch; it can be pickled if `classify` and `show` are functions of modules."""
        return partial(_judge_batch, plan=self, keep_lines=keep_lines, show=show)


def classify_paths(
    paths: Sequence[Path],
    plan: ClassifyPlan,
    out: Path | None = None,
    *,
    conclude: Conclude = lambda _summary, _folder: {},
    show: Show | None = None,
) -> Summary | None:
    """Classify all trajectories of the files and folders `paths`; `None` if `out` is a finished run of them.

    Of a finished run only new and changed files are read, or all if the rules changed.
    """
    check_named(paths)
    judge_batch, changed = plan.judge(keep_lines=out is not None, show=show), plan.changed
    if out is not None:
        changed_files = list(files_changed(found_files(paths, left_out=out), changed))

        def classify_into(run: Run, read: Sequence[FoundFile], copied: int) -> None:
            todo = islice(batches(read), len(run.entries) - copied, None)
            add_judged(run, judged_batches(judge_batch, todo, plan.spread.for_bytes(total_bytes(read))))

        ending = partial(concluded, paths=paths, conclude=conclude, changed=changed)
        return run_of_files(out, plan.manifest(), changed_files, classify_into, ending)
    files = partial(files_changed, changed=changed)
    spread = plan.spread.for_bytes(total_bytes(files(found_files(paths))))
    merger = VerdictMerger()
    judged = judged_batches(judge_batch, batches(files(found_files(paths))), spread)
    costly: list[LabelledSession] = []

    def entries() -> Iterator[BatchEntry]:
        for named, entry in map(merger.add, judged):
            costly.extend(session for _, session in named.costly)
            yield entry

    summary = structs.replace(summarise(entries()), costly=costly)
    _expect_some(summary, paths, changed)
    return summary


def add_judged(
    run: RunInProgress[Any, BatchEntry],
    judged: Iterable[Judged],
    record: type[Struct] = PlacedVerdict,
) -> None:
    """Add batches to a run, after those that it has; each trajectory gets an id of its own."""
    merger = VerdictMerger(items_in(run.folder / run.records.file), record)
    length = run.entries[-1].sessions_length if run.entries else 0
    with RecordsBeside(run.folder / SESSIONS, length) as sessions:
        for one in judged:
            named, entry = merger.add(one)
            sessions.append(named.sessions)
            run.append_lines(named.lines, structs.replace(entry, sessions_length=sessions.length))


def concluded(
    summary: Summary, folder: Path, paths: Sequence[Path | str], conclude: Conclude, changed: Changed = EVER
) -> Mapping[str, bytes]:
    """Return the files of a finished run beside its records; raises `NoTrajectory` if there was nothing to read."""
    _expect_some(summary, paths, changed)
    return conclude(summary, folder)


def judged_batches(judge_batch: JudgeBatch, todo: Iterable[Batch], spread: Spread) -> Iterator[Judged]:
    """Return the result of each batch, in order, with a line that moves meanwhile."""
    with Progress("sessions") as progress:
        for judged in in_order(judge_batch, todo, spread, describe):
            progress.advance(len(judged.items))
            yield judged


def _judge_batch(batch: Batch, *, plan: ClassifyPlan, keep_lines: bool, show: Show | None) -> Judged:
    categories = tuple(plan.categories)
    return judge(placed_in(batch), lambda one: plan.classify(one, categories), keep_lines=keep_lines, show=show)


def _expect_some(summary: Summary, paths: Sequence[Path | str], changed: Changed) -> None:
    if summary.empty:
        raise no_trajectory(paths, len(summary.skipped), changed)

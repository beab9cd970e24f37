"""Files and folders to what the classifiers find in them: as a stream, in several processes, into a run folder."""

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

from harness.errors import InputError
from harness.journal.classified import Entry, Judged, Summary, VerdictMerger, judge, summarise
from harness.journal.inputs import inputs_of_files
from harness.journal.records import SCHEMA, VERDICT_RECORDS, VERDICTS, Manifest, judged_items, replace_file
from harness.journal.run_folder import RunInProgress
from harness.journal.workers import available, in_order
from harness.progress import Progress
from harness.runs.file_batches import Batch, batches, check_named, describe, found_files, placed_in, total_bytes
from harness.trajectory import Trajectory
from harness.verdict import Verdict
from harness.version import __version__

ClassifyAs = Callable[[Trajectory, Sequence[str]], list[Verdict]]
"""A trajectory and the categories to look for → one verdict a category, in their order."""

Conclude = Callable[[Summary], Mapping[str, bytes]]
"""What was found → the files that a finished run has of it, by name."""

ONE_WORKER_BYTES = 64 << 20
"""Inputs up to this size are read by one process: several would take longer to start than they save."""

MOST_WORKERS = 4
"""How many processes there are unless more are asked for."""


def classify_paths(
    paths: Sequence[Path],
    categories: Sequence[str],
    classify: ClassifyAs,
    *,
    out: Path | None = None,
    workers: int | None = None,
    arguments: Sequence[str] = (),
    conclude: Conclude | None = None,
) -> Summary | None:
    """What is found in all trajectories of the files and folders `paths`; `None` where `out` is a finished run of them.

    Parameters
    ----------
    paths
        Files and folders of any known format.
    categories
        What to look for.
    classify
        Gives the verdicts; a function of a module, so that other processes find it.
    out
        A run folder: verdicts are written to it as they come. A run of the same inputs and categories that stands
        there is gone on with.
    workers
        How many processes; `None` decides by the size of the inputs.
    arguments
        Those of the command line.
    conclude
        Gives the files that the finished run has beside its verdicts.

    Raises
    ------
    UnknownFormat
        A named file is of no known format.
    UsageError
        `out` holds another run.
    InputError
        A path does not exist, or there is no trajectory in any.
    MisstepError
        A worker process died.
    """
    check_named(paths)
    judge_batch = partial(_judge_batch, classify=classify, categories=tuple(categories), keep_lines=out is not None)
    if out is not None:
        return _into_run(paths, tuple(categories), judge_batch, out, workers, arguments, conclude)
    if workers is None:
        workers = _enough_workers(total_bytes(found_files(paths)))
    merger = VerdictMerger()
    judged = _judged(judge_batch, batches(found_files(paths)), workers)
    found = summarise(merger.add(one)[1] for one in judged)
    _expect_some(found, paths)
    return found


def _into_run(
    paths: Sequence[Path],
    categories: tuple[str, ...],
    judge_batch: Callable[[Batch], Judged],
    out: Path,
    workers: int | None,
    arguments: Sequence[str],
    conclude: Conclude | None,
) -> Summary | None:
    manifest = Manifest(
        schema=SCHEMA,
        command="classify",
        arguments=list(arguments),
        misstep=__version__,
        python=platform.python_version(),
        started=_now(),
        settings={"categories": list(categories)},
        inputs=inputs_of_files(found.path for found in found_files(paths, left_out=out)),
    )
    with RunInProgress(out, manifest, VERDICT_RECORDS, Entry) as run:
        if run.finished:
            return None
        merger = VerdictMerger(run.entries, judged_items(out / VERDICTS))
        todo = islice(batches(found_files(paths, left_out=out)), len(run.entries), None)
        for judged in _judged(judge_batch, todo, workers or _enough_workers(manifest.inputs.bytes)):
            run.append_lines(*merger.add(judged))
        found = summarise(run.entries)
        _expect_some(found, paths)
        for name, content in (conclude(found) if conclude else {}).items():
            replace_file(out / name, content)
        run.finish(_now())
    return found


def _judged(judge_batch: Callable[[Batch], Judged], todo: Iterable[Batch], workers: int) -> Iterator[Judged]:
    with Progress("trajectories") as progress:
        for judged in in_order(judge_batch, todo, workers, describe):
            progress.advance(len(judged.items))
            yield judged


def _judge_batch(batch: Batch, classify: ClassifyAs, categories: tuple[str, ...], keep_lines: bool) -> Judged:
    return judge(placed_in(batch), lambda trajectory: classify(trajectory, categories), keep_lines=keep_lines)


def _enough_workers(size: int) -> int:
    return 1 if size <= ONE_WORKER_BYTES else min(available(), MOST_WORKERS)


def _expect_some(found: Summary, paths: Sequence[Path]) -> None:
    if found.n or found.unreadable:
        return
    skipped = len(found.skipped)
    held = f"only {skipped:,} file{'s' if skipped > 1 else ''} of no known format" if skipped else "nothing"
    raise InputError(
        f"there is no trajectory, {held}",
        "See `misstep convert --help` for the formats.",
        file=", ".join(map(str, paths)),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

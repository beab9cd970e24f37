"""Files and folders to what the classifiers find in them: as a stream, in several processes, into a run folder."""

import platform
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice, takewhile
from pathlib import Path

import msgspec

from analysis.pages.findings import Findings, findings, findings_page
from harness.errors import InputError, UsageError
from harness.journal.classified import Entry, Judged, Ledger, judge, summarise
from harness.journal.inputs import inputs_of_files
from harness.journal.records import REPORT, SCHEMA, SCORES, VERDICTS, Manifest, encode, read_items, replace_file
from harness.journal.run_folder import RunInProgress
from harness.journal.workers import available, in_order
from harness.progress import Progress
from harness.runs.file_batches import Batch, batches, check_named, describe, found_files, placed_in, total_bytes
from harness.trajectory import Trajectory
from harness.verdict import Verdict
from harness.version import __version__

ClassifyAs = Callable[[Trajectory, Sequence[str]], list[Verdict]]
"""A trajectory and the categories to look for → one verdict a category, in their order."""

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
) -> Findings:
    """What is found in all trajectories of the files and folders `paths`.

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
        there is gone on with, and one that is finished gives its findings at once.
    workers
        How many processes; `None` decides by the size of the inputs.
    arguments
        Those of the command line, for the foot of the run's page.

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
        return _into_run(paths, tuple(categories), judge_batch, out, workers, arguments)
    if workers is None:
        workers = _enough_workers(total_bytes(found_files(paths)))
    ledger = Ledger()
    judged = _judged(judge_batch, batches(found_files(paths)), workers)
    found = findings(categories, summarise(ledger.settle(one)[1] for one in judged))
    _expect_some(found, paths)
    return found


def _into_run(
    paths: Sequence[Path],
    categories: tuple[str, ...],
    judge_batch: Callable[[Batch], Judged],
    out: Path,
    workers: int | None,
    arguments: Sequence[str],
) -> Findings:
    manifest = Manifest(
        schema=SCHEMA,
        command="classify",
        arguments=list(arguments),
        misstep=__version__,
        python=platform.python_version(),
        started=_now(),
        asked={"categories": list(categories)},
        inputs=inputs_of_files(found.path for found in found_files(paths, left_out=out)),
    )
    with RunInProgress(out, manifest, Entry) as run:
        if run.finished:
            return _read_findings(out)
        ledger = Ledger(run.entries, read_items(out / VERDICTS))
        todo = islice(batches(found_files(paths, left_out=out)), len(run.entries), None)
        for judged in _judged(judge_batch, todo, workers or _enough_workers(manifest.inputs.bytes)):
            run.append(*ledger.settle(judged))
        found = findings(categories, summarise(run.entries))
        _expect_some(found, paths)
        replace_file(out / SCORES, as_json(found))
        replace_file(out / REPORT, findings_page(found, paths, arguments).encode())
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


def _expect_some(found: Findings, paths: Sequence[Path]) -> None:
    if found.n or found.unreadable:
        return
    skipped = len(found.skipped)
    held = f"only {skipped:,} file{'s' if skipped > 1 else ''} of no known format" if skipped else "nothing"
    raise InputError(
        f"no trajectories, {held}",
        "See `misstep convert --help` for the formats.",
        file=", ".join(map(str, paths)),
    )


def as_json(found: Findings) -> bytes:
    """The document as indented JSON, with a line end."""
    return msgspec.json.format(encode(found), indent=2) + b"\n"


def classified_page(run: Path, manifest: Manifest) -> str:
    """The page of a finished run, made again.

    Raises
    ------
    UsageError
        The run is not finished.
    InputError
        Its scores cannot be read.
    """
    if not manifest.finished:
        again = shlex.join(["misstep", "classify", *manifest.arguments])
        raise UsageError(f"the run {run} is not finished", f"Go on with it: {again}")
    paths = [Path(argument) for argument in takewhile(lambda one: not one.startswith("--"), manifest.arguments)]
    return findings_page(_read_findings(run), paths, manifest.arguments)


def _read_findings(run: Path) -> Findings:
    file = run / SCORES
    try:
        return msgspec.json.decode(file.read_bytes(), type=Findings)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"the scores of a finished run cannot be read: {error}", "Name another folder for the run.", file=file
        ) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

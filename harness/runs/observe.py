"""Files and folders to what an observer would have seen and said: as a stream, in several processes, into a run folder.

The folder has `observed.jsonl`, a line a trajectory, and `sessions.jsonl` beside it, with the steps of those in which
something was found. The same command continues a run that was killed, to the same bytes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from misstep.harness.journal.beginning import new_manifest, now
from misstep.harness.journal.beside import RecordsBeside
from misstep.harness.journal.classified import Names
from misstep.harness.journal.inputs import file_state, inputs_of_files
from misstep.harness.journal.records import (
    OBSERVED_RECORDS,
    SESSIONS,
    encode_lines,
    read_records,
    replace_file,
)
from misstep.harness.journal.run_folder import RunInProgress
from misstep.harness.journal.workers import enough_workers, in_order
from misstep.harness.places import path_text
from misstep.harness.progress import Progress
from misstep.harness.records.intervention import ObservedRun
from misstep.harness.records.session import Session, session_of
from misstep.harness.runs.file_batches import Batch, batches, check_named, describe, found_files, placed_in, total_bytes
from misstep.harness.runs.inputs import no_trajectory
from misstep.harness.trajectory import Placed, Skipped, Trajectory, Unreadable

COMMAND = "observe"

Observe = Callable[[Trajectory], ObservedRun]
"""A recorded run → what an observer of it would have seen and said."""

Show = Callable[[Trajectory, Collection[int]], str]
"""A trajectory and its evidence steps → what a page needs to show it."""


class LeftOut(Struct, frozen=True):
    """What a run read besides the trajectories that it observed, and how many of these had an id that was taken."""

    unreadable: list[Unreadable] = []
    skipped: list[Skipped] = []
    renamed: int = 0


class _Entry(Struct, frozen=True):
    """The journal's entry for one stretch of the inputs."""

    left_out: LeftOut
    sessions_length: int


class _Stretch(Struct, frozen=True):
    """What one worker made of one stretch of the inputs, before ids are made unique.

    `runs` has the id of each with the lines of its record and of its session: the same bytes, whichever process wrote
    them.
    """

    runs: list[tuple[str, bytes, bytes]]
    unreadable: list[Unreadable]
    skipped: list[Skipped]


Conclude = Callable[[LeftOut, Path], Mapping[str, bytes]]
"""What was left out, and the folder with its records → the files that a finished run has of it, by name."""


def observe_paths(
    paths: Sequence[Path],
    observe: Observe,
    settings: Mapping[str, Any],
    out: Path,
    *,
    conclude: Conclude,
    workers: int | None = None,
    arguments: Sequence[str] = (),
    show: Show | None = None,
) -> None:
    """Put every trajectory of the files and folders `paths` before an observer, into the run folder `out`.

    A run of the same files and settings that stands there is continued; a finished one is let be.
    """
    check_named(paths)
    files = list(found_files(paths, left_out=out))
    manifest = new_manifest(
        COMMAND, dict(settings), inputs_of_files(file_state(found.path) for found in files), arguments
    )
    enough = workers or enough_workers(total_bytes(files))
    with RunInProgress(out, manifest, OBSERVED_RECORDS, _Entry) as run:
        if run.finished:
            return
        _observe_into(run, batches(files), partial(_observe_batch, observe=observe, show=show), enough)
        left_out = _together(entry.left_out for entry in run.entries)
        _expect_some(run, left_out, paths)
        for name, content in conclude(left_out, out).items():
            replace_file(out / name, content)
        run.finish(now())


def _observe_into(
    run: RunInProgress[ObservedRun, _Entry],
    todo: Iterable[Batch],
    observe_batch: Callable[[Batch], _Stretch],
    workers: int,
) -> None:
    names = Names(one.item for one in read_records(run.folder, OBSERVED_RECORDS, unfinished=True))
    left = islice(todo, len(run.entries), None)
    length = run.entries[-1].sessions_length if run.entries else 0
    with RecordsBeside(run.folder / SESSIONS, length) as sessions, Progress("sessions") as progress:
        for stretch in in_order(observe_batch, left, workers, describe):
            named = [(item, names.give(item), record, session) for item, record, session in stretch.runs]
            renamed = sum(item != name for item, name, _, _ in named)
            sessions.append(b"".join(_called(one[3], one[1], Session) if one[0] != one[1] else one[3] for one in named))
            lines = b"".join(_called(one[2], one[1], ObservedRun) if one[0] != one[1] else one[2] for one in named)
            left_out = LeftOut(stretch.unreadable, stretch.skipped, renamed)
            run.append_lines(lines, _Entry(left_out, sessions.length))
            progress.advance(len(named))


def _observe_batch(batch: Batch, observe: Observe, show: Show | None) -> _Stretch:
    stretch = _Stretch([], [], [])
    for one in placed_in(batch):
        thing = one.found if isinstance(one, Placed) else one
        if isinstance(thing, Unreadable):
            stretch.unreadable.append(thing)
        elif isinstance(thing, Skipped):
            stretch.skipped.append(thing)
        elif isinstance(one, Placed):
            observed = structs.replace(observe(thing), file=one.file, line=one.line, evidence=thing.source.evidence)
            evidence = evidence_of(observed)
            shown = show(thing, evidence) if show and observed.interventions else ""
            session = session_of(thing, one.file, one.line, shown)
            stretch.runs.append((thing.id, encode_lines([observed]), encode_lines([session])))
    return stretch


def _called(line: bytes, name: str, kind: type[ObservedRun] | type[Session]) -> bytes:
    """Return a line of records with another id."""
    return encode_lines([structs.replace(msgspec.json.decode(line, type=kind), item=name)])


def evidence_of(observed: ObservedRun) -> set[int]:
    """Return the steps that the interventions of a run name."""
    return {step for one in observed.interventions for found in one.misbehaviours for step in found.steps}


def _together(parts: Iterable[LeftOut]) -> LeftOut:
    found = LeftOut([], [], 0)
    for one in parts:
        found = LeftOut(
            [*found.unreadable, *one.unreadable], [*found.skipped, *one.skipped], found.renamed + one.renamed
        )
    return found


def _expect_some(run: RunInProgress[ObservedRun, _Entry], left_out: LeftOut, paths: Sequence[Path]) -> None:
    if left_out.unreadable or any(True for _ in _records(run)):
        return
    raise no_trajectory(map(path_text, paths), len(left_out.skipped))


def _records(run: RunInProgress[ObservedRun, _Entry]) -> Iterator[ObservedRun]:
    return read_records(run.folder, OBSERVED_RECORDS)

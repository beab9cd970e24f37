"""Put the runs of files and folders before an observer: as a stream, in several processes, into a run folder."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import structs

from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.classified import BatchEntry, Judged, Show, summarise
from misstep_harness.journal.inputs import file_state, inputs_of_files
from misstep_harness.journal.records import OBSERVED_RECORDS, encode_lines, items_in, new_manifest, now, replace_file
from misstep_harness.journal.run_folder import RunInProgress
from misstep_harness.places import path_text
from misstep_harness.runs.classify import add_judged, judged_batches
from misstep_harness.runs.file_batches import Batch, batches, check_named, found_files, placed_in, total_bytes
from misstep_harness.runs.inputs import no_trajectory
from misstep_harness.runs.spread import BY_SIZE, Spread
from misstep_harness.runs.verdict_cache import Conclude
from misstep_harness.session import session_of
from misstep_harness.trajectory import Placed, Skipped, Trajectory, Unreadable

COMMAND = "observe"

Observe = Callable[[Trajectory], ObservedRun]


def observe_paths(
    paths: Sequence[Path],
    observe: Observe,
    settings: Mapping[str, Any],
    out: Path,
    *,
    conclude: Conclude,
    spread: Spread = BY_SIZE,
    arguments: Sequence[str] = (),
    show: Show | None = None,
) -> None:
    """Put every trajectory in `paths` before an observer, into the run folder `out`; the same command continues it."""
    check_named(paths)
    files = list(found_files(paths, left_out=out))
    inputs = inputs_of_files(file_state(summary.path) for summary in files)
    with RunInProgress(
        out, new_manifest(COMMAND, dict(settings), inputs, arguments), OBSERVED_RECORDS, BatchEntry
    ) as run:
        if run.finished:
            return
        todo = islice(batches(files), len(run.entries), None)
        judged = judged_batches(
            partial(_observe_batch, observe=observe, show=show), todo, spread.for_bytes(total_bytes(files))
        )
        add_judged(run, judged, record=ObservedRun)
        summary = summarise(run.entries)
        if not summary.unreadable and next(items_in(out / OBSERVED_RECORDS.file), None) is None:
            raise no_trajectory(map(path_text, paths), len(summary.skipped))
        for name, content in conclude(summary, out).items():
            replace_file(out / name, content)
        run.finish(now())


def _observe_batch(batch: Batch, observe: Observe, show: Show | None) -> Judged:
    records: list[bytes] = []
    sessions: list[bytes] = []
    judged = Judged(b"", b"", [], {}, {}, [], [], [])
    for one in placed_in(batch):
        thing = one.found if isinstance(one, Placed) else one
        if isinstance(thing, Unreadable):
            judged.unreadable.append(thing)
        elif isinstance(thing, Skipped):
            judged.skipped.append(thing)
        elif isinstance(one, Placed):
            observed = structs.replace(observe(thing), file=one.file, line=one.line, evidence=thing.source.evidence)
            shown = show(thing, evidence_of(observed)) if show and observed.interventions else ""
            records.append(encode_lines([observed]))
            sessions.append(encode_lines([session_of(thing, one.file, one.line, shown)]))
            judged.items.append((thing.id, len(records[-1]), len(sessions[-1])))
    return structs.replace(judged, lines=b"".join(records), sessions=b"".join(sessions))


def evidence_of(observed: ObservedRun) -> set[int]:
    """Return the steps that the interventions of a run name."""
    return {step for one in observed.interventions for misbehaviour in one.misbehaviours for step in misbehaviour.steps}

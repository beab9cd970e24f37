"""Put the runs of files and folders before an observer, into a run folder."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from misstep_harness.errors import MissingPrerequisite
from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.classified import Judged, Show, Summary
from misstep_harness.journal.inputs import file_state, inputs_of_files
from misstep_harness.journal.records import OBSERVED_RECORDS, encode_lines, items_in
from misstep_harness.places import path_text
from misstep_harness.runs.files_run import Conclude, FilesRun, carry_out_files
from misstep_harness.runs.inputs import Batch, check_named, found_files, no_trajectory, placed_in
from misstep_harness.runs.model_requests import ModelRequests
from misstep_harness.runs.run import NO_MODEL, Asking
from misstep_harness.runs.spread import BY_SIZE, Spread
from misstep_harness.session import session_of
from misstep_harness.trajectory import Placed, Skipped, Trajectory, Unreadable

COMMAND = "observe"

Observe = Callable[[Trajectory], ObservedRun]
"""An observer that asks no model."""

ObserveWithModel = Callable[[Trajectory, ModelRequests], Awaitable[tuple[ObservedRun, float | None] | None]]
"""An observer that asks a model: the record of a run and its cost; `None` if the requests ended before."""


class Observation(Struct, frozen=True):
    """How runs are observed, and where.

    - `asking`: The client of the model, if the observer asks one.
    - `show`: What makes the data of a run for the page.
    """

    observe: Observe | None = None
    with_model: ObserveWithModel | None = None
    settings: Mapping[str, Any] = {}
    asking: Asking = NO_MODEL
    spread: Spread = BY_SIZE
    arguments: Sequence[str] = ()
    show: Show | None = None


def observe_paths(paths: Sequence[Path], how: Observation, out: Path, conclude: Conclude) -> None:
    """Put every trajectory in `paths` before an observer, into the run folder `out`; the same command continues it."""
    check_named(paths)
    files = list(found_files(paths, left_out=out))
    inputs = inputs_of_files(file_state(file.path) for file in files)

    def concluded(summary: Summary, folder: Path) -> Mapping[str, bytes]:
        if not summary.unreadable and next(items_in(folder / OBSERVED_RECORDS.file), None) is None:
            raise no_trajectory(map(path_text, paths), len(summary.skipped))
        return conclude(summary, folder)

    judge = _ObserveBatch(how.observe, how.with_model, how.show)
    kind = FilesRun(COMMAND, OBSERVED_RECORDS, how.settings, files, inputs, judge, concluded)
    ended = carry_out_files(kind, out, files, how.spread, how.arguments, how.asking)
    if ended.stopped:
        raise MissingPrerequisite(ended.stopped, "Give a higher --max-cost.")


class _ObserveBatch(Struct, frozen=True):
    """Observes the runs of a batch in turn; workers get it pickled."""

    observe: Observe | None
    with_model: ObserveWithModel | None
    show: Show | None

    async def __call__(self, batch: Batch, requests: ModelRequests) -> tuple[Judged, float | None] | None:
        judged = Judged(b"", b"", [], {}, {}, [], [], [])
        records: list[bytes] = []
        sessions: list[bytes] = []
        spent: float | None = None
        for one in placed_in(batch):
            thing = one.found if isinstance(one, Placed) else one
            if isinstance(thing, Unreadable):
                judged.unreadable.append(thing)
            elif isinstance(thing, Skipped):
                judged.skipped.append(thing)
            elif isinstance(one, Placed):
                result = await self._observed(thing, requests)
                if result is None:
                    return None
                spent = spent if result[1] is None else (spent or 0.0) + result[1]
                observed = structs.replace(result[0], file=one.file, line=one.line, evidence=thing.source.evidence)
                shown = self.show(thing, evidence_of(observed)) if self.show and observed.interventions else ""
                records.append(encode_lines([observed]))
                sessions.append(encode_lines([session_of(thing, one.file, one.line, shown)]))
                judged.items.append((thing.id, len(records[-1]), len(sessions[-1])))
        return structs.replace(judged, lines=b"".join(records), sessions=b"".join(sessions)), spent

    async def _observed(self, run: Trajectory, requests: ModelRequests) -> tuple[ObservedRun, float | None] | None:
        if self.with_model is not None:
            return await self.with_model(run, requests)
        return None if self.observe is None else (self.observe(run), None)


def evidence_of(observed: ObservedRun) -> set[int]:
    """Return the steps that the interventions of a run name."""
    return {step for one in observed.interventions for misbehaviour in one.misbehaviours for step in misbehaviour.steps}

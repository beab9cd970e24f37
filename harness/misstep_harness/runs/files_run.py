"""A kind of run whose units are parts of files: each unit gives the records of several sessions.

The records of a batch and its sessions are written in the order of the files, so that the same files give the same
bytes however many processes read them.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.journal.classified import BatchEntry, Judged, Summary, VerdictMerger, summarise
from misstep_harness.journal.records import SESSIONS, Inputs, Records, items_in
from misstep_harness.journal.run_folder import RunInProgress
from misstep_harness.readers import FoundFile
from misstep_harness.runs.inputs import Batch, batches, describe, total_bytes
from misstep_harness.runs.kind import Entry, Lines, RunEnd, RunKind, Units
from misstep_harness.runs.model_requests import ModelRequests
from misstep_harness.runs.run import NO_MODEL, Asking, carry_out
from misstep_harness.runs.spread import Spread, workers_for

BatchesRun = RunInProgress[Any, Entry[BatchEntry]]

JudgeBatch = Callable[[Batch, ModelRequests], Awaitable[tuple[Judged, float | None] | None]]
"""What does a batch: its results and their cost; `None` if the run ended before. Workers get it pickled."""

Conclude = Callable[[Summary, Path], Mapping[str, bytes]]
"""The summary and the folder of a run → its files beside the records; raises `NoTrajectory` if nothing was read."""


class NumberedBatch(Struct, frozen=True):
    """A batch and its place among those of a run."""

    id: str
    batch: Batch


class JudgedBatch(Struct, frozen=True):
    """The results of a batch; `item` is its id."""

    item: str
    judged: Judged


class FilesRun(RunKind[NumberedBatch, JudgedBatch]):
    """A run over files; `copied` adds what is known of other files before any is read."""

    noun = "sessions"
    beside = SESSIONS
    detail = BatchEntry
    in_order = True
    made_again = True

    def __init__(
        self,
        command: str,
        records: Records[Any],
        settings: Mapping[str, Any],
        files: Sequence[FoundFile],
        inputs: Inputs,
        judge_batch: JudgeBatch,
        conclude: Conclude,
        copied: Callable[[BatchesRun], object] = lambda _run: None,
    ) -> None:
        self.command, self.records = command, records
        self._settings, self._files, self._inputs = settings, files, inputs
        self._judge_batch, self._conclude, self._copied = judge_batch, conclude, copied
        self.summary: Summary | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a worker needs: neither the files nor what becomes of the results."""
        return {"_judge_batch": self._judge_batch}

    def settings(self) -> dict[str, Any]:
        """Return the settings that can change a record."""
        return dict(self._settings)

    def inputs(self) -> Inputs:
        """Return the files and their digest."""
        return self._inputs

    def units(self) -> Units[NumberedBatch]:
        """Return the batches of the files; their number is not known before all are cut."""
        numbered = (NumberedBatch(str(number), batch) for number, batch in enumerate(batches(self._files)))
        return Units(None, numbered)

    def name_of(self, unit: NumberedBatch) -> str:
        """Return the first file of a batch, and the line where it starts."""
        return describe(unit.batch)

    def size_of(self, record: JudgedBatch) -> int:
        """Return the number of sessions in a batch."""
        return len(record.judged.items)

    async def do(self, unit: NumberedBatch, requests: ModelRequests) -> tuple[JudgedBatch, float | None] | None:
        """Do a batch."""
        result = await self._judge_batch(unit.batch, requests)
        return None if result is None else (JudgedBatch(unit.id, result[0]), result[1])

    def begin(self, run: RunInProgress[Any, Entry[Any]]) -> None:
        """Add the copied records."""
        self._copied(run)

    def writing(self, run: RunInProgress[Any, Entry[Any]]) -> Callable[[JudgedBatch], Lines]:
        """Return what gives each session an id of its own, and makes the lines of its batch."""
        merger = VerdictMerger(items_in(run.folder / self.records.file), self.records.type)

        def lines_of(record: JudgedBatch) -> Lines:
            named, entry = merger.add(record.judged)
            return Lines(named.lines, named.sessions, entry)

        return lines_of

    def conclude(self, run: RunInProgress[Any, Entry[Any]]) -> Mapping[str, bytes]:
        """Return the scores and the page."""
        self.summary = summarise(details_of(run))
        return self._conclude(self.summary, run.folder)

    def end_of(self, folder: Path) -> RunEnd:  # noqa: ARG002
        """Return that a finished run has nothing left to do."""
        return RunEnd(0, 0, 0, finished=True)


def details_of(run: BatchesRun) -> Iterator[BatchEntry]:
    """Return what the journal notes of each batch of a run."""
    return (entry.detail for entry in run.entries if entry.detail is not None)


def carry_out_files(
    kind: FilesRun,
    out: Path,
    files: Sequence[FoundFile],
    spread: Spread,
    arguments: Sequence[str] = (),
    asking: Asking = NO_MODEL,
) -> RunEnd:
    """Do what is left of a run over files, in as many processes as their bytes or the user ask for."""
    with workers_for(spread.for_bytes(total_bytes(files))) as workers:
        return carry_out(kind, out, asking, workers=workers, arguments=arguments)

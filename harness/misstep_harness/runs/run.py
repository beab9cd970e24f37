"""Carry out a run of any kind: every unit is done once, and what was recorded is never lost.

The same command goes on with a run that was stopped or that has failed units.
"""

import asyncio
import pickle
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Generic

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.clients import ClientSettings
from misstep_harness.clients.concurrency import run_concurrently
from misstep_harness.errors import MisstepError
from misstep_harness.escaping import plain
from misstep_harness.journal.inputs import changes
from misstep_harness.journal.records import Manifest, new_manifest, now, read_manifest, replace_file
from misstep_harness.journal.run_folder import RunInProgress, reopen_if_damaged, set_aside, standing
from misstep_harness.progress import Progress, say
from misstep_harness.runs.kind import Entry, Recorded, RunEnd, RunKind, Unit, Units, counted
from misstep_harness.runs.model_requests import BatchedRequests, ConcurrentRequests, ModelRequests

if TYPE_CHECKING:
    from misstep_harness.runs.spread import WorkerDied, Workers

_KINDS = 64
"""How many kinds a process keeps open: one for each of its threads."""


class _Done(Struct, frozen=True):
    """What a worker gives back: the record of a unit with its cost, what was spent, and what ended the unit early."""

    recorded: tuple[Any, float | None] | None
    spent_usd: float
    over_cost_limit: str
    broken: MisstepError | None


class UnitsElsewhere(ModelRequests, Generic[Unit, Recorded]):
    """Does units by workers. The cost limit is looked at before a unit is handed out, and bounds each unit alone."""

    def __init__(self, kind: RunKind[Unit, Recorded], workers: "Workers", client: ClientSettings) -> None:
        from misstep_harness.clients.cost_limit import SpendingLog

        self._kind, self._pickled, self._workers = kind, pickle.dumps(kind), workers
        self._limit = client.max_cost_usd
        self._client = replace(client, spent_usd=0.0, spending_log=None)
        self._log = SpendingLog(None if self._limit is None else client.spending_log)
        if self._log.total_usd < client.spent_usd:
            self._log.add(client.spent_usd - self._log.total_usd)
        self._died: WorkerDied | None = None
        self.at_once = workers.count if self._limit is not None else 2 * workers.count  # none waits for its next

    @property
    def _left_usd(self) -> float | None:
        return None if self._limit is None else max(0.0, self._limit - self._log.total_usd)

    def ended(self) -> bool:
        """Return whether no more units are handed out: the money is spent, or the server is gone."""
        if self._left_usd == 0.0:
            self.over_cost_limit = self.over_cost_limit or f"the ${self._limit:g} are spent"
        return super().ended() or (self._died is not None and self._kind.in_order and self._kind.made_again)

    async def do(self, unit: Unit) -> tuple[Recorded, float | None] | None:
        """Return the record of a unit and its cost; `None` if the run ended before, or each worker died at it."""
        from misstep_harness.runs.spread import WorkerDied

        client = replace(self._client, max_cost_usd=self._left_usd)
        name = self._kind.name_of(unit)
        try:
            done = await self._workers.one(name, _do_unit, self._pickled, unit, client)
        except WorkerDied as error:
            self._died = self._died or error
            return None
        self._log.add(done.spent_usd)
        self.over_cost_limit = self.over_cost_limit or done.over_cost_limit
        self._broken = self._broken or done.broken
        return done.recorded

    async def close(self) -> None:
        """Close the log of what was spent."""
        self._log.close()

    def check(self) -> None:
        """Raise what ended the run early, or the error of a unit at which workers died."""
        super().check()
        if self._died is not None:
            raise self._died


def _do_unit(pickled: bytes, unit: Any, client: ClientSettings) -> _Done:
    return asyncio.run(_do(_kind(pickled, threading.get_ident()), unit, client))


@lru_cache(_KINDS)
def _kind(pickled: bytes, thread: int) -> RunKind[Any, Any]:  # noqa: ARG001 -- what a kind keeps is of one event loop
    kind: RunKind[Any, Any] = pickle.loads(pickled)  # noqa: S301 -- of whoever handed out the unit
    return kind


async def _do(kind: RunKind[Any, Any], unit: Any, client: ClientSettings) -> _Done:
    from misstep_harness.clients.cost_limit import SpendingLog

    broken: MisstepError | None = None
    with TemporaryDirectory(prefix="misstep-") as folder:
        log = Path(folder) / "spent_usd.txt"
        requests = ConcurrentRequests(replace(client, spending_log=log), 1)
        try:
            recorded = await kind.do(unit, requests)
        finally:
            await requests.close()
        with closing(SpendingLog(log)) as spent:
            spent_usd = spent.total_usd
    try:
        requests.check()
    except MisstepError as error:
        broken = error
    return _Done(recorded, spent_usd, requests.over_cost_limit, broken)


BATCHES = "batches.json"
"""In the folder of an unfinished run: the state of its batches."""

SPENDING_LOG = "spent_usd.txt"
"""In the folder of an unfinished run with a cost limit: the amount spent."""

ANSWERS = "answers.sqlite"
"""In the folder of a run that keeps replies: the replies."""

_KEPT = (ANSWERS, f"{ANSWERS}-wal", f"{ANSWERS}-shm", "benchmark")
"""The files that stay in the folder if a run begins anew: the replies, and the sessions that it is about."""


class Asking(Struct, frozen=True):
    """How a run asks a model: the client, the requests in flight, and whether they go as one batch."""

    client: ClientSettings = ClientSettings()
    at_once: int = 16
    batch: bool = False


NO_MODEL = Asking()


def carry_out(
    kind: RunKind[Unit, Recorded],
    out: Path,
    asking: Asking = NO_MODEL,
    *,
    workers: "Workers | None" = None,
    arguments: Sequence[str] = (),
) -> RunEnd:
    """Do every unit that the run in `out` does not have yet.

    With `workers` each unit is done by one of them, and recorded here. A `UsageError` says that `out` holds another
    run. `MissingPrerequisite` and `KeyboardInterrupt` leave what is done.
    """
    manifest = manifest_of(kind, arguments)
    if kind.made_again:
        reopen_if_damaged(out, manifest, *([kind.beside] if kind.beside else []))
    if kind.renewed:
        _begin_anew_if_changed(kind, out, manifest)
    earlier = standing(out, manifest, kind.records)
    if earlier is not None and earlier.finished:
        return kind.end_of(out)
    note_of = None if kind.made_again else _noted(kind)
    units = kind.units()
    with RunInProgress(out, manifest, kind.records, Entry[kind.detail], note_of, beside=kind.beside) as run:  # type: ignore[name-defined]
        if run.finished:
            return kind.end_of(out)
        kind.begin(run)
        if units.sentence:
            say(f"misstep: {plain(units.sentence)}")
        stopped, last_failure, missing = asyncio.run(_do_all(kind, units, run, asking, workers))
        last = {entry.unit: entry.failed for entry in run.entries}
        wanted = len(last) + missing if units.n is None else units.n
        finished = len(last) == wanted and not (kind.asks_again and any(last.values()))
        if finished:
            for name, content in kind.conclude(run).items():
                replace_file(out / name, content)
            run.finish(now())
            for name in (BATCHES, SPENDING_LOG):
                (out / name).unlink(missing_ok=True)
    return counted(last, wanted, stopped=stopped, last_failure=last_failure, finished=finished)


def manifest_of(kind: RunKind[Any, Any], arguments: Sequence[str]) -> Manifest:
    """Return the manifest of a run of this kind that begins now."""
    manifest = new_manifest(kind.command, kind.settings(), kind.inputs(), arguments, kind.folder, kind.shown)
    return replace(manifest, sources=dict(kind.sources))


def _begin_anew_if_changed(kind: RunKind[Any, Any], out: Path, manifest: Manifest) -> None:
    """Set a run aside whose prompt or items have changed: replies to the same requests are kept and not asked again."""
    earlier = read_manifest(out)
    if earlier is None or (out / BATCHES).exists():
        return
    names, clause = changes(earlier, manifest)
    if names and names <= kind.renewed:
        place = set_aside(out, _KEPT)
        say(f"misstep: {plain(clause)}: only what is new is asked. The earlier run is in {plain(str(place))}.")


def _noted(kind: RunKind[Any, Recorded]) -> Any:
    """Return the maker of the entry of a record on file: the one that was noted, or one from the record itself."""

    def entry(record: Recorded, noted: Entry[Any] | None) -> Entry[Any]:
        new: Entry[Any] = Entry(kind.recorded_id(record), kind.failure_of(record) is not None, kind.cost_of(record))
        return noted if noted is not None and (noted.unit, noted.failed) == (new.unit, new.failed) else new

    return entry


async def _do_all(
    kind: RunKind[Unit, Recorded],
    units: Units[Unit],
    run: RunInProgress[Any, Entry[Any]],
    asking: Asking,
    workers: "Workers | None",
) -> tuple[str, str, int]:
    """Do the units that are not done; return why the run stopped early, the last failure, and how many are missing."""
    done = {entry.unit for entry in run.entries if not entry.failed}
    writing = kind.writing(run)
    requests: ModelRequests
    work: Callable[[Unit], Awaitable[tuple[Recorded, float | None] | None]]
    if workers is None:
        requests, at_once = _requests(kind, run, asking, (units.n or 0) - len(done))
        work = partial(kind.do, requests=requests)
    else:
        elsewhere = UnitsElsewhere(kind, workers, _client(kind, run, asking))
        requests, at_once, work = elsewhere, elsewhere.at_once, elsewhere.do
    last_failure = ""
    under_way: list[str] = []
    missing = 1  # until the last unit is handed out
    waiting: dict[str, tuple[Recorded, float | None]] = {}

    def left() -> Iterator[Unit]:
        nonlocal missing
        yield from (unit for unit in units.all if kind.id_of(unit) not in done)
        missing -= 1

    async def do(unit: Unit) -> tuple[Recorded, float | None] | None:
        nonlocal missing
        under_way.append(kind.id_of(unit))
        result = await work(unit)
        missing += result is None
        return result

    def write(name: str) -> None:
        nonlocal last_failure
        record, spent = waiting.pop(name)
        failure = kind.failure_of(record)
        lines = writing(record)
        run.append_lines(lines.records, Entry(name, failure is not None, spent, lines.detail), lines.beside)
        last_failure = last_failure if failure is None else failure

    try:
        with Progress(kind.noun, units.n, 0 if units.n is None else len(done)) as progress:
            async with aclosing(run_concurrently(do, left(), at_once, requests.ended)) as coming:
                async for record, spent in coming:
                    name = kind.recorded_id(record)
                    waiting[name] = record, spent
                    if not kind.in_order:
                        write(name)
                    while kind.in_order and under_way and under_way[0] in waiting:
                        write(under_way.pop(0))
                    progress.advance(kind.size_of(record))
        requests.check()
    finally:
        if not (kind.in_order and kind.made_again):
            for name in [name for name in under_way if name in waiting]:  # stopped: what came out of turn is kept
                write(name)
        await requests.close()
    return requests.over_cost_limit, last_failure, missing


def _requests(
    kind: RunKind[Any, Any], run: RunInProgress[Any, Entry[Any]], asking: Asking, left: int
) -> tuple[ModelRequests, int]:
    client = _client(kind, run, asking)
    if asking.batch:
        at_once = max(1, left)
        return BatchedRequests(client, run.folder / BATCHES, at_once), at_once
    return ConcurrentRequests(client, asking.at_once), asking.at_once + min(asking.at_once, kind.prepared)


def _client(kind: RunKind[Any, Any], run: RunInProgress[Any, Entry[Any]], asking: Asking) -> ClientSettings:
    return replace(
        asking.client,
        spent_usd=sum(entry.cost_usd or 0.0 for entry in run.entries),
        spending_log=run.folder / SPENDING_LOG,
        cache=asking.client.cache or (run.folder / ANSWERS if kind.keeps_replies else None),
    )

"""Have the units of a run done by workers: each asks its model by itself, and whoever asked records the result."""

import asyncio
import pickle
import threading
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.clients import ClientSettings
from misstep_harness.clients.cost_limit import SpendingLog
from misstep_harness.errors import MisstepError
from misstep_harness.runs.kind import Recorded, RunKind, Unit
from misstep_harness.runs.model_requests import ConcurrentRequests, ModelRequests
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

    def __init__(self, kind: RunKind[Unit, Recorded], workers: Workers, client: ClientSettings) -> None:
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

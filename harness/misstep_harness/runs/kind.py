"""Define a kind of run: its units, the work on one of them, and its record; `harness.runs.run` carries it out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from misstep_harness.journal.records import Inputs, Records
from misstep_harness.runs.model_requests import ModelRequests

Unit = TypeVar("Unit")
Recorded = TypeVar("Recorded", bound=Struct)


class Units(Struct, Generic[Unit], frozen=True):
    """The units of a run: their number, the units themselves, and a sentence on the rest."""

    n: int
    all: Iterable[Unit]
    sentence: str = ""


class RunKind(Protocol[Unit, Recorded]):
    """What a run is made of; a kind says the first five and `do`, and the rest if it differs."""

    command: str
    noun: str
    """The units on the progress line."""
    records: Records[Recorded]

    def settings(self) -> dict[str, Any]:
        """Return all values that can change a record, for the manifest."""

    def inputs(self) -> Inputs:
        """Return what the run reads: files, bytes and their digest."""

    def units(self) -> Units[Unit]:
        """Return the units of the run."""

    def id_of(self, unit: Unit) -> str:
        """Return the id of a unit; by default its `id`."""
        named: Any = unit
        return str(named.id)

    def recorded_id(self, record: Recorded) -> str:
        """Return the id of the unit that a record is of; by default its `item`."""
        named: Any = record
        return str(named.item)

    async def do(self, unit: Unit, requests: ModelRequests) -> tuple[Recorded, float | None] | None:
        """Return the record of a unit and its cost in USD; `None` if the run ended before the unit was done."""

    folder: str = ""
    """Where the inputs lie."""
    shown: Sequence[str] = ()
    """What of the machine, besides the system's folders, the sandbox shows."""
    in_order: bool = False
    """Whether records are written in the order of their units."""
    made_again: bool = False
    """Whether records cost nothing, so that those after a broken journal line are made again."""
    keeps_replies: bool = False
    """Whether the replies of a model are kept in the run's folder, so that a changed run asks only what is new."""
    renewed: frozenset[str] = frozenset()
    """The settings that may change from one run in a folder to the next."""
    prepared: int = 0
    """How many units are prepared beside those whose requests are in flight."""
    asks_again: bool = False
    """Whether failed units leave the run unfinished, so that the same command asks again."""

    def failure_of(self, record: Recorded) -> str | None:  # noqa: ARG002
        """Return why a unit failed; `None` if it did not."""
        return None

    def cost_of(self, record: Recorded) -> float | None:  # noqa: ARG002
        """Return the cost that a record itself names, in USD."""
        return None


class Entry(Struct, frozen=True, omit_defaults=True):
    """The journal's entry for one record: its unit, whether that failed, and its cost."""

    unit: str
    failed: bool = False
    cost_usd: float | None = None


class RunEnd(Struct, frozen=True):
    """How a run ended. A `finished` run has nothing left to do; units of it that failed did so for good."""

    done: int
    failed: int
    wanted: int
    stopped: str = ""
    last_failure: str = ""
    finished: bool = False


def counted(entries: Mapping[str, bool], wanted: int, **how: Any) -> RunEnd:
    """Count how a run ended from unit → whether it failed."""
    return RunEnd(len(entries), sum(entries.values()), wanted, **how)

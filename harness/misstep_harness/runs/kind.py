"""Define a kind of run: its units, the work on one of them, and its record; `harness.runs.run` carries it out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from misstep_harness.journal.records import Inputs, Records, encode_lines, read_records
from misstep_harness.journal.run_folder import RunInProgress
from misstep_harness.runs.model_requests import ModelRequests

Unit = TypeVar("Unit")
Recorded = TypeVar("Recorded", bound=Struct)
Detail = TypeVar("Detail")


class Entry(Struct, Generic[Detail], frozen=True, omit_defaults=True):
    """The journal's entry for one unit: its id, whether it failed, its cost, and what the kind notes of it."""

    unit: str
    failed: bool = False
    cost_usd: float | None = None
    detail: Detail | None = None


class Lines(Struct, frozen=True):
    """What a unit adds to the files of a run: its records, lines of the file beside, and what the journal notes."""

    records: bytes
    beside: bytes = b""
    detail: Any = None


class Units(Struct, Generic[Unit], frozen=True):
    """The units of a run: their number if it is known before, the units themselves, and a sentence on the rest."""

    n: int | None
    all: Iterable[Unit]
    sentence: str = ""


class RunKind(Protocol[Unit, Recorded]):
    """What a run is made of; a kind says the first five and `do`, and the rest if it differs.

    A unit whose result is more than one record, such as a part of a file, also says its `lines` and the `end` of a
    finished run.
    """

    command: str
    noun: str
    """The units on the progress line."""
    records: Records[Any]

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

    beside: str = ""
    """The name of a file beside the records."""
    detail: type[Any] = NoneType
    """What the journal notes of a unit."""
    sources: Mapping[str, str] = MappingProxyType({})
    """Digests of what reads and judges, for the manifest."""

    def name_of(self, unit: Unit) -> str:
        """Return what a unit is called in an error; by default its id."""
        return self.id_of(unit)

    def size_of(self, record: Recorded) -> int:  # noqa: ARG002
        """Return how far the progress line moves by a record."""
        return 1

    def begin(self, run: RunInProgress[Any, Entry[Any]]) -> None:  # noqa: ARG002
        """Add what is known before any unit is done."""
        return

    def writing(self, run: RunInProgress[Any, Entry[Any]]) -> Callable[[Recorded], Lines]:  # noqa: ARG002
        """Return what makes the lines of each record, in the order in which they are written."""
        return lambda record: Lines(encode_lines([record]))

    def conclude(self, run: RunInProgress[Any, Entry[Any]]) -> Mapping[str, bytes]:  # noqa: ARG002
        """Return the files beside the records of a run that is whole."""
        return {}

    def end_of(self, folder: Path) -> "RunEnd":
        """Return how a finished run ended."""
        last = {self.recorded_id(one): self.failure_of(one) is not None for one in read_records(folder, self.records)}
        return counted(last, len(last), finished=True)

    def failure_of(self, record: Recorded) -> str | None:  # noqa: ARG002
        """Return why a unit failed; `None` if it did not."""
        return None

    def cost_of(self, record: Recorded) -> float | None:  # noqa: ARG002
        """Return the cost that a record itself names, in USD."""
        return None


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

"""Work for processes: functions of a module, which a process that starts afresh or a cluster imports."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.exchange import Message, Outcome, Reply, Request
from misstep_harness.journal.records import Inputs, Records
from misstep_harness.runs.kind import Recorded, RunKind, Units
from misstep_harness.runs.model_requests import ModelRequests

N = 12


def square(number: int) -> int:
    return number * number


def slow_first(number: int) -> int:
    if number == 0:
        deadline = time.monotonic() + 0.2
        while time.monotonic() < deadline:
            pass
    return number


def die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_once(place: tuple[Path, int]) -> int:
    """Die at the third piece, unless somebody died at it before."""
    folder, number = place
    (folder / f"{number}-{os.getpid()}-{time.monotonic_ns()}").touch()
    if number == 3 and len(list(folder.glob("3-*"))) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise KeyError("three")
    return number


def dear_answer(request: Request) -> Outcome:  # noqa: ARG001
    return Reply("yes", None, "stop", "small-1", 0, 100, 0.0, 0.1)


class Measured(Struct, frozen=True):
    """One number, squared."""

    item: str
    square: int


class Numbers(RunKind[int, Recorded]):
    """A kind whose units are the first numbers; what is done with one, and its record, are left to say."""

    command, noun = "measure", "numbers"

    def settings(self) -> dict[str, Any]:
        return {"n": N}

    def inputs(self) -> Inputs:
        return Inputs(0, 0, "")

    def units(self) -> Units[int]:
        return Units(N, range(N))

    def id_of(self, unit: int) -> str:
        return str(unit)


class Measuring(Numbers[Measured]):
    """Squares numbers; `deadly` numbers kill whoever squares them, and a model may be asked about each."""

    records = Records(Measured, "measured.jsonl")
    in_order = True

    def __init__(self, deadly: frozenset[int] = frozenset(), *, asks: bool = False) -> None:
        self._deadly, self._asks = deadly, asks

    async def do(self, unit: int, requests: ModelRequests) -> tuple[Measured, float | None] | None:
        if unit in self._deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if not self._asks:
            return Measured(str(unit), square(unit)), None
        outcome = await requests.ask(Request("small-1", (Message("user", "?"),), max_tokens=100), str(unit))
        return (Measured(str(unit), square(unit)), outcome.cost_usd) if isinstance(outcome, Reply) else None

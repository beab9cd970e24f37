"""The process of a detector, run by `DetectorProcess`: `python -m …observer.detector_worker DESCRIPTOR NAME MODEL`."""

import asyncio
import ctypes
import itertools
import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Thread

from msgspec.structs import replace

from misstep_harness.exchange import Failure, Outcome, Request
from misstep_harness.observer.detectors import detected, detector_named
from misstep_harness.observer.messages import (
    Detect,
    Detected,
    DetectorAnswer,
    DetectorBroken,
    DetectorQuestion,
    ToProcess,
    encoded,
    to_process,
)
from misstep_harness.registry import raised
from misstep_harness.trajectory import Step

_NICENESS = 5
"""How far the agent goes before the detector where both want the processor."""

_MOST_ERROR = 1_000

_DIES_WITH_PARENT = 1
"""`PR_SET_PDEATHSIG` of Linux."""


class _ObserverAsk:
    """Asks a model through the observer."""

    def __init__(self, model: str, connection: Connection) -> None:
        self.model, self._connection = model, connection
        self._numbers = itertools.count()
        self._open: dict[int, asyncio.Future[Outcome]] = {}

    async def __call__(self, request: Request) -> Outcome:
        number = next(self._numbers)
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        self._connection.send_bytes(encoded(DetectorQuestion(number, request)))
        return await answer

    def answered(self, answer: DetectorAnswer) -> None:
        """Give an answer to who asked, if it still waits."""
        waiting = self._open.pop(answer.number)
        if not waiting.done():
            waiting.set_result(answer.reply or answer.failure or Failure("malformed", "an empty answer"))


async def _serve(name: str, model: str, connection: Connection) -> None:
    loop, ask = asyncio.get_running_loop(), _ObserverAsk(model, connection)
    questions: asyncio.Queue[Detect] = asyncio.Queue()

    def take(message: ToProcess) -> None:
        if isinstance(message, Detect):
            questions.put_nowait(message)
        else:
            ask.answered(message)

    def listen() -> None:
        """Read in a thread, so that the process ends with its observer even while the detector blocks."""
        with suppress(EOFError, OSError):
            while True:
                loop.call_soon_threadsafe(take, to_process(connection.recv_bytes()))
        os._exit(0)

    Thread(target=listen, daemon=True).start()
    steps: tuple[Step, ...] = ()
    detector = None
    while True:
        question = await questions.get()
        steps = steps[: question.start] + question.steps
        try:
            detector = detector or detector_named(name)
            answer: Detected | DetectorBroken = Detected(
                await detected(detector, replace(question.run, steps=steps), ask)
            )
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- a detector may raise anything
            answer = DetectorBroken(raised(error)[:_MOST_ERROR])
        connection.send_bytes(encoded(answer))


def main(descriptor: str, name: str, model: str) -> None:
    """Serve a detector until the observer hangs up."""
    os.set_inheritable(int(descriptor), False)
    os.nice(_NICENESS)
    if sys.platform == "linux":  # the thread that listens has no turn while a detector computes in C
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    asyncio.run(_serve(name, model, Connection(int(descriptor))))


if __name__ == "__main__":
    main(*sys.argv[1:])

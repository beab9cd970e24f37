"""The process of a detector: `python -m harness.observer.detector_worker NAME MODEL`, run by `DetectorProcess`."""

import asyncio
import ctypes
import itertools
import os
import signal
import sys
import threading
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from misstep.harness.exchange import Failure, Outcome, Request
from misstep.harness.observer.detectors import Detector, detected, detector_named
from misstep.harness.observer.messages import (
    HEAD,
    Detect,
    Detected,
    DetectorAnswer,
    DetectorBroken,
    DetectorQuestion,
    ToObserver,
    ToProcess,
    framed,
    length_of,
)
from misstep.harness.registry import raised
from misstep.harness.trajectory import Step

_NICENESS = 5
"""How far the agent goes before the detector where both want the processor."""

_MOST_ERROR = 1_000

_DIES_WITH_PARENT = 1
"""`PR_SET_PDEATHSIG` of Linux."""

_decoder = msgspec.json.Decoder(ToProcess)


class _PassedOn:
    def __init__(self, model: str, output: BinaryIO) -> None:
        self.model, self._output = model, output
        self._numbers = itertools.count()
        self._open: dict[int, asyncio.Future[Outcome]] = {}

    async def __call__(self, request: Request) -> Outcome:
        number = next(self._numbers)
        self._open[number] = asyncio.get_running_loop().create_future()
        _send(self._output, DetectorQuestion(number, request))
        try:
            return await self._open[number]
        finally:
            del self._open[number]

    def answered(self, answer: DetectorAnswer) -> None:
        """Give an answer to who asked, if it still waits."""
        waiting = self._open.get(answer.number)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer.reply or answer.failure or Failure("malformed", "an empty answer"))


class _Worker:
    def __init__(self, name: str, model: str, output: BinaryIO) -> None:
        self._name, self._output = name, output
        self._ask = _PassedOn(model, output)
        self._detector: Detector | None = None
        self._steps: tuple[Step, ...] = ()
        self._work: set[asyncio.Task[None]] = set()

    def take(self, message: ToProcess) -> None:
        """Act on a message; a question to the detector is worked on beside the others."""
        if isinstance(message, DetectorAnswer):
            self._ask.answered(message)
            return
        work = asyncio.create_task(self._detect(message))
        self._work.add(work)
        work.add_done_callback(self._work.discard)

    async def _detect(self, message: Detect) -> None:
        self._steps = self._steps[: message.start] + message.steps
        try:
            if self._detector is None:
                self._detector = detector_named(self._name)
            feedback = await detected(self._detector, replace(message.run, steps=self._steps), self._ask)
            answer: Detected | DetectorBroken = Detected(feedback)
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- a detector may raise anything
            answer = DetectorBroken(raised(error)[:_MOST_ERROR])
        _send(self._output, answer)


def _send(output: BinaryIO, message: ToObserver) -> None:
    output.write(framed(message))
    output.flush()


async def _serve(name: str, model: str, source: BinaryIO, output: BinaryIO) -> None:
    worker = _Worker(name, model, output)
    loop = asyncio.get_running_loop()

    def listen() -> None:
        """Read in a thread, so that the process ends with its observer even while the detector blocks."""
        while head := source.read(HEAD):
            message = _decoder.decode(source.read(length_of(head)))
            loop.call_soon_threadsafe(worker.take, message)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    await loop.create_future()


def main(name: str, model: str) -> None:
    """Serve a detector until standard input ends."""
    source, output = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.nice(_NICENESS)
    if sys.platform == "linux":  # the thread that listens has no turn while a detector computes in C
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    asyncio.run(_serve(name, model, source, output))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A detector in a process of its own: whatever it does there, it holds nothing up here."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from types import TracebackType

import msgspec
from msgspec.structs import replace

from misstep.harness.clients.address import SENT
from misstep.harness.errors import MisstepError
from misstep.harness.exchange import Reply
from misstep.harness.observer.messages import (
    HEAD,
    MOST_BYTES,
    Detect,
    Detected,
    DetectorAnswer,
    DetectorBroken,
    DetectorQuestion,
    ToObserver,
    framed,
    length_of,
)
from misstep.harness.protocols import Ask
from misstep.harness.records.intervention import Feedback
from misstep.harness.trajectory import Step, Trajectory

MOST_QUESTIONS = 100
"""How often a detector may ask a model before it answers."""

_decoder = msgspec.json.Decoder(ToObserver)


class DetectorFailed(MisstepError):
    """A detector raised something, or its process ended: one question has no answer."""


class DetectorProcess:
    """A detector in its process; as a context manager it is started before and killed behind."""

    def __init__(self, name: str, ask: Ask) -> None:
        self.name, self._ask = name, ask
        self._process: Process | None = None
        self._sent: tuple[str, int, Step | None] = ("", 0, None)
        self._starting: asyncio.Task[Process] | None = None
        self._killed: list[Process] = []
        self._questions: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "DetectorProcess":
        await self._started()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._starting is not None:
            with suppress(OSError):
                self._process = await self._starting
        self.kill()
        for process in self._killed:
            await process.wait()

    @property
    def process_id(self) -> int | None:
        """Return the process as the system knows it; `None` while there is none."""
        return None if self._process is None else self._process.pid

    async def detect(self, trajectory: Trajectory) -> Feedback:
        """Return what the detector says of a run so far; where this is cancelled, the process is killed."""
        try:
            process = await self._started()
            _input(process).write(framed(self._request(trajectory)))
            return await self._answer(process)
        except DetectorFailed:
            raise
        except (OSError, EOFError, ValueError) as error:
            self.kill()
            raise DetectorFailed(f"the process of the detector {self.name!r} ended or was ended: {error}") from error
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """End the process at once, whatever it does; nothing is waited for."""
        for question in self._questions:
            question.cancel()
        process, self._process = self._process, None
        self._sent = ("", 0, None)
        if process is not None and process.returncode is None:
            _input(process).close()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what the detector started goes with it
            self._killed.append(process)

    async def _started(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self.kill()
            if self._starting is None:
                self._starting = asyncio.create_task(self._start())
            # Who asks may give up at any moment; a process that is half started is kept for the next question.
            try:
                self._process = await asyncio.shield(self._starting)
            finally:
                self._starting = None if self._starting.done() else self._starting
        return self._process

    async def _start(self) -> Process:
        environment = {name: value for name, value in os.environ.items() if name not in SENT}
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "misstep.harness.observer.detector_worker",
            self.name,
            self._ask.model,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the observer, which then ends it
        )

    def _request(self, trajectory: Trajectory) -> Detect:
        steps = trajectory.steps
        run, sent, last = self._sent
        start = sent if run == trajectory.id and 0 < sent <= len(steps) and steps[sent - 1] is last else 0
        self._sent = (trajectory.id, len(steps), steps[-1] if steps else None)
        return Detect(replace(trajectory, steps=()), start, steps[start:])

    async def _answer(self, process: Process) -> Feedback:
        output = process.stdout
        assert output is not None  # noqa: S101 -- it is a pipe
        for _ in range(MOST_QUESTIONS + 1):
            length = length_of(await output.readexactly(HEAD))
            if length > MOST_BYTES:
                raise ValueError(f"it sends {length:,} bytes at once; at most {MOST_BYTES:,} are read")
            message = _decoder.decode(await output.readexactly(length))
            if isinstance(message, Detected):
                return message.feedback
            if isinstance(message, DetectorBroken):
                raise DetectorFailed(f"the detector {self.name!r} failed: {message.error}")
            question = asyncio.create_task(self._passed_on(message, process))
            self._questions.add(question)
            question.add_done_callback(self._questions.discard)
        raise ValueError(f"it asks a model more than {MOST_QUESTIONS} times about one run")

    async def _passed_on(self, question: DetectorQuestion, process: Process) -> None:
        outcome = await self._ask(question.request)
        answer = (
            DetectorAnswer(question.number, reply=outcome)
            if isinstance(outcome, Reply)
            else DetectorAnswer(question.number, failure=outcome)
        )
        if process.returncode is None:
            _input(process).write(framed(answer))


def _input(process: Process) -> asyncio.StreamWriter:
    assert process.stdin is not None  # noqa: S101 -- it is a pipe
    return process.stdin

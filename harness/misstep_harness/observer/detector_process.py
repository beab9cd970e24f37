"""A detector in a process of its own: whatever it does there, it holds nothing up here."""

import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from msgspec.structs import replace

from misstep_harness.clients.address import SENT
from misstep_harness.errors import MisstepError
from misstep_harness.exchange import Outcome, Reply, Request
from misstep_harness.intervention import Feedback
from misstep_harness.observer.messages import (
    MOST_BYTES,
    Detect,
    Detected,
    DetectorAnswer,
    DetectorBroken,
    encoded,
    to_observer,
)
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step, Trajectory

MOST_QUESTIONS = 100
"""How often a detector may ask a model before it answers."""


class DetectorFailed(MisstepError):
    """A detector raised something, or its process ended: one question has no answer."""


class DetectorProcess:
    """A detector in its process, which is asked one question at a time.

    - `loop`: The event loop that `ask` belongs to; without one, each question to a model has its own.
    """

    def __init__(self, name: str, ask: Ask) -> None:
        self.name, self._ask = name, ask
        self.loop: asyncio.AbstractEventLoop | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._sent: tuple[str, int, Step | None] = ("", 0, None)
        self._asking: Future[Outcome] | None = None

    @property
    def process_id(self) -> int | None:
        """Return the process as the system knows it; `None` while there is none."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process, unless it runs; it ends with the thread that starts it."""
        if self._process is not None and self._process.poll() is None:
            return
        self.kill()
        self._connection, other = Pipe()
        with other:
            environment = {name: value for name, value in os.environ.items() if name not in SENT}
            self._process = subprocess.Popen(  # noqa: S603
                [
                    *(sys.executable, "-m", "misstep_harness.observer.detector_worker"),
                    *(str(other.fileno()), self.name, self._ask.model),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(other.fileno(),),
                env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is for the observer, which then ends it
            )

    def kill(self) -> None:
        """End the process at once, whatever it does, and a question that waits for it."""
        process, self._process = self._process, None
        self._connection, self._sent = None, ("", 0, None)
        if self._asking is not None:
            self._asking.cancel()
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what the detector started goes with it
            process.wait()

    def detect(self, trajectory: Trajectory) -> Feedback:
        """Wait for what the detector says of a run so far."""
        connection = self._connection
        try:
            return self._detected(trajectory)
        except DetectorFailed:
            raise
        except Exception as error:
            # The detector may wait on for what does not come, and would hear no further question.
            if connection is not None and connection is self._connection:
                self.kill()
            if not isinstance(error, OSError | EOFError | ValueError):
                raise
            raise DetectorFailed(f"the process of the detector {self.name!r} ended or was ended: {error}") from error

    def _detected(self, trajectory: Trajectory) -> Feedback:
        connection = self._connection
        if connection is None:
            raise EOFError("it was not started")
        connection.send_bytes(encoded(self._request(trajectory)))
        for _ in range(MOST_QUESTIONS + 1):
            message = to_observer(connection.recv_bytes(MOST_BYTES))
            if isinstance(message, Detected):
                return message.feedback
            if isinstance(message, DetectorBroken):
                raise DetectorFailed(f"the detector {self.name!r} failed: {message.error}")
            outcome = self._answer_of_model(message.request)
            reply, failure = (outcome, None) if isinstance(outcome, Reply) else (None, outcome)
            connection.send_bytes(encoded(DetectorAnswer(message.number, reply, failure)))
        raise ValueError(f"it asks a model more than {MOST_QUESTIONS} times about one run")

    def _request(self, trajectory: Trajectory) -> Detect:
        steps = trajectory.steps
        run, sent, last = self._sent
        start = sent if run == trajectory.id and 0 < sent <= len(steps) and steps[sent - 1] == last else 0
        self._sent = (trajectory.id, len(steps), steps[-1] if steps else None)
        return Detect(replace(trajectory, steps=()), start, steps[start:])

    def _answer_of_model(self, request: Request) -> Outcome:
        async def answer() -> Outcome:
            return await self._ask(request)

        if self.loop is None:
            return asyncio.run(answer())
        self._asking = asyncio.run_coroutine_threadsafe(answer(), self.loop)
        return self._asking.result()

"""Observe an agent that runs: a detector looks on in its own process and never holds the agent up (Wink, figure 3).

with Observer("rules", "Make the tests pass.") as observer:
    ...                                        # behind each step of the agent:
    reminder = observer.after_action(steps)    # a step whose `text` the agent reads next, or None
observer.observed(steps)                       # what was asked, found and said
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Thread
from types import TracebackType
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.clients.address import SENT
from misstep_harness.errors import MisstepError
from misstep_harness.exchange import Outcome, Reply, Request
from misstep_harness.intervention import Arm, Feedback, Intervention, ObservedRun
from misstep_harness.observer.detectors import check_model, detector_named, steps_between_questions
from misstep_harness.observer.guidance import guidance_step
from misstep_harness.observer.messages import (
    MOST_BYTES,
    Detect,
    Detected,
    DetectorAnswer,
    DetectorBroken,
    encoded,
    to_observer,
)
from misstep_harness.observer.state import EVERY, ObserverState
from misstep_harness.protocols import NO_MODEL, Ask
from misstep_harness.registry import raised
from misstep_harness.trajectory import Source, Step, Trajectory

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


SECONDS = 120.0
"""A question that takes longer has no answer."""


class Observer:
    """An observer of one run of an agent; its process lives as long as the `with` block.

    Parameters
    ----------
    detector
        `rules`, `prompted` or `package.module:Class`.
    task
        What the agent was asked to do.
    model, base_url
        The model that the detector asks, and the address of its OpenAI-compatible server.
    every
        Steps of the agent from one question to the next: by default 1 for rules, 5 for any other detector.
    arm
        `guide` to tell the agent, `shadow` to record alone.
    item
        The run's id in the record.
    ask
        What asks the model instead of a client of its own; `async with` has it asked in the present event loop.

    Raises
    ------
    UsageError
        The detector is unknown, or the model that it needs is not named.
    """

    def __init__(
        self,
        detector: str = "rules",
        task: str = "",
        *,
        model: str = "",
        base_url: str = "",
        every: int | None = None,
        arm: Arm = "guide",
        item: str = "",
        ask: Ask | None = None,
    ) -> None:
        check_model(detector, model)
        detector_named(detector)
        self._run = Trajectory(item or uuid.uuid4().hex, Source("misstep"), task)
        self.state = ObserverState(self._run.id, detector, every or steps_between_questions(detector), arm)
        self._process = DetectorProcess(detector, ask or _own_ask(model, base_url))
        self._question: _Question | None = None
        self._steps: Sequence[Step] = ()

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        self._process.loop = asyncio.get_running_loop()
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def after_action(self, steps: Sequence[Step]) -> Step | None:
        """Return what the agent is told, if an answer is there that calls for it; ask the detector where it is due."""
        self._steps = steps
        try:
            guidance = self.heard(steps)
            self.ask(replace(self._run, steps=tuple(steps)))
        except Exception as error:  # noqa: BLE001 -- whatever is wrong with the observer, the agent goes on
            self.state.failed(raised(error), steps)
            return None
        return None if guidance is None else guidance_step(guidance.guidance, self.state.number)

    def heard(self, steps: Sequence[Step]) -> Intervention | None:
        """Take the answer to the open question, if it is there; gives what the agent is to be told."""
        question = self._question
        if question is None or (question.is_alive() and time.monotonic() - question.began < SECONDS):
            return None
        self._question = None
        if question.is_alive():
            self._process.kill()
            self.state.failed(f"no answer within {SECONDS:g} seconds", steps, SECONDS, "unanswered")
        elif question.feedback is None:
            self.state.failed(question.error, steps, question.seconds)
        else:
            return self.state.answered(question.feedback, steps, question.seconds)
        return None

    def ask(self, run: Trajectory) -> None:
        """Ask the detector about the run, where that is due."""
        if self.state.due(run.steps):
            self.state.question_open(run.steps)
            self._process.start()
            self._question = _Question(self._process, run)
            self._question.start()

    def wait(self, seconds: float) -> None:
        """Wait for the answer to the open question, at most so long."""
        if self._question is not None:
            self._question.join(seconds)

    async def end(self, steps: Sequence[Step] | None = None) -> None:
        """The run is over: what is not answered by now stays so, and what is answered is not said any more."""
        self._end(self._steps if steps is None else steps)

    def close(self) -> None:
        """End the process, and with it a question that is open."""
        self._end(self._steps)
        self._process.kill()

    def _end(self, steps: Sequence[Step]) -> None:
        question, self._question = self._question, None
        if question is None:
            return
        if question.is_alive():
            self._process.kill()
            self.state.ended(steps)
        else:
            self.state.ended(steps, question.feedback or question.error, question.seconds)

    def observed(self, steps: Sequence[Step]) -> ObservedRun:
        """Return the record of the run."""
        return self.state.observed(steps)

    def categories(self, step: Step) -> Collection[str]:
        """Return what a step of guidance is about."""
        return self.state.categories(step)


class _Question(Thread):
    """A question to the detector in a thread that nobody waits for."""

    def __init__(self, process: DetectorProcess, trajectory: Trajectory) -> None:
        super().__init__(daemon=True, name="misstep observer")
        self._process, self._trajectory = process, trajectory
        self.began = time.monotonic()
        self.seconds = 0.0
        self.feedback: Feedback | None = None
        self.error = ""

    def run(self) -> None:
        """Ask, and keep the answer or why there is none."""
        try:
            self.feedback = self._process.detect(self._trajectory)
        except Exception as error:  # noqa: BLE001 -- a detector may raise anything
            self.error = raised(error)
        self.seconds = time.monotonic() - self.began


def _own_ask(model: str, base_url: str) -> Ask:
    if not model:
        return NO_MODEL
    from misstep_harness.clients.settings import ClientSettings  # rules, which most sessions have, start without it
    from misstep_harness.observer.messages import ModelAsk

    return ModelAsk(model, ClientSettings(base_url=base_url or None))


class LiveObservation(Struct, frozen=True):
    """How runs are observed while they go on."""

    detector: str
    every: int = EVERY
    arm: Arm = "guide"
    model: str = ""

    def settings(self) -> dict[str, Any]:
        """Return all values that can change a record, in types of TOML."""
        values = {"detector": self.detector, "every": self.every, "mode": self.arm, "model": self.model}
        return {f"observe_{name}": value for name, value in values.items() if value}

    def observer(self, item: str, task: str, ask: Ask) -> Observer:
        """Return the observer of one run."""
        asked = ask if self.model else None
        return Observer(self.detector, task, model=self.model, every=self.every, arm=self.arm, item=item, ask=asked)

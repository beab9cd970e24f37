"""Observe a live run: a detector looks on while the agent works, and never holds it up (Wink, figure 3).

async with DetectorProcess("rules", ask) as detector:
    observer = Observer(Trajectory("run-7", Source("misstep")), detector)
    run = await run_agent(task, policy, environment, ask, watcher=observer)
    observer.observed(run.steps)
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.observer.detector_process import DetectorProcess
from misstep.harness.observer.guidance import guidance_step
from misstep.harness.observer.state import EVERY, ObserverState
from misstep.harness.protocols import Ask
from misstep.harness.records.intervention import Arm, Feedback, ObservedRun
from misstep.harness.registry import raised
from misstep.harness.trajectory import Source, Step, Trajectory

SECONDS = 120.0


class Asynchronous(Protocol):
    """A detector that is asked without holding anybody up, as `DetectorProcess`."""

    @property
    def name(self) -> str:
        """Return the detector's name."""

    async def detect(self, trajectory: Trajectory) -> Feedback:
        """Return what it says of a run so far; it may raise anything, and gives up when it is cancelled."""


class _Answer(Struct, frozen=True):
    seconds: float
    feedback: Feedback | None = None
    error: str = ""
    late: bool = False


class Observer:
    """Looks on while an agent works; a `Watcher` of `harness.agent`."""

    def __init__(
        self,
        run: Trajectory,
        detector: Asynchronous,
        *,
        every: int = EVERY,
        arm: Arm = "guide",
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run, self._detector, self._seconds = run, detector, seconds
        self._clock = clock
        self._state = ObserverState(run.id, detector.name, every, arm)
        self._open: asyncio.Task[_Answer] | None = None
        self._steps: Sequence[Step] = ()

    def after_action(self, steps: Sequence[Step]) -> Step | None:
        """What the agent is told, if an answer is there that calls for it; the detector is asked where it is due."""
        guidance = self.heard(steps)
        self.shown(steps)
        return guidance

    def heard(self, steps: Sequence[Step]) -> Step | None:
        """Return what the agent is told now, if an answer is there that calls for it; nothing is asked."""
        self._steps = steps
        try:
            return self._take(steps)
        except Exception as error:  # noqa: BLE001 -- whatever is wrong with the observer, the agent goes on
            self._state.failed(raised(error), steps)
            return None

    def shown(self, steps: Sequence[Step]) -> None:
        """Ask the detector about the run, where that is due."""
        try:
            if self._state.due(steps):
                run = replace(self._run, steps=tuple(steps))
                self._open = asyncio.create_task(self._ask(run))
                self._state.question_open(steps)
        except Exception as error:  # noqa: BLE001 -- whatever is wrong with the observer, the agent goes on
            self._state.failed(raised(error), steps)

    async def end(self, steps: Sequence[Step] | None = None) -> None:
        """The run is over: a question that is open stays unanswered, and the detector is stopped at it."""
        steps = self._steps if steps is None else steps
        answer = self._finished()
        if self._open is not None:
            self._open.cancel()
            self._open = None
            await asyncio.sleep(0)  # so that the detector hears of it, whether or not it heeds it
        try:
            self._state.ended(steps, answer.feedback if answer else None, answer.seconds if answer else None)
        except TypeError as error:
            self._state.failed(raised(error), steps)

    def observed(self, steps: Sequence[Step]) -> ObservedRun:
        """Return the record of the run."""
        return self._state.observed(steps)

    def categories(self, step: Step) -> Collection[str]:
        """Return what a step of guidance is about."""
        return self._state.categories(step)

    async def _ask(self, run: Trajectory) -> _Answer:
        began = self._clock()
        try:
            async with asyncio.timeout(self._seconds):
                feedback = await self._detector.detect(run)
        except TimeoutError:
            return _Answer(self._clock() - began, error=f"no answer within {self._seconds:g} seconds", late=True)
        except Exception as error:  # noqa: BLE001 -- a detector may raise anything
            return _Answer(self._clock() - began, error=raised(error))
        return _Answer(self._clock() - began, feedback)

    def _finished(self) -> _Answer | None:
        if self._open is None or not self._open.done():
            return None
        task, self._open = self._open, None
        if task.cancelled():
            return _Answer(0.0, error="the detector was stopped")
        return task.result()

    def _take(self, steps: Sequence[Step]) -> Step | None:
        answer = self._finished()
        if answer is None:
            return None
        if answer.feedback is None:
            self._state.failed(answer.error, steps, answer.seconds, "unanswered" if answer.late else "failed")
            return None
        try:
            guidance = self._state.answered(answer.feedback, steps, answer.seconds)
        except TypeError as error:  # not a feedback
            self._state.failed(raised(error), steps, answer.seconds)
            return None
        return None if guidance is None else guidance_step(guidance.guidance, self._state.number)


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


@asynccontextmanager
async def live_observer(item: str, task: str, how: LiveObservation, ask: Ask) -> AsyncIterator[Observer]:
    """The observer of one run; its process ends with the block."""
    async with DetectorProcess(how.detector, ask) as process:
        yield Observer(Trajectory(item, Source("misstep"), task), process, every=how.every, arm=how.arm)

"""Let an observer answer in made-up time: after a drawn number of steps, however long its detector really took.

The agent of an experiment takes milliseconds a step and a model seconds. So that the same seed gives the same sessions
everywhere, an answer is delivered so many steps after the question, and the agent's step waits for the detector if it
is not done by then. `harness.observer.observer` is the observer in real time.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.actions import Action
from misstep_harness.agent.protocols import Policy, Task
from misstep_harness.intervention import Arm, Feedback, ObservedRun
from misstep_harness.live_session import LiveArm
from misstep_harness.observer.detectors import Detector, detected, detector_named
from misstep_harness.observer.guidance import guidance_step
from misstep_harness.observer.observer import LiveObservation, Observer
from misstep_harness.observer.state import EVERY, ObserverState
from misstep_harness.protocols import Ask
from misstep_harness.registry import raised
from misstep_harness.trajectory import Source, Step, Trajectory


class Beside(Struct, frozen=True):
    """The observer of the agents of an experiment: its detector is asked after `every` so many steps.

    Its answer comes after `delay` steps on average: between one and twice as many less one.
    """

    detector: str = "rules"
    every: int = EVERY
    delay: int = 2


class PacedObserver:
    """Looks on while an agent works, and answers when it is due; a `Watcher` of `harness.agent`."""

    def __init__(self, item: str, task: str, detector: Detector, ask: Ask, beside: Beside, arm: Arm) -> None:
        self._run = Trajectory(item, Source("misstep"), task)
        self._detector, self._ask = detector, ask
        self._state = ObserverState(item, detector.name, beside.every, arm)
        self._random = Random(f"{item}:delay")  # noqa: S311 (made-up time)
        self._longest = 2 * beside.delay - 1
        self._open: asyncio.Task[Feedback | str] | None = None
        self._due = 0

    def after_action(self, steps: Sequence[Step]) -> Step | None:
        """Return guidance for the agent, if an answer that calls for it is due."""
        agent_steps = sum(step.role == "agent" for step in steps)
        guidance = self._take(steps) if self._open is not None and agent_steps >= self._due else None
        if self._state.due(steps):
            self._state.question_open(steps)
            self._due = agent_steps + self._random.randint(1, self._longest)
            run = Trajectory(self._run.id, self._run.source, self._run.task, tuple(steps))
            self._open = asyncio.create_task(self._answer(run))
        return guidance

    async def end(self, steps: Sequence[Step]) -> None:
        """The run is over; an answer that is not due by now is not heard any more."""
        answer: Feedback | str | BaseException | None = None
        if self._open is not None:
            self._open.cancel()
            (answer,) = await asyncio.gather(self._open, return_exceptions=True)
            self._open = None
        self._state.ended(steps, answer if isinstance(answer, str) else None)

    async def settled(self) -> None:
        """Wait until the open question is answered; it is delivered when it is due all the same."""
        if self._open is not None:
            await asyncio.wait([self._open])

    def observed(self, steps: Sequence[Step]) -> ObservedRun:
        """Return the record of the run."""
        return self._state.observed(steps)

    def categories(self, step: Step) -> Collection[str]:
        """Return the misbehaviours that a step of guidance is about."""
        return self._state.categories(step)

    def _take(self, steps: Sequence[Step]) -> Step | None:
        answer = self._open.result() if self._open is not None else ""
        self._open = None
        if isinstance(answer, str):
            self._state.failed(answer, steps)
            return None
        guidance = self._state.answered(answer, steps)
        return None if guidance is None else guidance_step(guidance.guidance, self._state.number)

    async def _answer(self, run: Trajectory) -> Feedback | str:
        try:
            return await detected(self._detector, run, self._ask)
        except Exception as error:  # noqa: BLE001 (a detector may raise whatever it likes)
            return raised(error)


class Paced:
    """A policy whose step lasts, in made-up time, until the detector is done."""

    def __init__(self, policy: Policy, observer: PacedObserver) -> None:
        self._policy, self._observer = policy, observer
        self.name = policy.name

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:
        """Return the policy's next command."""
        await self._observer.settled()
        return await self._policy.act(task, steps, ask)


@asynccontextmanager
async def observer_of(
    run: Trajectory, arm: LiveArm, beside: Beside, how: LiveObservation | None, ask: Ask
) -> AsyncIterator[PacedObserver | Observer | None]:
    """Return the observer of a session in its arm: in real time if `how` says so, else in made-up time."""
    if arm == "control":
        yield None
    elif how is None:
        yield PacedObserver(run.id, run.task, detector_named(beside.detector), ask, beside, arm)
    else:
        async with replace(how, arm=arm).observer(run.id, run.task, ask) as observer:
            yield observer


def paced(policy: Policy, observer: PacedObserver | Observer | None) -> Policy:
    """Return a policy that waits for an observer in made-up time; beside any other it waits for nobody."""
    return Paced(policy, observer) if isinstance(observer, PacedObserver) else policy

"""Put a recorded run before an observer step by step: what it would have seen, when, and what it would have said.

An answer comes in `delay` steps of the agent after the question.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct, structs

from misstep_harness.intervention import Arm, Feedback, Intervention, ObservedRun
from misstep_harness.observer.detectors import Detector, detected, detector_named
from misstep_harness.observer.state import EVERY, ObserverState
from misstep_harness.protocols import NO_MODEL, Ask
from misstep_harness.registry import raised
from misstep_harness.trajectory import Step, Trajectory


class ReplayOptions(Struct, frozen=True):
    """How runs are replayed.

    - `every`, `delay`: Steps of the agent from one question to the next, and from a question to its answer.
    - `guidance`: A folder with the user's own texts.
    """

    detector: str = "rules"
    categories: tuple[str, ...] = ()
    every: int = EVERY
    delay: int = 0
    arm: Arm = "shadow"
    guidance: str = ""

    def settings(self) -> dict[str, Any]:
        """Return all values that can change a record, in types of TOML."""
        values = {**structs.asdict(self), "categories": list(self.categories)}
        return {name: value for name, value in values.items() if value or name != "guidance"}

    def state(self, item: str, detector: str) -> ObserverState:
        """Return what is known of a run at its beginning."""
        return ObserverState(
            item, detector, self.every, self.arm, guidance_folder=self.guidance, categories=self.categories
        )


class Replay:
    """One run as it is replayed, or as it grows in a file; it goes on where it stopped.

    - `live`: Whether the run goes on now: guidance comes after all of its steps, and is weighed by all of them.
    """

    def __init__(
        self,
        item: str,
        detector: Detector,
        ask: Ask,
        options: ReplayOptions,
        *,
        live: bool = False,
    ) -> None:
        self._detector, self._ask, self._options = detector, ask, options
        self._state = options.state(item, detector.name)
        self._steps = self._taken_steps = 0
        self._open: tuple[int, Feedback | str] | None = None
        self._live = live
        self._n_told = 0

    async def further(self, run: Trajectory) -> list[Intervention]:
        """Take the observation on to the run's last step; gives the interventions that are new since the last time."""
        for n in range(self._steps + 1, len(run.steps) + 1):
            if run.steps[n - 1].role == "agent":
                await self._behind(run, n)
        self._steps = len(run.steps)
        interventions = self._state.observed(run.steps).interventions
        new, self._n_told = interventions[self._n_told :], len(interventions)
        return list(new)

    async def _behind(self, run: Trajectory, n: int) -> None:
        self._taken_steps += 1
        steps = run.steps[:n]
        self._take_answer(steps, run.steps)
        if self._state.due(steps):
            self._state.question_open(steps)
            self._open = self._taken_steps + self._options.delay, await self._answer(run, steps)
            self._take_answer(steps, run.steps)

    def _take_answer(self, steps: tuple[Step, ...], now: tuple[Step, ...]) -> None:
        if self._open is None or self._open[0] > self._taken_steps:
            return
        (_, answer), self._open = self._open, None
        steps = now if self._live else steps
        if isinstance(answer, str):
            self._state.failed(answer, steps)
        else:
            self._state.answered(answer, steps)

    async def _answer(self, run: Trajectory, steps: tuple[Step, ...]) -> Feedback | str:
        try:
            return await detected(self._detector, structs.replace(run, steps=steps), self._ask)
        except Exception as error:  # noqa: BLE001 (a detector may raise whatever it likes)
            return raised(error)

    def ended(self, run: Trajectory) -> ObservedRun:
        """Return the record, now that the run is over."""
        answer = None if self._open is None else self._open[1]
        self._state.ended(run.steps, answer if isinstance(answer, str) else None)
        return self.record(run)

    def record(self, run: Trajectory) -> ObservedRun:
        """Return the record so far."""
        return self._state.observed(run.steps)


def replay(run: Trajectory, options: ReplayOptions) -> ObservedRun:
    """Return what an observer would have seen of a recorded run and said to it, by a detector that asks no model."""
    answering = replayed(run, detector_named(options.detector), NO_MODEL, options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(answering)
    with ThreadPoolExecutor(1) as elsewhere:  # the caller's thread has a loop already, as in a notebook
        return elsewhere.submit(asyncio.run, answering).result()


async def replayed(run: Trajectory, detector: Detector, ask: Ask, options: ReplayOptions) -> ObservedRun:
    """As `replay`, with a detector object that may ask a model."""
    watched = Replay(run.id, detector, ask, options)
    await watched.further(run)
    return watched.ended(run)

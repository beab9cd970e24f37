"""Observe an agent that somebody else runs, with or without an event loop: it holds no step up.

with Observer("rules", "Make the tests pass.") as observer:
    ...                                    # behind each step of the agent:
    said = observer.after_action(steps)    # a step whose `text` the agent reads next, or None
observer.observed(steps)                   # what was asked, found and said
"""

import asyncio
import uuid
from collections import deque
from collections.abc import Coroutine, Sequence
from threading import Thread
from types import TracebackType
from typing import Any, TypeVar

from misstep.harness.clients.settings import ClientSettings
from misstep.harness.no_model import NO_MODEL
from misstep.harness.observer.detector_process import DetectorProcess
from misstep.harness.observer.detectors import check_model, detector_named, steps_between_questions
from misstep.harness.observer.model_ask import ModelAsk
from misstep.harness.observer.observer import Observer
from misstep.harness.records.intervention import Arm, ObservedRun
from misstep.harness.trajectory import Source, Step, Trajectory

_ENDED_SECONDS = 5.0

Result = TypeVar("Result")


class ObserverBeside(Observer):
    """An observer of one run of an agent; `misstep.Observer`. Its process lives as long as the `with` block.

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
    ) -> None:
        check_model(detector, model)
        detector_named(detector)
        run = Trajectory(item or uuid.uuid4().hex, Source("misstep"), task)
        self._model_ask = ModelAsk(model, ClientSettings(base_url=base_url or None)) if model else None
        self._process = DetectorProcess(detector, self._model_ask or NO_MODEL)
        self._own_loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._own_loop.run_forever, daemon=True, name="misstep observer")
        self._ready: deque[Step] = deque()
        self._waits = False
        between = every or steps_between_questions(detector)
        super().__init__(run, self._process, every=between, arm=arm)

    def __enter__(self) -> "ObserverBeside":
        self._thread.start()
        self._done(self._process.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done(self.end())
        self._done(self._process.__aexit__(None, None, None))
        if self._model_ask is not None:
            self._done(self._model_ask.close())
        self._own_loop.call_soon_threadsafe(self._own_loop.stop)
        self._thread.join(_ENDED_SECONDS)
        if not self._thread.is_alive():
            self._own_loop.close()

    def after_action(self, steps: Sequence[Step]) -> Step | None:
        """Hand the run over as it is now; gives what the agent is told, where that is ready."""
        guidance = self._ready.popleft() if self._ready else None
        if guidance is not None:
            self._own_loop.call_soon_threadsafe(self._delivered, len(steps) - 1)
        self._own_loop.call_soon_threadsafe(self._look, tuple(steps))
        return guidance

    async def end(self, steps: Sequence[Step] | None = None) -> None:
        """The run is over: what is ready by now is not said any more."""
        await super().end(steps)
        if self._ready:
            self._ready.clear()
            self._delivered(None)

    def observed(self, steps: Sequence[Step]) -> ObservedRun:
        """Return the record of the run."""
        return self._done(self._observed(steps)) if self._thread.is_alive() else super().observed(steps)

    async def _observed(self, steps: Sequence[Step]) -> ObservedRun:
        return super().observed(steps)

    def _look(self, steps: tuple[Step, ...]) -> None:
        if self._waits:
            self.shown(steps)
        elif (guidance := super().after_action(steps)) is not None:
            self._waits = True
            self._ready.append(guidance)

    def _delivered(self, at: int | None) -> None:
        self._state.delivered(at)
        self._waits = False

    def _done(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._own_loop).result()

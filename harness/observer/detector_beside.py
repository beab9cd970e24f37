"""Questions to a detector that nobody waits for: rules answer at once, any other detector in a thread beside."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any

from misstep.harness.no_model import NO_MODEL
from misstep.harness.observer.detectors import asks_a_model, detected, detector_named
from misstep.harness.observer.replay import ReplayOptions, kept_of
from misstep.harness.protocols import Ask
from misstep.harness.records.intervention import Feedback
from misstep.harness.registry import raised
from misstep.harness.trajectory import Trajectory

SECONDS = 120.0
"""A question that takes longer has no answer."""

QUICK_SECONDS = 0.4
"""How long a detector without a model is waited for, so that a quick one speaks at the same call."""

_CLOSED_SECONDS = 1.0


class PendingFeedback:
    """One question on its way."""

    def __init__(self, answer: "Future[Feedback | str]", clock: Callable[[], float] = time.monotonic) -> None:
        self._answer, self._clock, self._began = answer, clock, clock()

    def done(self) -> bool:
        """Return whether there is an answer, or none to wait for any more."""
        return self._answer.done() or self._clock() - self._began > SECONDS

    def result(self) -> Feedback | str:
        """Return the answer, or why there is none."""
        if not self._answer.done():
            self._answer.cancel()
            return f"no answer within {SECONDS:g} seconds"
        return self._answer.result()


class DetectorBeside:
    """Asks a detector about a run; without a model to ask, `ask` is `None`."""

    def __init__(self, options: ReplayOptions, ask: Ask | None) -> None:
        self._options, self._ask = options, ask or NO_MODEL
        self._waits = ask is None
        self._detector = detector_named(options.detector)
        self._loop: Any = None

    def ask(self, run: Trajectory) -> PendingFeedback:
        """Ask about a run."""
        if not asks_a_model(self._options.detector):
            return PendingFeedback(self._at_once(run))
        import asyncio  # rules, which most sessions have, start faster without it

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=self._loop.run_forever, daemon=True, name="misstep questions")
            self._thread.start()
        answer = asyncio.run_coroutine_threadsafe(self._answer(run), self._loop)
        if self._waits:
            from concurrent.futures import wait

            wait([answer], QUICK_SECONDS)
        return PendingFeedback(answer)

    def close(self) -> None:
        """Stop the thread, whatever is open there; one that blocks is left."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_CLOSED_SECONDS)
            if not self._thread.is_alive():
                self._loop.close()

    async def _answer(self, run: Trajectory) -> Feedback | str:
        try:
            return kept_of(await detected(self._detector, run, self._ask), self._options)
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- a detector may raise anything
            return raised(error)

    def _at_once(self, run: Trajectory) -> "Future[Feedback | str]":
        answer: Future[Feedback | str] = Future()
        try:
            self._answer(run).send(None)
        except StopIteration as ended:  # as a rule awaits nothing, its first step is its last
            answer.set_result(ended.value)
        return answer

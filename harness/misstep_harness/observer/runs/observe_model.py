"""Runs put before a detector that asks a model, one question at a time: recorded ones, and one that goes on."""

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread

from misstep_harness.clients import ClientSettings
from misstep_harness.errors import Closing, MissingPrerequisite
from misstep_harness.intervention import Feedback, Intervention, ObservedRun
from misstep_harness.observer.detectors import detected, detector_named
from misstep_harness.observer.follow import Failures, Watch, worth_telling
from misstep_harness.observer.replay import ReplayOptions, replayed
from misstep_harness.observer.state import ObserverState
from misstep_harness.registry import raised
from misstep_harness.runs.model_requests import ConcurrentRequests, ItemAsk, ModelRequests
from misstep_harness.trajectory import Trajectory

_CLOSED_SECONDS = 5.0
"""How long a client that still waits for an answer may take to close."""


class ModelReplay:
    """An observer of recorded runs that asks a model; `observe_paths` calls it on each run."""

    def __init__(self, options: ReplayOptions, model: str) -> None:
        self._options, self._model = options, model
        self._detector = detector_named(options.detector)

    async def __call__(self, run: Trajectory, requests: ModelRequests) -> tuple[ObservedRun, float | None] | None:
        """Return the record of a run and its cost; `None` if the requests ended before it was done."""
        ask = ItemAsk(requests, run.id, self._model)
        record = await replayed(run, self._detector, ask, self._options)
        return None if requests.ended() else (record, ask.spent_usd)


class ModelFollow(Closing):
    """The observer of a run that is being written: a look takes an answer that is there, and waits for none."""

    def __init__(self, options: ReplayOptions, settings: ClientSettings, model: str, failures: Failures) -> None:
        self._options, self._model, self._failures = options, model, failures
        self._detector = detector_named(options.detector)
        self._requests = ConcurrentRequests(settings, 1)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._open: set[Future[Feedback]] = set()

    def __call__(self, begun: Trajectory) -> Watch:
        """Begin to watch a run; each look may raise `MissingPrerequisite`."""
        state = self._options.state(begun.id, self._detector.name)
        ask = ItemAsk(self._requests, begun.id, self._model)
        question: Future[Feedback] | None = None

        def look(run: Trajectory) -> list[Intervention]:
            nonlocal question
            interventions = len(state.observed(run.steps).interventions)
            if question is not None and question.done():
                self._take(question, state, run)
                question = None
                _check(self._requests)
            if state.due(run.steps):
                state.question_open(run.steps)
                question = asyncio.run_coroutine_threadsafe(detected(self._detector, run, ask), self._loop)
                self._open.add(question)
            record = state.observed(run.steps)
            self._failures.tell_of(record)
            return worth_telling(record.interventions[interventions:], self._options)

        return look

    def _take(self, question: "Future[Feedback]", state: ObserverState, run: Trajectory) -> None:
        self._open.discard(question)
        try:
            state.answered(question.result(), run.steps)
        except Exception as error:  # noqa: BLE001 -- a detector may raise anything
            state.failed(raised(error), run.steps)

    def close(self) -> None:
        """Cancel open questions and close the client."""
        for question in self._open:
            question.cancel()
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._requests.close(), self._loop).result(_CLOSED_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSED_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()


def _check(requests: ConcurrentRequests) -> None:
    requests.check()
    if requests.over_cost_limit:
        raise MissingPrerequisite(requests.over_cost_limit, "Give a higher --max-cost.")

"""Recorded runs replayed with a detector that asks a model, one question at a time as beside a running agent."""

import asyncio
from types import TracebackType

from harness.clients import ClientSettings
from harness.errors import MissingPrerequisite
from harness.intervention import ObservedRun
from harness.observer.detectors import detector_named
from harness.observer.replay import ReplayOptions, replayed
from harness.runs.model_requests import ConcurrentRequests, ItemAsk
from harness.trajectory import Trajectory


class ModelReplay:
    """What `observe_paths` calls on each run, in this process; use it with `with`.

    Parameters
    ----------
    options
        How runs are replayed.
    settings, model
        The client, and the model that is asked.

    Raises
    ------
    UsageError
        There is no such detector.
    """

    def __init__(self, options: ReplayOptions, settings: ClientSettings, model: str) -> None:
        self._options, self._model = options, model
        self._detector = detector_named(options.detector)
        self._requests = ConcurrentRequests(settings, 1)
        self._runner = asyncio.Runner()

    def __call__(self, run: Trajectory) -> ObservedRun:
        """The record of a run.

        Raises
        ------
        MissingPrerequisite
            The server is gone, or the cost limit is reached: the run is not recorded.
        """
        ask = ItemAsk(self._requests, run.id, self._model)
        record = self._runner.run(replayed(run, self._detector, ask, self._options))
        self._requests.check()
        if self._requests.over_cost_limit:
            raise MissingPrerequisite(self._requests.over_cost_limit, "Give a higher --max-cost.")
        return record

    def __enter__(self) -> "ModelReplay":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(self._requests.close())
        self._runner.close()

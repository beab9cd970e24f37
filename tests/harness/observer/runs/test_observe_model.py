"""A model is the detector of recorded runs: what it says is recorded, and what stops it stops the run."""

import asyncio
import json
import time
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from misstep_harness.clients import ClientSettings
from misstep_harness.errors import MissingPrerequisite
from misstep_harness.exchange import Request
from misstep_harness.intervention import ObservedRun
from misstep_harness.observer.detectors import kinds
from misstep_harness.observer.follow import Failures
from misstep_harness.observer.replay import ReplayOptions
from misstep_harness.observer.runs.observe_model import ModelFollow, ModelReplay
from misstep_harness.runs.model_requests import ConcurrentRequests
from misstep_harness.trajectory import Trajectory
from tests.harness.classifiers.building import bash, run, user

LOOP = run(user("List the files."), *[bash("cat notes.txt", "Nothing is written here yet.", 0) for _ in range(7)])
LONGER = run(user("List the files."), *[bash("cat notes.txt", "Nothing is written here yet.", 0) for _ in range(9)])
PROMPTED, GUIDED = ReplayOptions("prompted"), ReplayOptions("prompted", arm="guide")


def sees_a_loop(_: Request) -> str:
    steps = {name: [1, 2, 3] if name == "infinite_loop" else [] for name in kinds()}
    return json.dumps({"reasoning": "It goes round.", "label": "yes", **steps})


ASKED = Event()


def waits_for_it(request: Request) -> str:
    ASKED.wait(60)
    return sees_a_loop(request)


def mumbles(_: Request) -> str:
    return "Hm."


def _settings(script: str, **more: object) -> ClientSettings:
    return ClientSettings(client="scripted", script=f"{__name__}:{script}", **more)  # type: ignore[arg-type]


def _replayed(settings: ClientSettings, *runs: Trajectory) -> list[ObservedRun]:
    """Return the records of runs whose requests did not end before."""

    async def replay() -> list[ObservedRun]:
        requests, observe = ConcurrentRequests(settings, 1), ModelReplay(PROMPTED, "made-up")
        results = [await observe(one, requests) for one in runs]
        await requests.close()
        requests.check()
        return [result[0] for result in results if result is not None]

    return asyncio.run(replay())


def test_what_the_model_says_is_recorded_of_each_run_in_turn() -> None:
    records = _replayed(_settings("sees_a_loop"), LOOP, LOOP)
    assert records[0] == records[1]
    (asked,) = records[0].invocations
    assert (asked.step, [one.category for one in asked.misbehaviours]) == (5, ["infinite_loop"])


def test_a_reply_that_cannot_be_read_is_a_question_without_an_answer() -> None:
    (asked,) = _replayed(_settings("mumbles"), LOOP)[0].invocations
    assert asked.status == "failed"
    assert "NoAnswer" in asked.error


def test_without_a_server_the_run_stops() -> None:
    nobody = ClientSettings(base_url="http://127.0.0.1:9/v1", attempts=1)
    with pytest.raises(MissingPrerequisite):
        _replayed(nobody, LOOP)


def first_of(looked: Callable[[], Any]) -> Any:
    """What is seen at last, with looks a moment apart."""
    deadline = time.monotonic() + 60
    while not (seen := looked()) and time.monotonic() < deadline:
        Event().wait(0.01)
    return seen


def test_a_run_that_goes_on_is_asked_about_without_a_look_that_waits() -> None:
    texts: list[str] = []
    with ModelFollow(GUIDED, _settings("waits_for_it"), "made-up", Failures(texts.append)) as begin:
        look = begin(LOOP)
        assert look(LOOP) == []
        assert look(LONGER) == [], "the question is still open"
        ASKED.set()
        (said,) = first_of(lambda: look(LONGER))
    assert (said.detected_at, said.delivered_at) == (7, 9)
    assert said.guidance
    assert not texts


def test_why_a_model_gave_no_answer_about_a_run_that_goes_on_is_told() -> None:
    texts: list[str] = []
    with ModelFollow(GUIDED, _settings("mumbles"), "made-up", Failures(texts.append)) as begin:
        look = begin(LOOP)
        look(LOOP)
        first_of(lambda: look(LOOP) or texts)
    assert texts[0].startswith("NoAnswer")


def test_a_run_that_goes_on_is_not_watched_without_a_server() -> None:
    nobody = ClientSettings(base_url="http://127.0.0.1:9/v1", attempts=1)
    with ModelFollow(GUIDED, nobody, "made-up", Failures(print)) as begin:
        look = begin(LOOP)
        with pytest.raises(MissingPrerequisite):
            first_of(lambda: look(LOOP))

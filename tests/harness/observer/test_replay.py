"""A recorded run is replayed with made-up delays: what is asked when, what comes of an answer, and where it goes on."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from misstep_harness.generate.sessions import generate_sessions
from misstep_harness.intervention import Feedback, Misbehaviour, ObservedRun
from misstep_harness.observer.detectors import detector_named
from misstep_harness.observer.replay import Replay, ReplayOptions, replay, replayed
from misstep_harness.protocols import NO_MODEL, Ask
from misstep_harness.trajectory import Trajectory
from tests.harness.classifiers.building import bash, run, user

LOOP = run(user("List the files."), *[bash("cat notes.txt", "Nothing is written here yet.", 0) for _ in range(20)])


class _Late:
    """A detector that is sure only from the tenth step on of what happened in the third."""

    name = "late"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        return Feedback((Misbehaviour("made_up", (3,)),) if len(trajectory.steps) > 10 else ())


class _Broken:
    name = "broken"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        raise RuntimeError("no reply")


def _replayed(detector: object, options: ReplayOptions, trajectory: Trajectory = LOOP) -> ObservedRun:
    return asyncio.run(replayed(trajectory, detector, NO_MODEL, options))  # type: ignore[arg-type]


@pytest.mark.parametrize("delay", [0, 1, 4])
def test_an_answer_is_taken_as_many_steps_of_the_agent_later_as_the_detector_takes(delay: int) -> None:
    observed = replay(LOOP, ReplayOptions(delay=delay, arm="guide"))
    answered = [one for one in observed.invocations if one.status == "answered"]
    assert answered
    assert {one.answered_at - one.step for one in answered if one.answered_at is not None} == {delay}
    first = observed.interventions[0]
    assert (first.detected_at, first.delivered_at) == (5, 5 + delay)


def test_what_a_detector_raises_costs_its_question_and_nothing_else() -> None:
    observed = _replayed(_Broken(), ReplayOptions(every=10))
    assert [(one.step, one.status, one.error) for one in observed.invocations] == [
        (10, "failed", "RuntimeError: no reply"),
        (20, "failed", "RuntimeError: no reply"),
    ]


def test_what_a_detector_raised_on_the_last_question_is_said_though_the_run_ends_first() -> None:
    observed = _replayed(_Broken(), ReplayOptions(every=20, delay=9))
    assert [(one.status, one.error) for one in observed.invocations] == [("failed", "RuntimeError: no reply")]


def test_what_shows_only_later_is_news_though_its_evidence_is_old_and_news_once() -> None:
    observed = _replayed(_Late(), ReplayOptions(every=5))
    assert [(one.step, bool(one.misbehaviours)) for one in observed.invocations] == [
        (5, False),
        (10, True),
        (15, False),
        (20, False),
    ]


def test_only_the_categories_that_are_asked_for_are_kept() -> None:
    assert replay(LOOP, ReplayOptions(categories=("infinite_loop",))).interventions
    assert not replay(LOOP, ReplayOptions(categories=("tool_call_failure",))).interventions


def test_where_an_event_loop_runs_already_a_run_is_replayed_all_the_same() -> None:
    async def in_a_notebook() -> ObservedRun:
        return replay(LOOP, ReplayOptions())

    assert asyncio.run(in_a_notebook()) == replay(LOOP, ReplayOptions())


CASES = [case.trajectory for case in generate_sessions(40, 3)]


@given(case=st.sampled_from(CASES), data=st.data())
def test_a_run_that_comes_in_parts_is_observed_like_a_whole_one(case: Trajectory, data: st.DataObject) -> None:
    options = ReplayOptions(every=data.draw(st.integers(1, 6)), arm="guide")
    cut = data.draw(st.integers(0, len(case.steps)))

    async def in_two() -> tuple[ObservedRun, int]:
        one = Replay(case.id, detector_named("rules"), NO_MODEL, options)
        first = await one.further(structs.replace(case, steps=case.steps[:cut]))
        second = await one.further(case)
        return one.ended(case), len(first) + len(second)

    whole = replay(case, options)
    assert asyncio.run(in_two()) == (whole, len(whole.interventions))

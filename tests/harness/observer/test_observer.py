"""The observer of a run that goes on: it looks on, it steers, and it never holds the agent up."""

import asyncio
import os
from collections.abc import Sequence

import pytest

from misstep import MisstepError, Observer, Step
from misstep_harness.agent.loop import AgentLimits, run_agent
from misstep_harness.agent.protocols import Task
from misstep_harness.exchange import Outcome, Reply, Request
from misstep_harness.intervention import INTERVENTION
from misstep_harness.observer import observer as module
from misstep_harness.observer.observer import LiveObservation
from misstep_harness.trajectory import Trajectory
from tests.harness.agent.folders import NoModel, environment
from tests.harness.agent.test_loop import FILES, Scripted
from tests.harness.observer.made_up_runs import asked, read

COMMANDS = ["read_file file_path='a.py'"] * 12
STEPS = [asked(), *[read()] * 5]
_ANSWERED = 60.0


def _bad(name: str) -> str:
    return f"tests.harness.observer.bad_detectors:{name}"


def _told(observer: Observer, steps: Sequence[Step] = STEPS) -> Step | None:
    """What the agent is told once the detector has answered about its run."""
    assert observer.after_action(steps) is None
    observer.wait(_ANSWERED)
    return observer.after_action(steps)


async def _run(watcher: Observer | None = None) -> Trajectory:
    task, limits = Task("run-1", "Mend it."), AgentLimits(len(COMMANDS), 9_999.0)
    return await run_agent(task, Scripted(*COMMANDS), environment(FILES), NoModel(), limits, lambda: 0.0, watcher)


def test_a_loop_is_spoken_of_and_the_process_ends_with_the_block() -> None:
    with Observer("rules", "Read a.", item="mine") as observer:
        process = observer._process.process_id
        reminder = _told(observer)
    assert reminder is not None
    assert "a.py" in reminder.text
    assert observer.categories(reminder) == ("infinite_loop",)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    record = observer.observed(STEPS)
    assert (record.item, record.every, record.interventions[0].delivered_at) == ("mine", 1, len(STEPS) - 1)


def test_guidance_stands_in_the_run_behind_the_action_after_which_it_came() -> None:
    class Waiting(Observer):
        """An observer whose agent takes long over each step."""

        def after_action(self, steps: Sequence[Step]) -> Step | None:
            self.wait(_ANSWERED)
            return super().after_action(steps)

    async def watched() -> tuple[Trajectory, Observer]:
        async with Waiting("rules") as observer:
            return await _run(observer), observer

    run, observer = asyncio.run(watched())
    first = observer.observed(run.steps).interventions[0]
    assert next(number for number, step in enumerate(run.steps) if step.extra) == first.delivered_at + 1
    assert run.steps[first.delivered_at + 1].extra == {INTERVENTION: 0}
    assert run.steps[first.delivered_at + 1].text == first.guidance
    assert tuple(step for step in run.steps if not step.extra) == asyncio.run(_run()).steps


@pytest.mark.parametrize("name", ["Hanging", "Heedless", "Blocking", "Computing"])
def test_an_agent_runs_as_it_would_alone_beside_a_detector_that_never_answers(name: str) -> None:
    async def watched() -> tuple[Trajectory, Observer]:
        async with Observer(_bad(name)) as observer:
            return await _run(observer), observer

    run, observer = asyncio.run(watched())
    assert run == asyncio.run(_run())
    record = observer.observed(run.steps)
    assert [(one.status, one.error) for one in record.invocations] == [("unanswered", "the run ended first")]
    assert record.skipped == 1, "never two questions are open"


@pytest.mark.parametrize(
    ("name", "text"),
    [("Raising", "ValueError: broken"), ("Wrong", "str where Feedback belongs"), ("Leaving", "ended")],
)
def test_a_detector_that_fails_costs_one_answer_and_is_asked_again(name: str, text: str) -> None:
    with Observer(_bad(name), every=1) as observer:
        for n in (2, 3, 4):
            assert _told(observer, STEPS[:n]) is None
    assert [one.status for one in observer.observed(STEPS).invocations] == ["failed"] * 3
    assert all(text in one.error for one in observer.observed(STEPS).invocations)


def test_a_question_that_meets_its_time_limit_is_unanswered_and_the_next_has_a_new_process(monkeypatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.0)
    with Observer(_bad("Blocking"), every=1) as observer:
        processes = set()
        for n in (2, 3):
            observer.after_action(STEPS[:n])
            processes.add(observer._process.process_id)
    assert len(processes) == 2
    assert observer.observed(STEPS).invocations[0].error == "no answer within 0 seconds"


def test_what_a_detector_raised_on_the_last_question_is_said_when_the_run_ends() -> None:
    with Observer(_bad("Raising"), every=1) as observer:
        observer.after_action(STEPS)
        observer.wait(_ANSWERED)
    (last,) = observer.observed(STEPS).invocations
    assert (last.status, "ValueError: broken" in last.error) == ("failed", True)


def test_an_answer_that_comes_with_the_end_is_recorded_and_not_said() -> None:
    with Observer("rules") as observer:
        observer.after_action(STEPS)
        observer.wait(_ANSWERED)
        asyncio.run(observer.end(STEPS))
    assert [one.withheld for one in observer.observed(STEPS).interventions] == ["ended"]


def test_a_detector_asks_the_runs_own_model_in_its_event_loop() -> None:
    loops = []

    class Echo:
        model = "small-1"

        async def __call__(self, request: Request) -> Outcome:
            loops.append(asyncio.get_running_loop())
            return Reply(f"{request.model}: heard", None, "stop", request.model, 1, 1, 0.1, None)

    async def rationale() -> str:
        async with LiveObservation(_bad("Asking"), 1, model="small-1").observer("run", "", Echo()) as observer:
            observer.after_action(STEPS[:2])
            await asyncio.to_thread(observer.wait, _ANSWERED)
            observer.heard(STEPS[:2])
            assert loops == [asyncio.get_running_loop()]
            return observer.observed(STEPS).invocations[0].misbehaviours[0].rationale

    assert asyncio.run(rationale()) == "small-1: heard 2"


@pytest.mark.parametrize(("detector", "model"), [("prompted", ""), ("rules", "m"), ("nobody", "")])
def test_a_detector_that_cannot_be_asked_is_refused(detector: str, model: str) -> None:
    with pytest.raises(MisstepError):
        Observer(detector, model=model)

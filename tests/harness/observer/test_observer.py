"""The observer of a live run: it looks on, it steers, and it never holds the agent up."""

import asyncio
import itertools
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.harness.agent.loop import AgentLimits, run_agent
from misstep.harness.agent.protocols import Task
from misstep.harness.observer.detector_process import DetectorProcess
from misstep.harness.observer.observer import Observer
from misstep.harness.records.intervention import INTERVENTION, Feedback, ObservedRun
from misstep.harness.trajectory import Source, Trajectory
from tests.harness.agent.folders import NoModel, environment
from tests.harness.agent.test_loop import FILES, Scripted
from tests.harness.observer.runs import looping

HEADER = Trajectory("run-1", Source("misstep"), agent="engineering_agent/scripted")
COMMANDS = ["read_file file_path='a.py'"] * 12


class Scheduled:
    """A detector in the agent's loop: its answer to each question comes as the script says."""

    name = "scheduled"

    def __init__(self, *answers: Feedback | Exception | str, turns: int = 1) -> None:
        self.answers = list(answers)
        self.turns = turns
        self.seen: list[int] = []
        self.running = self.most = 0

    async def detect(self, trajectory: Trajectory) -> Feedback:
        self.seen.append(len(trajectory.steps))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return await self._answer()
        finally:
            self.running -= 1

    async def _answer(self) -> Feedback:
        answer = self.answers.pop(0) if self.answers else Feedback()
        for _ in range(self.turns):
            await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        if answer == "never":
            await asyncio.Event().wait()
        for _ in range(2 if answer == "heedless" else 0):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue
        return answer if isinstance(answer, Feedback) else "wrong"  # type: ignore[return-value]


def _clock() -> Callable[[], float]:
    """One second later at each look: a wait that looks at the clock shows, and so does a step too many."""
    ticks = itertools.count()
    return lambda: float(next(ticks))


async def _watched(
    detector: Scheduled, arm: str = "guide", seconds: float = 60.0, commands: Sequence[str] = COMMANDS
) -> tuple[Trajectory, ObservedRun]:
    observer = Observer(HEADER, detector, arm=arm, seconds=seconds, clock=_clock())  # type: ignore[arg-type]
    run = await run_agent(
        Task("run-1", "Mend it."),
        Scripted(*commands),
        environment(FILES),
        NoModel(),
        AgentLimits(len(commands), 9_999.0),
        _clock(),
        observer,
    )
    return run, observer.observed(run.steps)


async def _alone() -> Trajectory:
    task, limits = Task("run-1", "Mend it."), AgentLimits(len(COMMANDS), 9_999.0)
    return await run_agent(task, Scripted(*COMMANDS), environment(FILES), NoModel(), limits, _clock())


def test_guidance_stands_in_the_run_behind_the_action_after_which_it_came() -> None:
    run, observed = asyncio.run(_watched(Scheduled(looping(4, 5, 6))))
    words = [(number, step.role, step.extra) for number, step in enumerate(run.steps) if step.extra]
    first = observed.interventions[0]
    assert first.detected_at == 6
    assert words == [(first.delivered_at + 1, "system", {INTERVENTION: 0})]
    assert run.steps[first.delivered_at + 1].text == first.guidance
    assert first.guidance.startswith("<system-reminder from=")
    assert observed.n_steps == len(run.steps) - 1


@pytest.mark.parametrize("answer", ["never", "heedless", "wrong", ValueError("broken"), looping(4, 5, 6)])
def test_an_agent_runs_as_it_would_alone_whatever_a_detector_does_in_shadow_mode(answer) -> None:
    run, _ = asyncio.run(_watched(Scheduled(*[answer] * 5), arm="shadow"))
    assert run == asyncio.run(_alone())


@pytest.mark.parametrize(
    "name", ["Hanging", "Heedless", "Blocking", "Computing", "Raising", "Leaving", "Flooding", "Wrong", "None"]
)
def test_an_agent_runs_as_it_would_alone_beside_a_bad_detector_in_its_process(name: str) -> None:
    async def watched() -> tuple[Trajectory, ObservedRun]:
        async with DetectorProcess(f"tests.harness.observer.bad_detectors:{name}", NoModel()) as detector:
            return await _watched(detector)  # type: ignore[arg-type]

    run, observed = asyncio.run(watched())
    assert run == asyncio.run(_alone())
    assert [one.status for one in observed.invocations] == ["unanswered"]
    assert observed.skipped == 1


def test_a_question_that_meets_its_time_limit_is_unanswered_and_the_next_is_asked() -> None:
    detector = Scheduled("never", "never", looping(*range(4, 12)))
    _, observed = asyncio.run(_watched(detector, seconds=0.0, commands=COMMANDS * 2))
    assert [one.status for one in observed.invocations][:2] == ["unanswered", "unanswered"]
    assert observed.invocations[0].error == "no answer within 0 seconds"
    assert detector.most == 1


def test_a_detector_that_fails_is_asked_again_when_it_is_due() -> None:
    _, observed = asyncio.run(_watched(Scheduled(ValueError("broken"), Feedback())))
    assert [(one.step, one.status) for one in observed.invocations] == [(6, "failed"), (11, "answered")]
    assert observed.invocations[0].error == "ValueError: broken"


def test_what_is_no_feedback_is_a_failed_question() -> None:
    _, observed = asyncio.run(_watched(Scheduled("wrong")))
    assert observed.invocations[0].status == "failed"
    assert "str where Feedback belongs" in observed.invocations[0].error


def test_the_detector_sees_a_copy_of_the_run_as_it_was() -> None:
    detector = Scheduled(turns=3)
    asyncio.run(_watched(detector))
    assert detector.seen == [7, 12]


def test_a_detector_that_is_asked_when_the_run_ends_is_stopped() -> None:
    detector = Scheduled("never")
    _, observed = asyncio.run(_watched(detector))
    assert detector.running == 0
    assert [(one.status, one.error) for one in observed.invocations] == [("unanswered", "the run ended first")]


ANSWERS = st.lists(
    st.sampled_from([Feedback(), looping(3, 4, 5), looping(8, 9), "never", "heedless", "wrong", ValueError("broken")]),
    max_size=4,
)


@given(ANSWERS, st.integers(0, 9), st.sampled_from([0.0, 60.0]))
def test_never_two_questions_are_open_and_the_agents_actions_keep_their_order(answers, turns, seconds) -> None:
    detector = Scheduled(*answers, turns=turns)
    run, observed = asyncio.run(_watched(detector, seconds=seconds))
    alone = asyncio.run(_alone())
    assert detector.most <= 1
    assert [step for step in run.steps if not step.extra] == list(alone.steps)
    assert len(observed.invocations) + observed.skipped == 2
    assert [step.extra[INTERVENTION] for step in run.steps if step.extra] == [
        number for number, one in enumerate(observed.interventions) if not one.withheld
    ]

"""An observer in made-up time delivers answers after a drawn number of steps, however long the detector takes."""

import asyncio

import pytest

from misstep_harness.intervention import Feedback, Misbehaviour
from misstep_harness.observer.experiment.observing import Beside, PacedObserver
from misstep_harness.protocols import NO_MODEL, Ask
from misstep_harness.trajectory import Step, ToolCall, ToolResult, Trajectory


class Slow:
    """Finds a loop at once, and answers after so many turns of the event loop."""

    name = "slow"

    def __init__(self, turns: int) -> None:
        self._turns = turns

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        for _ in range(self._turns):
            await asyncio.sleep(0)
        last = len(trajectory.steps) - 1
        return Feedback((Misbehaviour("infinite_loop", (last - 2, last - 1, last), "The call is repeated."),))


class Broken:
    """Fails."""

    name = "broken"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        raise RuntimeError("no idea")


def _steps(count: int) -> list[Step]:
    call = ToolCall("read_file", {"file_path": "a.py"})
    agent = Step("agent", "Again.", calls=(call,), results=(ToolResult("1 one"),))
    return [Step("system", "You are an agent."), Step("user", "Mend it."), *[agent] * count]


async def _delivered(observer: PacedObserver, count: int = 14) -> list[int]:
    """Behind how many commands the agent is told something."""
    texts = []
    for done in range(1, count + 1):
        if observer.after_action(_steps(done)) is not None:
            texts.append(done)
        await observer.settled()
    await observer.end(_steps(count))
    return texts


@pytest.mark.parametrize("delay", [1, 3])
def test_an_answer_comes_after_as_many_steps_whether_the_detector_is_quick_or_slow(delay: int) -> None:
    def told(turns: int) -> list[int]:
        beside = Beside("slow", every=5, delay=delay)
        return asyncio.run(_delivered(PacedObserver("run", "Mend it.", Slow(turns), NO_MODEL, beside, "guide")))

    assert told(0) == told(200)
    assert 6 <= told(0)[0] <= 5 + 2 * delay - 1


def test_in_the_shadow_arm_nothing_is_said_and_all_is_recorded() -> None:
    observer = PacedObserver("run", "Mend it.", Slow(0), NO_MODEL, Beside("slow", delay=1), "shadow")
    assert asyncio.run(_delivered(observer)) == []
    observed = observer.observed(_steps(14))
    assert [one.withheld for one in observed.interventions][:1] == ["shadow"]
    assert observed.n_steps == 16


def test_a_detector_that_fails_costs_its_answer_and_nothing_else() -> None:
    observer = PacedObserver("run", "Mend it.", Broken(), NO_MODEL, Beside("broken", delay=1), "guide")
    assert asyncio.run(_delivered(observer)) == []
    assert {one.status for one in observer.observed(_steps(14)).invocations} <= {"failed", "unanswered"}


def test_what_a_detector_raised_is_said_though_its_answer_is_not_due_when_the_run_ends() -> None:
    observer = PacedObserver("run", "Mend it.", Broken(), NO_MODEL, Beside("broken", delay=9), "guide")
    asyncio.run(_delivered(observer, 5))
    (last,) = observer.observed(_steps(5)).invocations
    assert (last.status, last.error) == ("failed", "RuntimeError: no idea")


def test_an_answer_that_is_not_due_when_the_run_ends_is_not_heard() -> None:
    observer = PacedObserver("run", "Mend it.", Slow(0), NO_MODEL, Beside("slow", delay=9), "guide")
    asyncio.run(_delivered(observer, 5))
    assert [one.status for one in observer.observed(_steps(5)).invocations] == ["unanswered"]

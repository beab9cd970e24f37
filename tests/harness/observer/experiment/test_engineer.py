"""The simulated engineer steps in when patience ends, and an observer is heard before."""

import asyncio
from collections.abc import Sequence
from random import Random

from misstep_harness.generate.voice import Voice
from misstep_harness.observer.experiment.drawing import rates
from misstep_harness.observer.experiment.session import Engineer, Watchers, failed_calls, seconds_of, tokens_of
from misstep_harness.trajectory import Step, ToolCall, ToolResult

VOICE = Voice(Random(0), "development")  # noqa: S311 (made-up data)


class Says:
    """A watcher that says one thing once."""

    def __init__(self) -> None:
        self.left = [Step("system", "Stop.")]
        self.ended = False

    def after_action(self, steps: Sequence[Step]) -> Step | None:  # noqa: ARG002
        return self.left.pop() if self.left else None

    async def end(self, steps: Sequence[Step]) -> None:  # noqa: ARG002
        self.ended = True


def test_the_engineer_says_nothing_before_patience_ends() -> None:
    counts = {"infinite_loop": 0}
    engineer = Engineer(lambda: list(counts.items()), 3, VOICE)
    texts = []
    for count in range(1, 4):
        counts["infinite_loop"] = count
        texts.append(engineer.after_action([]))
    assert [step and step.role for step in texts] == [None, None, "user"]
    assert engineer.interventions == 1


def test_of_two_who_look_on_the_first_is_heard_and_the_second_at_its_next_turn() -> None:
    observer, engineer = Says(), Engineer(lambda: [("infinite_loop", 9)], 3, VOICE)
    both = Watchers(observer, engineer)
    reminders = [both.after_action([]), both.after_action([])]
    assert [step and step.role for step in reminders] == ["system", "user"]
    asyncio.run(both.end([]))
    assert observer.ended


def test_each_command_is_asked_for_with_all_that_came_before() -> None:
    call = ToolCall("run_tests", {})
    agent = Step("agent", "x" * 38, calls=(call,), results=(ToolResult("y" * 60, is_error=True),))
    steps = [Step("user", "z" * 100), agent, agent]
    assert tokens_of(steps) == (100 // 4 + 200 // 4, 2 * 40 // 4)
    assert failed_calls(steps) == (2, 2)
    each = rates().seconds
    expected = 2 * (each["command"] + each["tests"]) + 75 * each["input_token"] + 20 * each["output_token"]
    assert seconds_of(steps, tokens_of(steps)) == round(expected, 1)

"""Without a fresh context an agent sees all that was said, and the oldest falls out, the task and the plan first."""

from hypothesis import given
from hypothesis import strategies as st

from misstep.harness.agent.turns import tokens_in_text
from misstep.harness.records.loop_events import (
    Checked,
    Happening,
    ItemBegan,
    LoopEvent,
    Planned,
    Reflected,
    TurnEnded,
    WorkItem,
)
from misstep.harness.reflexive.context import accumulated, assembled
from misstep.harness.reflexive.protocols import Part

ITEM = WorkItem("a", "c", "Do it.")
PARTS = (Part("task", "Do it."), Part("plan", "With chmod."), Part("reflection", "It is not there."))


def _attempts(number: int) -> list[LoopEvent]:
    happened: list[Happening] = [ItemBegan(), Planned("With chmod.")]
    for _ in range(number):
        happened += [
            TurnEnded("worker", "clumsy", "I ran chmod once more, in vain.", 1.0),
            Checked(True, "failed", "The mode is still 644."),
            Reflected("It is not there."),
        ]
    return [LoopEvent(place, 0.0, one, ITEM.id) for place, one in enumerate(happened)]


def test_the_task_falls_out_of_a_full_session_and_of_no_fresh_context() -> None:
    grown, record = accumulated("worker", ITEM, 30, PARTS, _attempts(30), 300)
    fresh, _ = assembled("worker", ITEM, 30, PARTS, 300)
    assert grown.part("task") == ""
    assert {part.name for part in record if part.shown == "left_out"} == {"task", "plan"}
    assert fresh.part("task") == "Do it."


def test_what_is_older_than_what_falls_out_falls_out_too() -> None:
    short_first = [LoopEvent(0, 0.0, ItemBegan(), ITEM.id), LoopEvent(1, 0.0, Planned("With chmod."), ITEM.id)]
    long_then = [LoopEvent(2, 0.0, Reflected("long " * 2_000), ITEM.id)]
    for room in range(200):
        context, _ = accumulated("worker", ITEM, 2, PARTS, short_first + long_then, room)
        assert context.part("task") == context.part("plan") == ""


@given(st.integers(0, 40), st.integers(0, 400))
def test_the_budget_is_not_exceeded_here_either(attempts: int, room: int) -> None:
    context, _ = accumulated("worker", ITEM, 1, PARTS, _attempts(attempts), room)
    assert tokens_in_text(context.text) <= room

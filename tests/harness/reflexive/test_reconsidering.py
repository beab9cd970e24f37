"""What follows from an attempt: what was learned counts, and the strategist is asked when there is something new."""

from pathlib import Path

from misstep.harness.agent.turns import Turn
from misstep.harness.records.loop_events import LessonLearned, LessonsRecalled, PutOff, ReEngaged, TurnEnded, WorkItem
from misstep.harness.reflexive.protocols import Context
from misstep.harness.reflexive.settings import LoopSettings
from tests.harness.reflexive.notebook import (
    Faults,
    NotebookSkill,
    Scripted,
    ends,
    happened,
    items,
    looped,
    saying,
    team,
    writing,
)

LESSON = saying("It failed.\nLESSON: Write the whole line of lines.")


def test_a_lesson_that_was_shown_counts_as_good_or_bad_advice(tmp_path: Path) -> None:
    events = looped(NotebookSkill(items("a")), team(writing("half", "half", "done"), LESSON), tmp_path)
    assert [each.outcome for each in happened(events, LessonLearned)] == ["new", "harmed", "again", "helped"]


def test_no_lesson_is_to_blame_for_a_check_that_was_not_made(tmp_path: Path) -> None:
    skill = NotebookSkill(items("a"), Faults(check_raises=True))
    events = looped(skill, team(writing("half", "done"), LESSON), tmp_path)
    assert happened(events, LessonsRecalled)[-1].lessons
    assert not [each for each in happened(events, LessonLearned) if each.outcome == "harmed"]


def test_a_lesson_for_which_there_is_no_room_was_not_shown(tmp_path: Path) -> None:
    narrow = LoopSettings(context_tokens={"planner": 60, "worker": 60, "reflector": 4_000, "strategist": 4_000})
    long = saying("Much was said. " * 40 + "\nLESSON: Write the whole line of lines. " + "Do it well. " * 40)
    events = looped(NotebookSkill(items("a")), team(writing("half"), long), tmp_path, narrow)
    recalled = happened(events, LessonsRecalled)
    assert recalled
    assert not any(each.lessons for each in recalled)
    assert {each.stored for each in recalled} == {1}


def test_the_strategist_is_asked_every_few_failures_and_not_at_each(tmp_path: Path) -> None:
    async def unlike(context: Context, turn: Turn) -> str:
        await turn.think(10.0)
        return ["Alpha.", "Beta.", "Gamma.", "Delta."][context.attempt % 4]

    agents = team(writing("half"), Scripted("reflector", unlike))
    events = looped(NotebookSkill(items("a")), agents, tmp_path)
    asked = [event.attempt for event in events if isinstance(event.happened, ReEngaged)]
    assert asked[:4] == [3, 6, 9, 12]
    assert {each.trigger for each in happened(events, ReEngaged)} == {"failures"}


def test_nobody_waits_for_itself_or_for_what_has_its_end(tmp_path: Path) -> None:
    for number, name in enumerate(("a", "b")):
        strategist = saying(f"VERDICT: SKIP_UNTIL\nUNTIL: {name}")

        async def act(context: Context, turn: Turn) -> str:
            return await writing("done" if context.item.id == "a" else "half").act(context, turn)

        events = looped(
            NotebookSkill(items("a", "b")), team(Scripted("worker", act), strategist=strategist), tmp_path / str(number)
        )
        assert not happened(events, PutOff)
        assert {(each.verdict, each.clean) for each in happened(events, ReEngaged)} == {("CONTINUE", False)}


def test_a_deferred_item_that_is_lost_with_its_verification_is_worked_on_again(tmp_path: Path) -> None:
    faults = Faults()

    async def act(context: Context, turn: Turn) -> str:
        first = context.item.id == "late" and context.attempt == 1
        if first:
            faults.restore_fails.add("progress")
        return await writing("wrong" if first else "done").act(context, turn)

    work = (*items("a"), WorkItem("late", "lines", "late", deferred=True))
    events = looped(NotebookSkill(work, faults), team(Scripted("worker", act)), tmp_path)
    assert {name: end.end for name, end in ends(events).items()} == {"a": "solved", "late": "solved"}
    assert sum(turn.role == "worker" for turn in happened(events, TurnEnded, "late")) == 2

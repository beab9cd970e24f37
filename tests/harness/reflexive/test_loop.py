"""Each item is attempted until it has its one end, and the target is whole between two attempts."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_harness.agent.clocks import RealClock, VirtualClock
from misstep_harness.agent.protocols import TurnLimits
from misstep_harness.agent.turns import Turn
from misstep_harness.journal.records import encode
from misstep_harness.reflexive.log import Log
from misstep_harness.reflexive.loop import run_loop
from misstep_harness.reflexive.protocols import Agents, Context
from misstep_harness.reflexive.records import (
    Checked,
    Diagnosed,
    Failed,
    Happening,
    ItemBegan,
    ItemEnded,
    ItemLimits,
    LessonLearned,
    LessonsRecalled,
    LoopSettings,
    Planned,
    PutOff,
    ReEngaged,
    Reflected,
    Restored,
    RunEnded,
    SnapshotTaken,
    TurnEnded,
    Warned,
    WorkItem,
)
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


def test_an_item_is_attempted_until_its_check_passes(tmp_path: Path) -> None:
    events = looped(NotebookSkill(items("a")), team(writing("half", "done")), tmp_path)
    assert ends(events)["a"].reason == "check_passed"
    assert [one.kind for one in happened(events, Failed)] == ["check_failed"]
    assert len(happened(events, SnapshotTaken)) == 1
    assert isinstance(events[-1].happened, RunEnded)


def test_an_item_whose_attempts_take_no_time_ends_at_the_cap(tmp_path: Path) -> None:
    settings = LoopSettings(item=ItemLimits(attempts=5))
    agents = team(writing("half", seconds=0.0), saying("Again.", seconds=0.0))
    events = looped(NotebookSkill(items("a")), agents, tmp_path, settings)
    assert (ends(events)["a"].end, len(happened(events, Failed))) == ("attempt_cap", 5)


def test_a_failed_attempt_is_diagnosed_then_reverted_then_reflected_on_with_facts(tmp_path: Path) -> None:
    skill = NotebookSkill(items("a"))
    events = looped(skill, team(writing("broken=yes", "done")), tmp_path)
    wanted = (Failed, Diagnosed, Restored, Reflected)
    assert [type(each.happened) for each in events if isinstance(each.happened, wanted)] == list(wanted)
    assert happened(events, Diagnosed)[0].channel == "out_of_band"
    assert "access" in happened(events, Reflected)[0].facts
    assert "broken" not in skill.opened[0].lines


def test_a_check_that_raises_is_unknown_and_never_a_success(tmp_path: Path) -> None:
    events = looped(NotebookSkill(items("a"), Faults(check_raises=True)), team(writing("done")), tmp_path)
    assert ends(events)["a"].end == "time_budget"
    result = happened(events, Checked)[0]
    assert (result.status, result.counted) == ("unknown", "unknown")
    assert result.text == "The check could not be made: ValueError: the scanner crashed"
    assert happened(events, Failed)[0].kind == "check_unknown"
    assert not happened(events, SnapshotTaken)


def test_what_no_file_can_hold_does_not_stop_the_log(tmp_path: Path) -> None:
    async def act(context: Context, turn: Turn) -> str:  # noqa: ARG001
        await turn.think(30.0)
        await turn.call("wr\ud800ite", {"na\ud800me": "\ud800"})
        return "\ud800"

    written: list[bytes] = []
    clock, skill = VirtualClock(), NotebookSkill(items("a"))
    log = Log(clock, lambda event: written.append(encode(event)))
    with skill.open(tmp_path, clock) as target:
        dials = LoopSettings(item=ItemLimits(attempts=4))
        asyncio.run(run_loop(skill, target, team(Scripted("worker", act)), dials, clock, log))
    assert len(written) == len(log.events)


def test_an_agent_that_raises_costs_its_attempt_alone(tmp_path: Path) -> None:
    async def act(context: Context, turn: Turn) -> str:
        if context.attempt == 1:
            raise RuntimeError("the context overflowed")
        return await writing("done").act(context, turn)

    events = looped(NotebookSkill(items("a")), team(Scripted("worker", act)), tmp_path)
    assert ends(events)["a"].end == "solved"
    assert happened(events, TurnEnded)[1].error == "RuntimeError: the context overflowed"


def test_what_the_harness_says_of_a_turn_is_neither_a_plan_nor_a_reflection(tmp_path: Path) -> None:
    endless = saying("Let me think.", seconds=1_000.0)
    agents = Agents(endless, writing("half"), endless, saying("VERDICT: CONTINUE"))
    events = looped(NotebookSkill(items("a")), agents, tmp_path)
    assert {turn.over for turn in happened(events, TurnEnded) if turn.role != "worker"} == {"seconds", None}
    assert happened(events, Planned)[0].plan == ""
    assert not happened(events, Reflected)


def test_a_check_takes_of_the_time_of_its_item(tmp_path: Path) -> None:
    skill = NotebookSkill(items("a"), Faults(seconds_a_check=400.0))
    events = looped(skill, team(writing("half")), tmp_path)
    assert len(happened(events, Failed)) == 3
    assert happened(events, ItemEnded)[0].seconds == 10.0 + 3 * (30.0 + 400.0) + 2 * 10.0


def test_no_reflection_and_no_strategist_when_too_little_time_is_left(tmp_path: Path) -> None:
    settings = LoopSettings(item=ItemLimits(seconds=100.0), failures_between=1)
    events = looped(NotebookSkill(items("a")), team(writing("half")), tmp_path, settings)
    assert not happened(events, ReEngaged)
    assert not happened(events, Reflected)
    assert [turn.role for turn in happened(events, TurnEnded)] == ["planner", "worker", "worker", "worker"]
    assert happened(events, TurnEnded)[-1].over is None


@pytest.mark.parametrize(
    ("limits", "reason"), [(ItemLimits(tokens=300), "token_budget"), (ItemLimits(usd=0.02), "cost_budget")]
)
def test_tokens_and_money_are_budgets_as_time_is(limits: ItemLimits, reason: str, tmp_path: Path) -> None:
    async def act(context: Context, turn: Turn) -> str:
        turn.pay(100, 0.01)
        return await writing("half").act(context, turn)

    events = looped(NotebookSkill(items("a")), team(Scripted("worker", act)), tmp_path, LoopSettings(item=limits))
    assert (ends(events)["a"].end, ends(events)["a"].reason) == ("failed", reason)


def test_what_is_lost_with_the_snapshot_is_named_and_done_again(tmp_path: Path) -> None:
    faults = Faults()

    async def act(context: Context, turn: Turn) -> str:
        if context.item.id == "b" and context.attempt == 1:
            faults.restore_fails.add("progress")
        return await writing("half" if context.item.id == "b" and context.attempt < 3 else "done").act(context, turn)

    events = looped(NotebookSkill(items("a", "b"), faults), team(Scripted("worker", act)), tmp_path)
    assert {name: end.end for name, end in ends(events).items()} == {"a": "solved", "b": "solved"}
    wanted = [("progress", False), ("baseline", True)]
    assert [(one.name, one.verified) for one in happened(events, Restored)][:2] == wanted
    assert any(warning.text.endswith("and with it: a.") for warning in happened(events, Warned))
    assert len(happened(events, ItemEnded, "a")) == 2
    assert len([event for event in events if isinstance(event.happened, ItemBegan) and event.item == "a"]) == 2


def test_the_same_happens_in_real_time_as_in_virtual_time(tmp_path: Path) -> None:
    """Milliseconds of real waiting, the thing that is tested here."""
    seconds = 0.004
    agents = Agents(
        saying("Write the line.", seconds),
        writing("half", "broken=yes", "=", "done", seconds=seconds),
        saying("It failed.\nLESSON: Write the whole line.", seconds),
        saying("VERDICT: PIVOT\nPLAN: Write it.", seconds),
    )
    limits = TurnLimits(seconds=5.0)
    dials = LoopSettings(
        item=ItemLimits(seconds=60.0),
        turns=dict.fromkeys(("planner", "worker", "reflector", "strategist"), limits),
        least_seconds_to_reflect=0.1,
        least_seconds_to_re_engage=0.1,
    )
    texts = []
    for clock in (VirtualClock(), RealClock()):
        log, skill = Log(clock), NotebookSkill(items("a", "b"))
        with skill.open(tmp_path / type(clock).__name__, clock) as target:
            asyncio.run(run_loop(skill, target, agents, dials, clock, log))
        texts.append([(event.item, event.attempt, without_seconds(event.happened)) for event in log.events])
        assert log.events[-1].at >= 18 * seconds
    assert texts[0] == texts[1]


def without_seconds(happening: Happening) -> Happening:
    if isinstance(happening, ItemEnded | TurnEnded):
        return replace(happening, seconds=0.0)
    return happening


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

"""Each failure mode happens where its mechanism is left out of the loop, and does not where it is in place."""

import itertools
from pathlib import Path

import pytest

from misstep_harness.agent.turns import Turn
from misstep_harness.reflexive.protocols import Agents, Context
from misstep_harness.reflexive.records import (
    Checked,
    Deferred,
    Diagnosed,
    Failed,
    GapFound,
    Halted,
    ItemBegan,
    ItemEnded,
    ItemLimits,
    LessonsRecalled,
    LoopEvent,
    LoopSettings,
    PlateauFound,
    ReEngaged,
    Reflected,
    Restored,
    SnapshotTaken,
    TurnEnded,
    Verified,
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


def with_and_without(
    mechanism: str,
    work: tuple[WorkItem, ...],
    agents: Agents,
    folder: Path,
    *,
    faults: Faults | None = None,
    most: ItemLimits = ItemLimits(),  # noqa: B008 -- frozen
) -> tuple[list[LoopEvent], list[LoopEvent]]:
    runs = [
        looped(
            NotebookSkill(work, faults),
            agents,
            folder / str(len(left)),
            LoopSettings(item=most, without=frozenset(left)),
        )
        for left in ((), (mechanism,))
    ]
    return runs[0], runs[1]


async def _sixteen_times(context: Context, turn: Turn) -> str:
    for number in range(16):
        await turn.think(1.0)
        await turn.call("write", {"name": context.item.id, "value": f"try {number}"})
    return "I tried sixteen times."


async def _by_the_facts(context: Context, turn: Turn) -> str:
    await turn.think(10.0)
    return "The worker broke the way in." if "broken=yes" in context.part("facts") else "It failed again."


async def _by_the_reflection(context: Context, turn: Turn) -> str:
    knows = "broke the way in" in context.part("reflection")
    await turn.think(30.0)
    name, value = (context.item.id, "done") if knows else ("broken", "yes")
    await turn.call("write", {"name": name, "value": value})
    return "written"


async def _by_the_plan(context: Context, turn: Turn) -> str:
    await turn.think(30.0)
    await turn.call("write", {"name": context.item.id, "value": "done" if "done" in context.part("plan") else "half"})
    return "written"


async def _unlike_each_time(context: Context, turn: Turn) -> str:
    await turn.think(30.0)
    await turn.call("write", {"name": context.item.id, "value": f"way {context.attempt}"})
    return "written"


async def _escalate_a_gap(context: Context, turn: Turn) -> str:
    await turn.think(10.0)
    gap = context.part("trigger") == "evaluator_gap"
    return "VERDICT: ESCALATE\nREASON: The check is wrong." if gap else "VERDICT: CONTINUE"


async def _done_and_once_more(context: Context, turn: Turn) -> str:
    await turn.think(30.0)
    await turn.call("write", {"name": context.item.id, "value": "done"})
    await turn.call("write", {"name": context.item.id, "value": "to be safe"})
    return "written twice"


def test_hidden_retries_within_a_turn(tmp_path: Path) -> None:
    heard: list[str] = []

    async def listen(context: Context, turn: Turn) -> str:
        await turn.think(10.0)
        heard.append(context.part("hidden_calls"))
        return "It failed."

    agents = team(Scripted("retrier", _sixteen_times), Scripted("reflector", listen))
    most = ItemLimits(attempts=1)
    on, off = with_and_without("turn_budgets", items("a"), agents, tmp_path, most=most)
    counts = [
        [(len(turn.calls), turn.refused) for turn in happened(run, TurnEnded) if turn.role == "worker"]
        for run in (on, off)
    ]
    assert counts == [[(1, 1)], [(16, 0)]]
    assert heard == ["1 command(s) were carried out and 1 refused within this one turn.", ""]
    assert [reflected.hidden for reflected in happened(on, Reflected) + happened(off, Reflected)] == [1, 0]


def test_a_corrupted_target(tmp_path: Path) -> None:
    agents = team(writing("broken=yes", "done"))
    on, off = with_and_without("snapshots", items("a", "b"), agents, tmp_path)
    assert {end.end for end in ends(on).values()} == {"solved"}
    assert all(restored.verified for restored in happened(on, Restored))
    assert {end.end for end in ends(off).values()} == {"time_budget"}
    assert not any(restored.reachable for restored in happened(off, Restored))
    assert len(happened(off, Failed, "b")) > 10
    assert not happened(off, Halted)


def test_blind_reflections(tmp_path: Path) -> None:
    agents = team(Scripted("worker", _by_the_reflection), Scripted("reflector", _by_the_facts))
    on, off = with_and_without("diagnostics", items("a"), agents, tmp_path)
    assert (ends(on)["a"].end, ends(off)["a"].end) == ("solved", "time_budget")
    assert all(reflected.facts for reflected in happened(on, Reflected))
    assert not any(reflected.facts for reflected in happened(off, Reflected))
    assert not happened(off, Diagnosed)


def test_a_diagnosis_that_needs_what_is_broken(tmp_path: Path) -> None:
    agents = team(Scripted("worker", _by_the_reflection), Scripted("reflector", _by_the_facts))
    on, off = with_and_without("out_of_band", items("a"), agents, tmp_path)
    assert (ends(on)["a"].end, ends(off)["a"].end) == ("solved", "time_budget")
    seen, missed = happened(on, Diagnosed)[0], happened(off, Diagnosed)[0]
    assert (seen.channel, seen.flags) == ("out_of_band", {"reachable": False})
    assert "a password is required" in seen.why
    assert (missed.channel, missed.flags) == ("none", {"reachable": None})


def test_a_strategy_that_nobody_reconsiders(tmp_path: Path) -> None:
    async def something_else(context: Context, turn: Turn) -> str:
        await turn.think(10.0)
        return ("The quota is used up.", "A comma is missing.", "Nobody opened the port.")[context.attempt % 3]

    reflector, strategist = Scripted("reflector", something_else), saying("VERDICT: PIVOT\nPLAN: Write done.")
    agents = team(Scripted("worker", _by_the_plan), reflector, strategist)
    on, off = with_and_without("re_engagement", items("a"), agents, tmp_path)
    assert ends(on)["a"].reason == "check_passed"
    assert [asked.trigger for asked in happened(on, ReEngaged)] == ["failures"]
    assert ends(off)["a"].reason == "time_budget"
    assert not happened(off, ReEngaged)


def test_attempts_counted_where_time_is_scarce(tmp_path: Path) -> None:
    late = team(writing(*["half"] * 6, "done"))
    on, off = with_and_without("time_budget", items("a"), late, tmp_path)
    assert (ends(on)["a"].end, ends(off)["a"].end) == ("solved", "attempt_cap")
    slow = team(
        writing("half", seconds=300.0), saying("Wait.", seconds=110.0), saying("VERDICT: CONTINUE", seconds=110.0)
    )
    on, off = with_and_without("time_budget", items("a"), slow, tmp_path)
    assert on[-1].at == 1200.0
    assert off[-1].at > 1200.0


@pytest.mark.parametrize("name", ["nopasswd", "a"])
def test_words_that_look_like_success(name: str, tmp_path: Path) -> None:
    on, off = with_and_without("typed_evaluation", items(name), team(writing("sick=yes")), tmp_path)
    assert ends(on)[name].end == "time_budget"
    believed = ends(off)[name]
    assert (believed.end, believed.reason) == (
        ("solved", "believed_solved") if name == "nopasswd" else ("time_budget",) * 2
    )
    first = happened(off, Checked)[0]
    assert (first.healthy, first.status) == (False, "failed")


def test_a_target_beyond_recovery(tmp_path: Path) -> None:
    faults = Faults(restore_fails={"baseline", "progress"})
    on, off = with_and_without("halting", items("a", "b"), team(writing("broken=yes")), tmp_path, faults=faults)
    assert {end.reason for end in ends(on).values()} == {"target_unrecoverable"}
    assert len(happened(on, Failed)) == len(happened(on, Halted)) == 1
    assert [turn.role for turn in happened(on, TurnEnded)] == ["planner", "worker"]
    assert not happened(off, Halted)
    assert len(happened(off, Failed)) > 20
    assert "beyond recovery" in happened(off, Warned)[-1].text


def test_a_deferred_check_that_nobody_makes(tmp_path: Path) -> None:
    work = (WorkItem("a", "lines", "a", deferred=True), WorkItem("b", "lines", "b", deferred=True), *items("c"))

    async def act(context: Context, turn: Turn) -> str:
        return await writing("wrong" if context.item.id == "b" else "done").act(context, turn)

    on, off = with_and_without("verified_deferrals", work, team(Scripted("worker", act)), tmp_path)
    wanted = {"c": "check_passed", "a": "verified_later", "b": "verification_failed"}
    assert {name: end.reason for name, end in ends(on).items()} == wanted
    assert [verified.status for verified in happened(on, Verified)] == ["passed", "failed"]
    last = [type(event.happened) for event in on if event.item == "b"][-4:]
    assert last == [Verified, Diagnosed, Restored, ItemEnded]
    times = [event.at for event in on if isinstance(event.happened, Verified | ItemBegan)][-4:]
    assert [later - sooner for sooner, later in itertools.pairwise(times)] == [190.0, 0.0, 190.0]
    assert {end.reason for name, end in ends(off).items() if name != "c"} == {"believed_solved"}
    assert not happened(off, Verified)
    assert not happened(off, Deferred)


def test_order_that_is_only_wished_for(tmp_path: Path) -> None:
    work = (
        WorkItem("lockdown", "lines", "lockdown", last=True),
        WorkItem("b", "lines", "b", after=("a",)),
        *items("a"),
    )
    on, off = with_and_without("ordering", work, team(writing("done")), tmp_path)
    order = [[event.item for event in run if isinstance(event.happened, ItemBegan)] for run in (on, off)]
    assert order == [["a", "b", "lockdown"], ["lockdown", "b", "a"]]


def test_a_check_that_is_wrong(tmp_path: Path) -> None:
    agents = team(Scripted("worker", _unlike_each_time), strategist=Scripted("strategist", _escalate_a_gap))
    on, off = with_and_without("gap_detection", items("a"), agents, tmp_path)
    assert (ends(on)["a"].reason, happened(on, GapFound)[0]) == ("evaluator_gap", GapFound(3, 3))
    assert ends(off)["a"].reason == "time_budget"


def test_a_success_that_is_taken_back(tmp_path: Path) -> None:
    agents = team(Scripted("worker", _done_and_once_more))
    on, off = with_and_without("check_is_authoritative", items("a"), agents, tmp_path)
    assert (ends(on)["a"].end, happened(on, TurnEnded)[1].over) == ("solved", "tool_calls")
    assert not happened(on, Restored)
    assert (ends(off)["a"].end, happened(off, Failed)[0].kind) == ("time_budget", "over_budget")


def test_a_check_that_the_worker_weakens(tmp_path: Path) -> None:
    agents = team(writing("rules=nothing is checked"))
    on, off = with_and_without("protected_check", items("a", "b"), agents, tmp_path)
    assert {end.end for end in ends(on).values()} == {"time_budget"}
    assert (happened(on, Failed)[0].kind, happened(on, Checked)[0].status) == ("check_weakened", "passed")
    assert not happened(on, SnapshotTaken)
    assert {end.end for end in ends(off).values()} == {"solved"}
    assert all(checked.weakened for checked in happened(off, Checked, "a"))


def test_a_plateau_in_other_words(tmp_path: Path) -> None:
    texts = ["Sudo is shut for the account.", "The account has its sudo shut.", "Shut: sudo, again for this account."]

    async def reword(context: Context, turn: Turn) -> str:
        await turn.think(10.0)
        return texts[context.attempt % 3]

    agents = team(writing("half"), Scripted("reflector", reword))
    on, off = with_and_without("plateau_by_content", items("a"), agents, tmp_path)
    assert {"sudo", "shut", "account"} <= set(happened(on, PlateauFound)[0].shared)
    assert happened(on, ReEngaged)[0].trigger == "plateau"
    assert not happened(off, PlateauFound)


def test_a_verdict_that_is_read_by_its_first_word(tmp_path: Path) -> None:
    agents = team(writing("half"), strategist=saying("VERDICT: NOT ESCALATE"))
    on, off = with_and_without("strict_verdicts", items("a"), agents, tmp_path)
    asked = happened(on, ReEngaged)[0]
    assert (asked.verdict, asked.clean) == ("CONTINUE", False)
    assert asked.warning
    assert ends(off)["a"].reason == "strategist_escalated"


def test_a_context_that_grows(tmp_path: Path) -> None:
    tasks: list[bool] = []

    async def act(context: Context, turn: Turn) -> str:
        tasks.append("Write a=done" in context.part("task"))
        return await writing("half").act(context, turn)

    agents = team(Scripted("worker", act), saying("It failed. " + "Much was said of it. " * 300))
    on, off = with_and_without("fresh_context", items("a"), agents, tmp_path)
    shown = len([turn for turn in happened(on, TurnEnded) if turn.role == "worker"])
    assert all(tasks[:shown])
    assert not all(tasks[shown:])
    assert happened(off, TurnEnded)


def test_lessons_are_shown_where_they_are_about_the_item(tmp_path: Path) -> None:
    agents = team(writing("half", "done"), saying("It failed.\nLESSON: Write the whole line of lines."))
    on, off = with_and_without("memory", items("a", "b"), agents, tmp_path)
    assert happened(on, LessonsRecalled, "b")[0].lessons
    assert happened(off, LessonsRecalled, "b")[0].stored == 1

"""The simulated agents: what they do follows from their seed and from what they are shown."""

import asyncio
from pathlib import Path

import pytest

from misstep_harness.agent.clocks import VirtualClock
from misstep_harness.agent.protocols import TurnLimits
from misstep_harness.agent.turns import TurnReport, take_turn
from misstep_harness.reflexive.item_work import read_verdict
from misstep_harness.reflexive.protocols import Agent, Context, Part
from misstep_harness.reflexive.records import Role, WorkItem
from misstep_harness.reflexive.simulated.skill import (
    SimulatedReflector,
    SimulatedSkill,
    SimulatedStrategist,
    SimulatedWorker,
    WorkerKind,
    wordings,
)
from misstep_harness.reflexive.simulated.target import HEALTH_PROBES, Kind, SimulatedTarget, draw_world, read_pairs

ITEM = WorkItem("relay-3", "relay", "Bring relay-3 to on.")
SHUT = "the way in was shut by relay-3=on while key-3=on did not hold"
LOCKED = "relay-3 is burnt in and takes no value while the machine runs"
UNLIMITED = TurnLimits(None, None, None, None, None)


def context(role: Role, attempt: int = 1, item: WorkItem = ITEM, **parts: str) -> Context:
    shown = {"task": item.text, **parts}
    return Context(role, item, attempt, tuple(Part(name, text) for name, text in shown.items()))


def turn_of(
    agent: Agent, seen: Context, target: SimulatedTarget | None = None, limits: TurnLimits = UNLIMITED
) -> TurnReport:
    tools = () if target is None else target.tools(seen.role)
    return asyncio.run(take_turn(lambda turn: agent.act(seen, turn), tools, target, limits, VirtualClock()))


def entered(kind: WorkerKind, folder: Path, seed: int = 0, **parts: str) -> list[str]:
    target = SimulatedTarget(draw_world(0, 0), folder)
    report = turn_of(SimulatedWorker(seed, kind), context("worker", **parts), target)
    return [call.arguments["changes"] for call in report.calls]


def test_the_same_turn_is_the_same_again_and_another_attempt_is_not() -> None:
    def said(attempt: int) -> str:
        return turn_of(SimulatedReflector(4), context("reflector", attempt, facts=LOCKED)).reply

    assert said(1) == said(1)
    assert len({said(attempt) for attempt in range(1, 9)}) > 4


@pytest.mark.parametrize(
    ("kind", "parts", "command"),
    [
        ("perfect", {}, "relay-3=on"),
        ("perfect", {"reflection": SHUT}, "key-3=on relay-3=on"),
        ("perfect", {"reflection": "service pump-3 is down and needs feed-3=high"}, "relay-3=on feed-3=high"),
        ("perfect", {"lessons": "Before relay settings, have key-3=on."}, "key-3=on relay-3=on"),
        ("perfect", {"lessons": "Before relay settings, have key-3=off.", "reflection": SHUT}, "key-3=on relay-3=on"),
        ("trusting", {"lessons": "Before relay settings, have key-3=off.", "reflection": SHUT}, "key-3=off relay-3=on"),
        ("perfect", {"lessons": "Before valve settings, have key-3=on."}, "relay-3=on"),
        ("perfect", {"reflection": SHUT.replace("relay-3", "relay-9")}, "relay-3=on"),
        ("stubborn", {"reflection": SHUT, "plan": "Set relay-3=on"}, "relay-3=on"),
        ("stubborn", {"plan": "Set key-3=on relay-3=on"}, "key-3=on relay-3=on"),
        ("destructive", {"reflection": SHUT, "plan": "Set key-3=on relay-3=on"}, "relay-3=on"),
    ],
)
def test_a_worker_acts_by_its_kind(kind: WorkerKind, parts: dict[str, str], command: str, tmp_path: Path) -> None:
    assert entered(kind, tmp_path, **parts) == [command]


@pytest.mark.parametrize("kind", ["shuts", "resets", "locked", "late"])
def test_a_cause_is_named_only_where_the_facts_show_it(kind: Kind, tmp_path: Path) -> None:
    world = draw_world(1, 0, (kind,))
    target, item = SimulatedTarget(world, tmp_path), world.items[0]
    turn_of(SimulatedWorker(0, "perfect"), context("worker", item=item), target)
    journal = target.read_outside(HEALTH_PROBES[-1]).text
    guesses = {guess.lower() for guess in wordings().causes["unspecific"]}

    def guessed(**parts: str) -> bool:
        reply = turn_of(
            SimulatedReflector(0), context("reflector", item=item, turn=f"I set {item.id}=on.", **parts)
        ).reply
        return any(guess in reply.lower() for guess in guesses)

    assert guessed()
    assert not guessed(facts=f"journal: {journal}")


@pytest.mark.parametrize(
    ("parts", "verdict", "plan"),
    [
        ({"history": LOCKED}, "ESCALATE", "No command changes relay-3 while the machine runs."),
        ({"history": "relay-3 takes no value until item relay-1 is done"}, "SKIP_UNTIL", "Come back to relay-3 then."),
        ({"history": SHUT, "plan": "Set relay-3=on"}, "PIVOT", "Set key-3=on relay-3=on"),
        ({"history": "It failed.", "plan": "Set relay-3=on"}, "CONTINUE", "Set relay-3=on"),
    ],
)
def test_the_strategist_goes_by_what_the_history_shows(parts: dict[str, str], verdict: str, plan: str) -> None:
    read = []
    for attempt in range(1, 15):
        reply = turn_of(SimulatedStrategist(0), context("strategist", attempt, **parts)).reply
        answer = read_verdict(reply, ["relay-1"])
        read.append(answer.clean)
        assert answer.verdict == (verdict if answer.clean else "CONTINUE")
        assert answer.plan == (plan if answer.clean else "")
    assert sum(read) >= len(read) // 2


def test_every_wording_can_be_filled_in() -> None:
    known = wordings()
    names = {"setting": "relay-3", "other": "relay-1", "first": "key-3=on", "after": "feed-3=high"}
    for text in [*known.reasons.values(), *(text for texts in known.causes.values() for text in texts)]:
        assert "{" not in text.format(**names)
    assert all(frame.count("{cause}") == 1 for frame in known.frames)
    assert all(quote.count("{line}") == 1 for quote in known.quotes)


def test_a_worker_writes_down_what_would_undo_its_change() -> None:
    skill = SimulatedSkill(1, 0, ("trivial",))
    assert set(skill.agents) == {"mixed", "perfect", "clumsy", "stubborn", "trusting", "destructive", "cheating"}
    agents = skill.agents["perfect"](0)
    with skill.open(Path("unused"), VirtualClock()) as target:
        report = turn_of(agents.worker, context("worker", item=skill.items[0]), target)  # type: ignore[arg-type]
    assert [str(pair) for pair in read_pairs(report.reply.splitlines()[-1])] == [f"{skill.items[0].id}=off"]

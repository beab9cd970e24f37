"""Agents that each keep all that was said lose sight of the same things at different moments."""

from collections import Counter

from misstep.harness.records.loop_events import Role
from misstep.harness.reflexive.settings import LoopSettings
from misstep.harness.reflexive.simulated.items import Kind
from tests.harness.reflexive.failure_modes.looping import Looped, looped

KINDS: tuple[Kind, ...] = ("late", "shuts", "late", "resets", "late", "trivial")
ROLES: tuple[Role, ...] = ("worker", "reflector", "strategist")
NARROW = LoopSettings(context_tokens={"planner": 700, "worker": 700, "reflector": 700, "strategist": 700})


def shown_whole(run: Looped, part: str, roles: tuple[Role, ...] = ROLES) -> dict[str, float]:
    """Role → the share of its turns in which it saw a part whole."""
    turns: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for turn in [one for role in roles for one in run.turns_of(role)]:
        turns[turn.role] += 1
        whole[turn.role] += any(seen.name == part and seen.shown == "whole" for seen in turn.seen)
    return {role: whole[role] / turns[role] for role in turns}


def test_off_each_role_loses_the_task_at_another_moment_and_items_fail_for_it() -> None:
    off = looped(KINDS, ("fresh_context",), settings=NARROW)
    shares = shown_whole(off, "task")
    assert min(shares.values()) < 0.8
    assert len(set(shares.values())) > 1
    assert off.solved < len(KINDS)


def test_on_every_turn_begins_afresh_with_the_whole_task_and_plan() -> None:
    on = looped(KINDS, settings=NARROW)
    assert shown_whole(on, "task") == dict.fromkeys(shown_whole(on, "task"), 1.0)
    assert shown_whole(on, "plan", ("worker",)) == {"worker": 1.0}
    assert on.solved == len(KINDS)


def test_on_no_context_is_larger_than_its_budget() -> None:
    for without in ((), ("fresh_context",)):
        run = looped(KINDS, without, settings=NARROW)
        turns = [turn for role in ROLES for turn in run.turns_of(role)]
        assert all(sum(part.tokens for part in turn.seen) <= 700 for turn in turns)

"""The synthetic agents decide from what they are shown: each turn here has a context and a command without effect."""

import asyncio
from collections.abc import Mapping

import pytest

from misstep.harness.agent.actions import Observation
from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.agent.tools import Tool
from misstep.harness.agent.turns import TurnLimits, TurnReport, take_turn
from misstep.harness.records.loop_events import Role
from misstep.harness.reflexive.hardening.rules import rules
from misstep.harness.reflexive.hardening.workers import WorkerName, make_agents, scripts
from misstep.harness.reflexive.memory.lessons import lessons_in
from misstep.harness.reflexive.protocols import Context, Part
from misstep.harness.reflexive.re_engagement import read_verdict

ITEMS = {rule.id: rule.item for rule in rules()}
ITEM = "sudo_no_nopasswd"


async def _nothing(_arguments: Mapping[str, str], _place: object) -> Observation:
    return Observation("[exit code 0]")


APPLY: Tool[object] = Tool("apply", "Do nothing.", {"script": "a script"}, _nothing)


def turn(role: Role, kind: WorkerName = "perfect", item: str = ITEM, seed: int = 0, **parts: str) -> TurnReport:
    agent = make_agents(kind, seed).of(role)
    context = Context(role, ITEMS[item], 1, tuple(Part(name, text) for name, text in parts.items()))
    limits = TurnLimits(tool_calls=9)
    return asyncio.run(take_turn(lambda own: agent.act(context, own), [APPLY], None, limits, VirtualClock()))


def ran(report: TurnReport) -> list[str]:
    return [call.arguments["script"].rpartition("2>/dev/null; ")[2] for call in report.calls]


def test_the_perfect_worker_runs_what_does_it_or_says_that_it_knows_nothing() -> None:
    assert ran(turn("worker")) == [scripts()[ITEM].good]
    assert ran(turn("worker", item="audit_partition")) == []


def test_the_clumsy_worker_runs_more_than_one_script_at_times_and_takes_care_when_told() -> None:
    alone = [ran(turn("worker", "clumsy", seed=seed)) for seed in range(30)]
    turns = [ran(turn("worker", "clumsy", seed=seed, reflection="Go with care.")) for seed in range(30)]
    good = scripts()[ITEM].good
    assert any(len(one) > 1 for one in alone)
    assert sum(one[0] == good for one in alone) < 20 < sum(one[0] == good for one in turns)


def test_the_stubborn_worker_changes_with_the_plan_alone() -> None:
    near = ran(turn("worker", "stubborn", plan="Change it."))
    assert near == ran(
        turn("worker", "stubborn", plan="Change it.", reflection="Go with care.", lessons="Go with care.")
    )
    assert near != [scripts()[ITEM].good]
    assert ran(turn("worker", "stubborn", plan="Change it with care.")) == [scripts()[ITEM].good]


def test_the_reflector_names_what_is_broken_only_where_facts_show_it() -> None:
    outcome = "The attempt failed: unhealthy.\ntarget: UNHEALTHY: sudo_probe: sudo: a password is required"
    seen = turn("reflector", outcome=outcome, facts="read out of band.\nlogin_ok holds\nsudo_ok is broken").reply
    assert "sudo_ok" in seen
    assert "login_ok" not in seen
    assert lessons_in(seen) == ("Rules of sudo can break sudo_ok: go with care.",)
    blind = turn("reflector", outcome="The attempt failed.").reply
    assert "sudo" not in blind
    assert "Perhaps" in blind
    assert lessons_in(blind) == ()


@pytest.mark.parametrize(
    ("history", "verdict"),
    [
        ("It is healthy. This needs what a running machine does not have.", "ESCALATE"),
        ("The audit profile was changed, and that was seen.", "PIVOT"),
        ("Attempt 1\nThe attempt failed: check failed.", "PIVOT"),
    ],
)
def test_the_strategist_answers_in_its_form(history: str, verdict: str) -> None:
    answer = read_verdict(turn("strategist", history=history).reply)
    assert answer.clean
    assert answer.verdict == verdict
    assert answer.plan

"""The rules engine says no for each reason that there is, and names it."""

import pytest
from msgspec.structs import replace

from misstep.harness.repair.failure_bot.flakiness import estimate
from misstep.harness.repair.failure_bot.rules import RULES, Situation, decide
from misstep.harness.repair.failure_bot.tasks import RepairTask

TASK = RepairTask(("t",), "pytest", "m", "t", "c", blame="b")
FAILING = Situation(TASK, failed_at_task=True, failed_at_head=True, flakiness=estimate(8, 8))


def test_the_agent_runs_on_a_failure_that_nothing_speaks_against() -> None:
    assert decide(FAILING).run


CASES = {
    "task_closed": replace(FAILING, task=replace(TASK, state="landed")),
    "diff_attached": replace(FAILING, task=replace(TASK, attached_diff="--- a")),
    "fix_landed": replace(FAILING, failed_at_head=False, commits_since=2),
    "not_reproducible": replace(FAILING, failed_at_head=False),
    "flaky": replace(FAILING, flakiness=estimate(1, 3)),
    "flakiness_undecided": replace(FAILING, flakiness=estimate(2, 2)),
    "no_change_to_blame": replace(FAILING, blamed=False),
}


def test_each_rule_has_a_case_here() -> None:
    assert set(CASES) == set(RULES)


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_says_no_and_why(rule: str) -> None:
    decision = decide(CASES[rule])
    assert not decision.run
    assert [objection.rule for objection in decision.objections] == [rule]
    assert decision.objections[0].reason


def test_all_objections_are_named() -> None:
    situation = replace(CASES["flaky"], blamed=False, task=replace(TASK, attached_diff="x"))
    assert [one.rule for one in decide(situation).objections] == ["diff_attached", "flaky", "no_change_to_blame"]

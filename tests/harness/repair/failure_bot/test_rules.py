"""The rules engine says no for each reason that there is, and names it."""

import pytest
from msgspec.structs import replace

from misstep.harness.repair.failure_bot.flakiness import estimate
from misstep.harness.repair.failure_bot.rules import Situation, decide
from misstep.harness.repair.failure_bot.tasks import RepairTask

TASK = RepairTask(("t",), "pytest", "m", "t", "c", blame="b")
FAILING = Situation(TASK, failed_at_head=True, flakiness=estimate(8, 8))
FLAKY = replace(FAILING, flakiness=estimate(1, 3))


@pytest.mark.parametrize(
    ("situation", "rules"),
    [
        (FAILING, []),
        (replace(FAILING, task=replace(TASK, state="landed")), ["task_closed"]),
        (replace(FAILING, task=replace(TASK, attached_diff="--- a")), ["diff_attached"]),
        (replace(FAILING, failed_at_head=False, commits_since=2), ["fix_landed"]),
        (replace(FAILING, failed_at_head=False), ["not_reproducible"]),
        (FLAKY, ["flaky"]),
        (replace(FAILING, flakiness=estimate(2, 2)), ["flakiness_undecided"]),
        (replace(FAILING, blamed=False), ["no_change_to_blame"]),
        (replace(FLAKY, blamed=False), ["flaky", "no_change_to_blame"]),
    ],
)
def test_every_rule_that_says_no_is_named_with_its_reason(situation: Situation, rules: list[str]) -> None:
    decision = decide(situation)
    assert [objection.rule for objection in decision.objections if objection.reason] == rules
    assert decision.run == (not rules)

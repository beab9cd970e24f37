"""Judges on the same triage cases: scores, finer scores, pairs."""

import pytest

from misstep_analysis.triage.comparison import compared, direction
from tests.analysis.triage.made_up import judged_cases

GOLD = ["agent/timeout", "agent/logical_failure", "task/brittle_tests", "infrastructure/network_issue", "pass"] * 4

RIGHT = list(GOLD)

COARSE = ["agent", "agent", "task", "infrastructure", "pass"] * 4

POOR = ["task/brittle_tests", "task", "", "agent/timeout", "pass"] * 4


def test_each_judge_has_kappa_and_agreement_both_ways() -> None:
    result = compared(judged_cases(GOLD, {"right": RIGHT, "poor": POOR}), resamples=500)
    poor = result.runs["poor"].scores
    assert (poor.accuracy.value, poor.accuracy_all.value) == (0.25, 0.2)
    assert [(pair.a, pair.b, pair.only_a) for pair in result.pairs] == [("right", "poor", 16)]
    assert result.runs["poor"].seconds.mean.value == 0.5


def test_a_verdict_that_names_no_subcategory_is_unanswered_there_and_never_given_one() -> None:
    result = compared(judged_cases(GOLD, {"right": RIGHT, "coarse": COARSE}), resamples=500)
    exact, coarse = result.runs["right"].finer, result.runs["coarse"].finer
    assert exact.accuracy_all.value == 1.0
    assert (coarse.answered, coarse.abstained) == (4, 16)
    assert coarse.accuracy_all.value == pytest.approx(0.2)


def test_intervals_are_over_families_where_they_are_known() -> None:
    families = [f"f{n // 10}" for n in range(20)]
    alone, together = (judged_cases(GOLD, {"poor": POOR}, given) for given in ((), families))
    methods = [compared(one, resamples=500).runs["poor"].scores.accuracy_all.method for one in (alone, together)]
    assert methods[0].startswith("Wilson")
    assert methods[1].startswith("Korn-Graubard over 2 clusters")


def test_errors_that_all_go_to_the_task_are_a_bias() -> None:
    cases = judged_cases(["agent"] * 16 + ["task"] * 16, {"weak": ["task"] * 8 + ["agent"] * 8 + ["task"] * 16})
    result = direction(cases.sample("weak"))
    assert (result.n_agent_to_task, result.n_task_to_agent) == (8, 0)
    assert result.agent_to_task.value == 0.5
    assert result.p_value < 0.01
    assert result.difference.low > 0


def test_a_case_left_open_is_no_error_and_is_counted() -> None:
    cases = judged_cases(["agent", "agent", "task"], {"shy": ["", "agent", "task"]})
    result = direction(cases.sample("shy"))
    assert result.agent_to_task.n == 1
    assert result.unanswered["agent"].value == 0.5
    assert (result.p_value, result.reason) == (None, "no such error")

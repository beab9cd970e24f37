"""What becomes of runs on their way to training data, how right it is, and what a reward of 1 is worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.triage.curation import (
    ACTIONS,
    UNDECIDED,
    Decision,
    ErrorRates,
    Outcome,
    Rate,
    curated_runs,
    curation,
    curation_of_judges_table,
    curation_sentence,
    curation_table,
    decide,
    error_rates,
    generated_outcomes,
    known_errors,
    precision_sentence,
    true_solve_rate,
    worth_sentence,
)
from misstep_harness.fault_mappings import FAULTS
from tests.analysis.triage.made_up import judged_cases, verdict

SURE = Rate((50, 50), (50, 50))


def decided(*runs: tuple[str, Outcome | None]) -> list[Decision]:
    return [decide(verdict(f"c{place}", "j", label), outcome) for place, (label, outcome) in enumerate(runs)]


@pytest.mark.parametrize(
    ("label", "outcome", "action"),
    [
        ("agent", "failed", "keep"),
        ("task", "failed", "repair_task"),
        ("infrastructure", "failed", "rerun"),
        ("pass", "passed", "keep"),
        ("task", "passed", "filter"),
        ("infrastructure", "passed", "rerun"),
        ("agent", "passed", "undecided"),
        ("pass", "failed", "undecided"),
        ("", "passed", "undecided"),
        ("agent", None, "undecided"),
    ],
)
def test_table_1_says_what_becomes_of_a_run(label: str, outcome: Outcome | None, action: str) -> None:
    (decision,) = decided((label, outcome))
    assert decision.action == action
    assert decision.reason


@given(st.lists(st.tuples(st.sampled_from((*FAULTS, "")), st.sampled_from(("passed", "failed", None))), max_size=30))
def test_every_run_is_counted_once_and_bounds_hold_their_figures(runs: list[tuple[str, Outcome | None]]) -> None:
    decisions = decided(*runs)
    found = curation(decisions, {f"c{place}": "agent" for place in range(0, len(runs), 2)})
    assert sum(found.counts.values()) == len(runs)
    assert tuple(found.counts) == ACTIONS
    if found.precision_lowest is not None and found.precision_highest is not None and found.precision.value is not None:
        assert found.precision_lowest <= found.precision.value <= found.precision_highest
    worth = found.worth
    if worth.lowest is not None and worth.highest is not None:
        assert worth.earned.value == worth.lowest
        assert worth.lowest <= (worth.put_back.value or 0) <= worth.highest


def test_precision_is_of_the_kept_with_gold_and_both_bounds_count_the_rest() -> None:
    decisions = decided(
        ("agent", "failed"), ("agent", "failed"), ("pass", "passed"), ("pass", "passed"), ("", "failed")
    )
    result = curation(decisions, {"c0": "agent", "c1": "task", "c2": "pass"})
    assert result.precision.value == pytest.approx(2 / 3)
    assert (result.precision_lowest, result.precision_highest) == (2 / 4, 3 / 4)
    assert result.bound.low < 2 / 3
    assert result.recall.value == 1.0


def test_what_a_reward_is_worth_by_the_verdicts() -> None:
    runs = [("pass", "passed"), ("task", "passed"), ("task", "failed"), ("agent", "failed"), ("", "passed")]
    worth = curation(decided(*runs), {}).worth  # type: ignore[arg-type]
    shares = [worth.recorded.value, worth.earned.value, worth.put_back.value, worth.lowest, worth.highest]
    assert shares == [3 / 5, 1 / 5, 2 / 5, 1 / 5, 3 / 5]


@pytest.mark.parametrize("rate", [Rate((3, 3), (2, 3)), Rate((4, 5), (8, 12)), Rate((9, 10), (5, 12))])
def test_where_the_errors_leave_everything_open_nothing_is_said_of_the_kept(rate: Rate) -> None:
    decisions = decided(*[("pass", "passed")] * 3, *[("task", "passed")] * 7)
    result = curation(decisions, {}, rates=ErrorRates("made up", rate))
    assert result.corrected_precision.value is None
    text = "How many of those kept are rightly kept is not known: everything from 0% to 100% is left open."
    assert precision_sentence(result) == text


def test_the_errors_of_a_judge_are_counted_on_what_it_answered() -> None:
    decisions = decided(("pass", "passed"), ("pass", "passed"), ("task", "failed"), ("", "passed"))
    rates = error_rates(decisions, {"c0": "pass", "c1": "task", "c2": "task", "c3": "pass"}, "made up")
    assert (rates.keep.found, rates.keep.left_alone) == ((1, 1), (1, 2))


GOLD = (
    "pass",
    "task/weak_tests",
    "task/brittle_tests",
    "agent/timeout",
    "infrastructure/harness_bug",
    "infrastructure",
)


def test_generated_runs_ended_as_their_construction_says() -> None:
    cases = judged_cases(GOLD, {})
    assert list(generated_outcomes(cases).values()) == ["passed", "passed", "failed", "failed", "failed", "passed"]


def test_curation_by_judges_on_generated_cases_is_a_table_of_generated_figures() -> None:
    blind = ("pass", "pass", "agent", "agent", "agent", "pass")
    cases = judged_cases(GOLD, {"right": GOLD, "blind": blind})
    table = curation_of_judges_table(cases, curated_runs(cases))
    assert {row.evidence for row in table.rows} == {"generated"}
    assert table.made_by.endswith("curation_of_judges_table")
    assert table.finding.startswith("right keeps 2 of 6")
    assert true_solve_rate(cases).value == pytest.approx(2 / 6)
    assert known_errors(cases)["blind"].keep.left_alone == (0, 4)


def test_the_sentences_say_what_is_kept_and_what_is_left() -> None:
    result = curation(decided(("agent", "failed"), ("task", "passed"), ("", "failed")), {"c0": "agent"})
    assert curation_sentence(result).startswith("1 of 3 runs kept; 1 filtered, 1 undecided. By gold labels 1 of 1 of")
    few_tasks = "Too few tasks to correct the solve rate."
    assert worth_sentence(result) == f"1 of 3 runs with an outcome passed. {few_tasks}"
    few = curation(
        decided(*[("agent", "failed"), ("pass", "passed")] * 3),
        {"c0": "agent"},
        {f"c{n}": f"task {n % 2}" for n in range(6)},
    )
    assert worth_sentence(few) == f"3 of 6 runs with an outcome passed. {few_tasks}"
    many = curation(decided(*[("agent", "failed"), ("pass", "passed")] * 10), {"c0": "agent"})
    assert "10 of 20 runs with an outcome passed. Corrected for unearned passes" in worth_sentence(many)
    table = curation_table(result, "j", "made up", "generated")
    assert {row.evidence for row in table.rows} == {"generated"}
    assert UNDECIDED.capitalize() in {row.quantity for row in table.rows}


def test_confidence_is_the_share_of_such_verdicts_that_were_right() -> None:
    known = decided(("agent", "failed"), ("agent", "failed"), ("agent", "passed"), ("", "failed"))
    rates = error_rates(known, {"c0": "agent", "c1": "task", "c2": "task", "c3": "agent"}, "made up")
    asked = decided(("agent", "failed"), ("agent", "passed"), ("task", "failed"), ("", "failed"))
    assert [rates.confidence(one) for one in asked] == [0.5, 0.0, None, None]


def test_the_errors_of_a_judge_correct_the_precision_of_the_kept() -> None:
    decisions = decided(*[("pass", "passed")] * 60, *[("task", "passed")] * 40)
    assert curation(decisions, {}, rates=ErrorRates("made up", SURE)).corrected_precision.value == pytest.approx(1.0)
    overlooks = ErrorRates("made up", Rate((400, 400), (300, 400)))
    corrected = curation(decisions, {}, rates=overlooks).corrected_precision
    assert corrected.value == pytest.approx((0.6 - 0.25) / 0.75 / 0.6)

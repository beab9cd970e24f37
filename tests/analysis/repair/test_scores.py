"""What is measured of repair attempts, on attempts whose figures are known by hand."""

import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.repair.attempts import had_error, noted
from misstep_analysis.repair.scores import (
    Spent,
    ValidatorCounts,
    headline,
    repair_document,
    repairs_table,
    score_repairs,
    signals_table,
)
from misstep_analysis.stats.proportions import wilson
from misstep_harness.repair.records import RepairAttempt, Signal
from misstep_harness.trajectory import Source, Trajectory
from tests.analysis.repair.made_up import FOUR, arm, attempt, not_held, run_of


def test_with_one_attempt_a_case_a_rate_is_a_share_of_cases_with_wilsons_interval() -> None:
    scores = score_repairs(arm(*FOUR))
    assert scores.solve_rate == wilson(2, 4)
    assert scores.patch_generation_rate == wilson(3, 4)
    assert scores.error_rate == scores.cut_off_rate == wilson(1, 4)


def test_a_case_that_does_not_hold_counts_nowhere_and_an_unscored_attempt_not_in_a_second_rate() -> None:
    scores = score_repairs(arm(*FOUR))
    assert (scores.n, scores.attempts, scores.not_affirmed) == (4, 4, 1)
    assert score_repairs(arm(*FOUR[:4])).solve_rate == scores.solve_rate
    assert (scores.unscored, scores.solve_rate_scored) == (1, wilson(2, 3))


def test_cases_that_a_loaded_machine_takes_out_raise_no_rate_unseen() -> None:
    eight = [attempt(f"solved-{number}", number < 8) for number in range(11)]
    scores = score_repairs(arm(*eight, not_held("slow")))
    assert (scores.solve_rate, scores.solve_rate_all) == (wilson(8, 11), wilson(8, 12))
    assert "; with 1 case that did not hold as not solved, 66.7%." in headline(scores)
    assert repair_document(scores)["solve_rate_all"]["n"] == 12
    rates = {row.quantity: row.value for row in repairs_table([scores]).rows}
    assert rates["Solved, cases that did not hold as not solved"] == pytest.approx(8 / 12)
    all_hold = score_repairs(arm(*eight))
    assert all_hold.solve_rate_all == all_hold.solve_rate
    assert "did not hold" not in headline(all_hold)


def test_a_case_with_a_flaky_oracle_is_an_end_of_its_own_and_none_of_its_attempts_counts() -> None:
    flaky = attempt("medlar", None, 1, ended="flaky")
    scores = score_repairs(arm(*FOUR, attempt("medlar", True), flaky))
    assert (scores.n, scores.attempts, scores.not_affirmed, scores.flaky) == (4, 4, 1, 1)
    assert scores.solve_rate_all.value == pytest.approx(2 / 6)
    assert any("1 case has a flaky oracle" in note for note in repairs_table([scores]).notes)
    assert repair_document(scores)["flaky"] == 1


def test_a_solve_that_no_second_test_speaks_of_is_said_and_one_that_fails_such_a_test() -> None:
    def solved(case: str, **said: bool | None) -> RepairAttempt:
        return attempt(case, True, signals=tuple(Signal(name, passed) for name, passed in said.items()))

    tries = [solved("a", suite=None), solved("b", suite=True), solved("c", suite=True, held_out=False), solved("d")]
    scores = score_repairs(arm(*tries, attempt("e", False, signals=(Signal("suite", False),))))
    assert scores.second_tests == ValidatorCounts(1, 1, 2)
    [note] = [note for note in signals_table([scores]).notes if "by accident" in note]
    assert "1 pass the rest of the suite too; 1 fail another test; 2 meet no other test" in note


def test_what_validators_say_of_generated_cases_is_called_generated() -> None:
    tried = attempt("a", True, signals=(Signal("suite", True),))
    for evidence in ("generated", "real"):
        table = signals_table([score_repairs(arm(tried, evidence=evidence))])
        assert {row.evidence for row in table.rows} == {evidence}


def test_a_case_attempted_more_often_weighs_no_more() -> None:
    tries = [attempt("apple", True, sample) for sample in range(9)] + [attempt("pear", False)]
    assert score_repairs(arm(*tries)).solve_rate.value == 0.5


def test_one_of_k_attempts_solves_a_case_by_the_unbiased_estimator() -> None:
    tries = [attempt("apple", sample == 0, sample) for sample in range(4)]
    tries += [attempt("pear", False, sample) for sample in range(4)]
    result = score_repairs(arm(*tries), resamples=200).solve_rate_at
    # 1 - C(3, k) / C(4, k) of one case, 0 of the other.
    assert {k: at.value for k, at in result.items()} == {1: 0.125, 2: 0.25, 3: 0.375, 4: 0.5}


def test_iterations_are_of_the_attempts_in_which_the_agent_ran() -> None:
    result = score_repairs(arm(*FOUR)).iterations
    assert (result.mean.value, result.mean.n) == (17.0, 3)
    assert (result.median.value, result.median.low, result.median.high) == (8.0, 3.0, 40.0)


def test_an_error_is_what_broke_a_run_and_no_limit_and_no_unsolved_case() -> None:
    assert not had_error(attempt("pear", False))
    assert not had_error(attempt("pear", False, ended="seconds"))
    assert had_error(attempt("pear", False, ended="stopped"))
    assert had_error(attempt("pear", False, error="the server went away"))


def test_what_was_spent_is_over_the_attempts_that_have_it_on_record() -> None:
    spent = score_repairs(arm(*FOUR)).spent
    assert spent["cost_usd"] == Spent(0.5, 1)
    assert spent["test_runs"] == Spent(None, 0)
    assert spent["test_runs"].each is None
    assert spent["seconds"].each == 2.0


def test_test_runs_are_counted_from_calls_or_taken_from_what_the_run_notes() -> None:
    assert noted(attempt("pear", trajectory=run_of("pear", "run_tests", "edit", "run_tests")), "test_runs") == 2
    kept = Trajectory("pear", Source("misstep"), extra={"test_runs": 7, "candidates": 30})
    assert noted(attempt("pear", trajectory=kept), "test_runs") == 7
    assert noted(attempt("pear", trajectory=kept), "candidates") == 30
    assert noted(attempt("pear"), "test_runs") is None


def test_where_nothing_counts_every_figure_is_missing_with_its_reason() -> None:
    scores = score_repairs(arm(not_held("rowan")))
    assert (scores.n, scores.solve_rate.value, scores.solve_rate_at) == (0, None, {})
    assert scores.solve_rate.reason == "no attempt at a case that holds"
    assert scores.iterations.mean.value is None


def test_the_document_has_what_scripts_rely_on() -> None:
    result = repair_document(score_repairs(arm(*FOUR)))
    assert result["n"] == 4
    for name in ("solve_rate", "patch_generation_rate", "error_rate"):
        assert set(result[name]) == {"value", "low", "high", "n", "method", "reason"}
    assert set(result["iterations"]) == {"mean", "median"}
    by_id = {case["id"]: case for case in result["cases"]}
    assert by_id["plum"]["solved"] is by_id["rowan"]["solved"] is by_id["apple"]["error"] is None
    assert {"id", "solved", "patched", "error", "iterations", "seconds"} <= set(by_id["apple"])


ATTEMPTS = st.lists(
    st.builds(
        attempt,
        case=st.sampled_from(["apple", "pear", "plum"]),
        solved=st.sampled_from([True, False, None]),
        sample=st.integers(0, 3),
        iterations=st.integers(0, 40),
        ended=st.sampled_from(["exit", "iterations", "stopped", "not_affirmed"]),
    ),
    max_size=12,
    unique_by=lambda one: one.id,
)


@given(ATTEMPTS, st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(attempts: list[RepairAttempt], chance: random.Random) -> None:
    mixed = chance.sample(attempts, len(attempts))
    first, second = (repair_document(score_repairs(arm(*given), resamples=20)) for given in (attempts, mixed))
    assert first == second


@given(st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=4), min_size=1, max_size=6))
def test_the_median_is_that_of_all_attempts(counts: list[list[int]]) -> None:
    tries = [
        attempt(f"case {case}", True, sample, iterations=count)
        for case, of_case in enumerate(counts)
        for sample, count in enumerate(of_case)
    ]
    result = score_repairs(arm(*tries), resamples=50).iterations.median
    flat = [count for of_case in counts for count in of_case]
    assert result.value == median(flat)
    if result.low is None or result.high is None:
        assert result.reason, "an interval without width is missing and says why"
    else:
        assert min(flat) <= result.low < result.high <= max(flat)


def test_resamples_are_of_whole_cases() -> None:
    tries = [attempt(case, case == "apple", sample) for case in ("apple", "pear") for sample in range(50)]
    result = score_repairs(arm(*tries), resamples=500).solve_rate
    assert (result.value, result.low, result.high) == (0.5, 0.0, 1.0)
    assert "cases" in result.method

"""Two arms on the same cases."""

from misstep_analysis.passing.paired_systems import pair_finding
from misstep_analysis.repair.comparison import NONE_SHARED, REPAIRS, compare_repairs, repair_comparison_table
from misstep_analysis.stats.clusters.clustered_pairs import sign_flip_mcnemar
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep_analysis.stats.significance import holm
from tests.analysis.repair.made_up import arm, attempt, not_held


def _of(name: str, solved: str, **fields: object):
    """An arm that solves the cases with a capital letter."""
    return arm(*(attempt(one.lower(), one.isupper()) for one in solved), name=name, **fields)


def test_with_one_attempt_a_case_the_test_is_mcnemars() -> None:
    (pair,) = compare_repairs([_of("a", "ABCDEFgh"), _of("b", "AbcdefgH")])
    table = PairedTable(1, 5, 1, 1)
    assert pair.difference == paired_score_interval(table)
    assert pair.p_value == mcnemar_mid_p(table).p_value
    assert (pair.n, pair.more_a, pair.more_b, pair.alike) == (8, 5, 1, 2)


def test_with_several_attempts_a_case_goes_either_way_as_a_whole() -> None:
    first = arm(*(attempt(case, sample < 2, sample) for case in "abc" for sample in range(3)), name="a")
    second = arm(*(attempt(case, sample < 1, sample) for case in "abc" for sample in range(3)), name="b")
    (pair,) = compare_repairs([first, second])
    assert pair.p_value == sign_flip_mcnemar([1, 1, 1]).p_value
    assert (pair.n, pair.more_a) == (3, 3)
    assert abs((pair.difference.value or 0) - 1 / 3) < 1e-12


def test_cases_with_different_numbers_of_attempts_weigh_the_same() -> None:
    first = arm(attempt("a", True), attempt("b", False), name="a")
    second = arm(*(attempt("a", False, n) for n in range(4)), attempt("b", False), name="b")
    (pair,) = compare_repairs([first, second])
    assert pair.difference.value == 0.5


def test_only_cases_count_that_hold_for_both() -> None:
    first = arm(attempt("a", True), attempt("b", True), not_held("c"), name="a")
    second = arm(attempt("a", False), attempt("c", True), name="b")
    (pair,) = compare_repairs([first, second])
    assert (pair.n, pair.difference.value) == (1, 1.0)


def test_p_values_are_adjusted_for_all_pairs() -> None:
    pairs = compare_repairs([_of("a", "ABCDEF"), _of("b", "abcdef"), _of("c", "ABCdef")])
    assert [pair.p_adjusted for pair in pairs] == list(holm([pair.p_value for pair in pairs]).p_values)


def test_arms_without_a_case_in_common_are_not_compared() -> None:
    (pair,) = compare_repairs([_of("a", "A"), _of("b", "B")])
    assert (pair.p_value, pair.p_adjusted, pair.difference.reason) == (None, None, NONE_SHARED)
    assert pair_finding(pair, REPAIRS) == f"a and b cannot be compared: {NONE_SHARED}."


def test_the_sentence_names_the_better_one_and_says_where_it_may_be_chance() -> None:
    apart = compare_repairs([_of("a", "ABCDEFGH"), _of("b", "abcdefgh")])
    assert pair_finding(apart[0], REPAIRS).startswith("a solves 100.0 points more than b on the same 8 cases")
    close = compare_repairs([_of("a", "abcd"), _of("b", "Abcd")])
    assert pair_finding(close[0], REPAIRS).startswith(
        "b solves 25.0 points more than a on the same 4 cases, which may be chance"
    )
    assert repair_comparison_table(apart).finding == pair_finding(apart[0], REPAIRS)

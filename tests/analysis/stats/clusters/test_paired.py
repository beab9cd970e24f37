"""Two systems on the same items."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel
from statsmodels.stats.contingency_tables import mcnemar

from misstep_analysis.stats.clusters.paired import (
    PairedTable,
    mcnemar_mid_p,
    paired_difference,
    paired_error,
    paired_score_interval,
)
from misstep_analysis.stats.clusters.paired_means import paired_means, sign_flip_test

COUNTS = st.integers(0, 30)


def library(table: PairedTable, *, exact: bool) -> float:
    """McNemar's p-value by statsmodels, without a correction for continuity."""
    if table.discordant == 0:
        return 1.0
    cells = [[table.both, table.first_only], [table.second_only, table.neither]]
    return float(mcnemar(cells, exact=exact, correction=False).pvalue)


@given(first=COUNTS, second=COUNTS, agreed=st.integers(1, 30))
def test_mid_p_lies_below_the_exact_p_and_both_are_probabilities(first: int, second: int, agreed: int) -> None:
    table = PairedTable(agreed, first, second, 0)
    exact, mid_p = library(table, exact=True), mcnemar_mid_p(table).p_value
    assert 0 < mid_p <= exact <= 1
    assert (mid_p == exact) == (first + second == 0)


@given(first=COUNTS, second=COUNTS, both=COUNTS, neither=COUNTS)
def test_only_discordant_pairs_decide(first: int, second: int, both: int, neither: int) -> None:
    table, fewer = PairedTable(both, first, second, neither + 1), PairedTable(0, first, second, 1)
    assert mcnemar_mid_p(table).p_value == mcnemar_mid_p(fewer).p_value


def test_no_discordant_pair_is_said() -> None:
    table = PairedTable(4, 0, 0, 3)
    assert "no discordant" in mcnemar_mid_p(table).reason
    assert paired_difference(table).low is None
    assert paired_difference(table).reason


@given(first=st.integers(0, 12), second=st.integers(0, 12), agreed=st.integers(1, 12))
def test_the_error_of_paired_shares_is_that_of_all_resamples(first: int, second: int, agreed: int) -> None:
    differences = [1] * first + [-1] * second + [0] * agreed
    assert paired_error(PairedTable(agreed, first, second, 0)) == pytest.approx(
        np.std(differences) / len(differences) ** 0.5
    )


def _score(table: PairedTable, difference: float) -> float:
    """The score statistic of a difference of shares, the most likely discordant shares found by search."""
    from scipy.optimize import minimize_scalar

    b, c, rest = table.first_only, table.second_only, table.both + table.neither

    def unlikely(share: float) -> float:
        shares = (share + difference, share, 1 - difference - 2 * share)
        return -sum(n * float(np.log(max(p, 1e-300))) for n, p in zip((b, c, rest), shares, strict=True) if n)

    bounds = (max(0.0, -difference), (1 - difference) / 2)
    share = float(minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x)
    return (b - c - table.n * difference) ** 2 / (table.n * (2 * share + difference * (1 - difference)))


@settings(deadline=None)
@given(both=st.integers(0, 12), first=st.integers(0, 12), second=st.integers(0, 12), neither=st.integers(1, 12))
def test_at_the_ends_of_tangos_interval_the_score_test_is_just_not_rejected(both, first, second, neither) -> None:
    table = PairedTable(both, first, second, neither)
    result = paired_score_interval(table)
    for end in (result.low, result.high):
        assert -1 < end < 1
        assert _score(table, end) == pytest.approx(1.959964**2, rel=1e-3)


@given(both=COUNTS, first=COUNTS, second=COUNTS, neither=st.integers(1, 30))
def test_tangos_interval_leaves_out_0_exactly_where_mcnemars_asymptotic_test_rejects(both, first, second, neither):
    table = PairedTable(both, first, second, neither)
    results, p_value = paired_score_interval(table), library(table, exact=False)
    assert -1 <= results.low < (results.value or 0.0) < results.high <= 1
    assert (results.low > 0 or results.high < 0) == (p_value < 0.05)


def test_the_interval_is_that_of_the_paired_t_test_on_the_items_themselves() -> None:
    rng = np.random.default_rng(0)
    first, second, items = rng.random((6, 3)), rng.random((6, 3)), np.array([1, 4, 2, 9, 3, 1])
    for column, result in enumerate(paired_means(first, second, items)):
        one, other = (np.repeat(values[:, column], items) for values in (first, second))
        interval = ttest_rel(one, other).confidence_interval(0.95)
        assert (result.first, result.second) == (pytest.approx(one.mean()), pytest.approx(other.mean()))
        assert result.difference.value == pytest.approx((one - other).mean())
        assert (result.difference.low, result.difference.high) == (
            pytest.approx(interval.low),
            pytest.approx(interval.high),
        )
        assert result.difference.n == 20


def test_one_item_has_no_interval_and_equal_items_one_without_width_and_both_say_why() -> None:
    alone = paired_means(np.ones((1, 1)), np.zeros((1, 1)), np.array([1]))[0].difference
    assert (alone.value, alone.low, alone.reason) == (1, None, "one item has no standard error")
    alike = paired_means(np.full((3, 1), 0.1), np.full((3, 1), 0.3), np.array([5, 2, 4]))[0].difference
    assert "without width" in alike.reason


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=8))
def test_a_sign_flip_test_counts_all_ways(differences: list[int]) -> None:
    sums = [0]
    for one in differences:
        sums = [total + sign * one for total in sums for sign in (1, -1)]
    as_far = sum(abs(total) >= abs(sum(differences)) for total in sums) / len(sums)
    assert sign_flip_test(differences).p_value == pytest.approx(as_far, abs=1e-9)

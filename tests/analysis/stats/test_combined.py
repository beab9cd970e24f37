"""Intervals of figures that are made of shares: Newcombe's for a difference, and none where a share is not known."""

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from misstep_analysis.stats.combined import FIXED, combined
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson


@pytest.mark.parametrize(("first", "second"), [((56, 70), (48, 80)), ((0, 12), (5, 9)), ((9, 10), (3, 10))])
def test_of_a_difference_of_two_shares_it_is_newcombes_interval(first, second) -> None:
    result = combined(lambda at: at[0] - at[1], [wilson(*first), wilson(*second)], 1)
    expected = confint_proportions_2indep(*first, *second, method="newcomb", compare="diff")
    assert (result.low, result.high) == pytest.approx(expected)


def test_a_sum_and_a_product_widen_by_their_slopes() -> None:
    shares = [Estimate(0.5, 0.4, 0.7), Estimate(0.2, 0.1, 0.25)]
    result = combined(lambda at: 1 - at[0] * at[1], shares, 10)
    assert result.value == pytest.approx(0.9)
    assert result.low == pytest.approx(0.9 - ((0.2 * 0.2) ** 2 + (0.5 * 0.05) ** 2) ** 0.5)
    assert result.high == pytest.approx(0.9 + ((0.2 * 0.1) ** 2 + (0.5 * 0.1) ** 2) ** 0.5)


def test_a_share_that_is_not_known_matters_only_where_the_figure_depends_on_it() -> None:
    unknown, known = Estimate(None, n=0, reason="nothing"), wilson(5, 10)
    assert combined(lambda at: at[0], [known, unknown], 10).low == pytest.approx(known.low)
    assert combined(lambda at: at[0] - at[1], [known, unknown], 10, "why").reason == "why"
    assert combined(lambda _: 0.25, [known, unknown], 10) == Estimate(0.25, n=10, reason=FIXED)
    assert combined(lambda at: at[0], [Estimate(0.5, n=3, reason="one cluster")], 3).reason == "one cluster"

"""Sample-ratio mismatch."""

import pytest

from analysis.stats.experiments import sample_ratio_mismatch
from harness.errors import UsageError


def test_arms_as_large_as_meant_raise_no_alarm_and_others_do() -> None:
    assert sample_ratio_mismatch([500, 500]).p_value == 1
    assert sample_ratio_mismatch([900, 100], [9, 1]).p_value == pytest.approx(1)
    assert sample_ratio_mismatch([900, 100]).p_value < 1e-100


def test_two_arms_are_the_binomial_test_by_the_normal_distribution() -> None:
    found = sample_ratio_mismatch([60, 40])
    assert found.statistic == pytest.approx(4)  # the square of z = 2
    assert found.p_value == pytest.approx(0.04550026389635842)


def test_a_small_arm_says_that_the_p_value_is_approximate() -> None:
    assert sample_ratio_mismatch([3, 4]).reason
    assert not sample_ratio_mismatch([30, 40]).reason


@pytest.mark.parametrize(
    ("counts", "shares"), [([5], None), ([], None), ([0, 0], None), ([5, -1], None), ([5, 5], [1]), ([5, 5], [1, 0])]
)
def test_arms_that_cannot_be_are_refused(counts: list[int], shares: list[float] | None) -> None:
    with pytest.raises(UsageError):
        sample_ratio_mismatch(counts, shares)

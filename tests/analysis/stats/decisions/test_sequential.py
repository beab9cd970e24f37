"""Intervals and p-values that hold at every look."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from misstep.analysis.stats.decisions.sequential import always_valid
from misstep.harness.errors import UsageError

DIFFERENCES, ERRORS = st.floats(-3, 3), st.floats(0.05, 5)
MIXTURE = -2 * np.log(0.05) + np.log(1 - 2 * np.log(0.05))


@given(st.floats(-2, 2), st.floats(0.2, 2))
def test_the_p_value_is_the_inverse_of_the_likelihood_ratio_mixed_over_effects(difference: float, se: float) -> None:
    spread = np.sqrt(MIXTURE)

    def density(effect: float) -> float:
        return float(norm.pdf(difference, effect, se) * norm.pdf(effect, 0, spread))

    mixed, _ = quad(density, -8 * spread, 8 * spread, points=[difference], limit=200)
    ratio = mixed / norm.pdf(difference, 0, se)
    assert always_valid(difference, se, 1.0).test.p_value == pytest.approx(min(1.0, 1 / ratio), rel=1e-5)


@given(DIFFERENCES, ERRORS, ERRORS)
def test_the_interval_holds_zero_exactly_where_p_is_above_the_level(
    difference: float, se: float, planned: float
) -> None:
    found = always_valid(difference, se, planned)
    held = found.difference.low <= 0 <= found.difference.high
    assert held == (found.test.p_value >= 0.05) or found.test.p_value == pytest.approx(0.05)


@given(DIFFERENCES, ERRORS, ERRORS)
def test_it_is_wider_than_the_interval_of_a_single_look(difference: float, se: float, planned: float) -> None:
    found = always_valid(difference, se, planned).difference
    assert found.high - found.low > 2 * norm.ppf(0.975) * se


def test_at_the_planned_end_another_mixture_is_hardly_narrower() -> None:
    def width(planned: float) -> float:
        found = always_valid(0.0, 1.0, planned).difference
        return found.high - found.low

    assert width(1.0) <= 1.005 * min(width(planned) for planned in np.linspace(0.2, 5, 200))


def test_looked_at_after_every_batch_it_raises_false_alarms_no_more_often_than_the_level_and_a_z_test_does() -> None:
    rng = np.random.default_rng(0)
    looks = np.arange(1, 51)
    means = rng.standard_normal((2_000, 50)).cumsum(axis=1) / looks
    errors = 1 / np.sqrt(looks)
    always = [
        any(always_valid(mean, se, errors[-1]).test.p_value < 0.05 for mean, se in zip(row, errors, strict=True))
        for row in means[:500]
    ]
    assert np.mean(always) <= 0.05 + 0.02
    assert (np.abs(means / errors) > norm.ppf(0.975)).any(axis=1).mean() > 0.25


def test_a_difference_far_from_zero_has_a_p_value_of_nothing_and_no_overflow() -> None:
    assert always_valid(1e6, 0.1, 0.1).test.p_value == 0


@pytest.mark.parametrize(
    ("se", "planned", "confidence"), [(0, 1, 0.95), (1, 0, 0.95), (1, float("inf"), 0.95), (1, 1, 1)]
)
def test_errors_that_cannot_be_are_refused(se: float, planned: float, confidence: float) -> None:
    with pytest.raises(UsageError):
        always_valid(0.1, se, planned, confidence=confidence)

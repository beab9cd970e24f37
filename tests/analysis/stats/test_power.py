"""Power and sample size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import power_proportions_2indep, samplesize_proportions_2indep_onetail

from analysis.stats.power import (
    cohen_h,
    power_arcsine,
    power_two_proportions,
    sample_size_paired,
    sample_size_two_proportions,
)
from harness.errors import UsageError

SHARES = st.floats(0.02, 0.98)


@given(SHARES, SHARES)
def test_the_sample_size_has_the_power_asked_for_and_one_item_fewer_has_not(p1: float, p2: float) -> None:
    if abs(p1 - p2) > 0.02:
        n = sample_size_two_proportions(p1, p2, power=0.8).n_per_arm
        assert power_two_proportions(n, p1, p2) >= 0.8 - 1e-9
        assert n == 1 or power_two_proportions(n - 1, p1, p2) < 0.8


def test_power_and_size_agree_with_statsmodels() -> None:
    assert power_two_proportions(50, 0.5, 0.75) == pytest.approx(
        power_proportions_2indep(-0.25, 0.75, 50).power, abs=1e-4
    )
    size = samplesize_proportions_2indep_onetail(-0.1, 0.4, 0.8, alpha=0.05, alternative="two-sided")
    assert sample_size_two_proportions(0.3, 0.4).exact == pytest.approx(size, rel=1e-4)


def test_two_sides_of_the_arcsine_test_include_both_tails() -> None:
    assert power_arcsine(0, 50, sides=2) == pytest.approx(0.05)
    assert power_arcsine(-0.3, 80, sides=2) == pytest.approx(power_arcsine(0.3, 80, sides=2))
    assert power_arcsine(0.3, 80, sides=2) == pytest.approx(NormalIndPower().power(0.3, 80, 0.05))


@given(SHARES, SHARES)
def test_cohens_h_turns_with_the_shares(p1: float, p2: float) -> None:
    assert cohen_h(p1, p2) == pytest.approx(-cohen_h(p2, p1))


def test_a_certain_difference_is_certainly_found() -> None:
    assert power_two_proportions(10, 0, 1) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: sample_size_two_proportions(0.4, 0.4),
        lambda: sample_size_two_proportions(0.4, 1.4),
        lambda: sample_size_two_proportions(0.4, 0.5, power=0.01),
        lambda: power_two_proportions(0, 0.4, 0.5),
        lambda: power_two_proportions(10, 0, 0),
        lambda: power_two_proportions(10, 0.4, 0.5, alpha=1),
        lambda: sample_size_paired(0.1, 0),
        lambda: sample_size_paired(0.1, 0.2),
        lambda: sample_size_paired(0.1, 0.05, power=0.01),
        lambda: power_arcsine(0.3, 0),
        lambda: cohen_h(-0.1, 0.5),
    ],
)
def test_what_cannot_be_planned_is_refused(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        call()


@pytest.mark.parametrize(("discordant", "difference"), [(0.2, 0.05), (0.3, 0.1), (0.1, -0.04)])
def test_with_the_pairs_asked_for_the_asymptotic_mcnemar_test_finds_the_difference_about_as_often(
    discordant: float, difference: float
) -> None:
    n = sample_size_paired(discordant, difference).n_per_arm
    rng = np.random.default_rng(0)
    first, second = (discordant + difference) / 2, (discordant - difference) / 2
    drawn = rng.multinomial(n, [first, second, 1 - discordant], size=20_000)
    z = (drawn[:, 0] - drawn[:, 1]) / np.sqrt(drawn[:, 0] + drawn[:, 1])
    assert (np.abs(z) > 1.959964).mean() == pytest.approx(0.8, abs=0.02)

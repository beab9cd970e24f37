"""Sample size."""

from math import ceil

import numpy as np
import pytest

from misstep.analysis.stats.decisions.power import sample_size_paired, smallest_change, units_an_arm
from misstep.analysis.stats.decisions.relative_change import compare_ratios
from misstep.harness.errors import UsageError


@pytest.mark.parametrize(
    "call",
    [
        lambda: sample_size_paired(0.1, 0),
        lambda: sample_size_paired(0.1, 0.2),
        lambda: sample_size_paired(0.1, 0.05, power=0.01),
        lambda: sample_size_paired(0.1, 0.05, alpha=1),
        lambda: sample_size_paired(1.1, 0.05),
        lambda: units_an_arm(1, 0),
        lambda: units_an_arm(1, -1),
        lambda: units_an_arm(0, 0.1),
        lambda: units_an_arm(1, 0.1, power=0.01),
        lambda: units_an_arm(1, 0.1, design_effect=0),
        lambda: smallest_change((1, 1), (0, 5)),
        lambda: smallest_change((1, float("inf")), (5, 5)),
    ],
)
def test_what_cannot_be_planned_is_refused(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        call()


@pytest.mark.parametrize(("discordant", "difference"), [(0.2, 0.05), (0.3, 0.1), (0.1, -0.04)])
def test_with_the_pairs_asked_for_the_asymptotic_mcnemar_test_finds_the_difference_about_as_often(
    discordant: float, difference: float
) -> None:
    n = ceil(sample_size_paired(discordant, difference))
    rng = np.random.default_rng(0)
    first, second = (discordant + difference) / 2, (discordant - difference) / 2
    drawn = rng.multinomial(n, [first, second, 1 - discordant], size=20_000)
    z = (drawn[:, 0] - drawn[:, 1]) / np.sqrt(drawn[:, 0] + drawn[:, 1])
    assert (np.abs(z) > 1.959964).mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("variation", "change"), [(0.5, -0.1), (2.0, -0.042), (1.0, 0.2)])
def test_the_smallest_change_of_arms_of_the_planned_size_is_the_planned_one(variation: float, change: float) -> None:
    n = units_an_arm(variation, change, design_effect=2)
    # The increase that is as far from 1 as a decrease, as a factor.
    decrease = change if change < 0 else 1 / (1 + change) - 1
    found = smallest_change((variation, variation), (round(n), round(n)), design_effect=2)
    assert found == pytest.approx(decrease, rel=1e-3)


def test_with_the_units_asked_for_a_change_of_skewed_sums_is_found_about_as_often() -> None:
    sigma, change = 1.0, -0.2
    variation = float(np.sqrt(np.exp(sigma**2) - 1))  # of a lognormal distribution
    n = ceil(units_an_arm(variation, change))
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        first, second = (np.column_stack([rng.lognormal(0, sigma, n), np.ones(n)]) for _ in range(2))
        first[:, 0] *= 1 + change
        found.append(compare_ratios(first, second).test.p_value < 0.05)
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)

"""Sample size."""

from math import ceil

import numpy as np
import pytest

from analysis.stats.power import sample_size_paired
from harness.errors import UsageError


@pytest.mark.parametrize(
    "call",
    [
        lambda: sample_size_paired(0.1, 0),
        lambda: sample_size_paired(0.1, 0.2),
        lambda: sample_size_paired(0.1, 0.05, power=0.01),
        lambda: sample_size_paired(0.1, 0.05, alpha=1),
        lambda: sample_size_paired(1.1, 0.05),
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

"""Quantiles of which only the bin is known, with an interval that holds whatever the distribution."""

import numpy as np
import pytest
from scipy.stats import binom

from misstep.analysis.stats.binned_quantiles import binned_quantile


@pytest.mark.parametrize("n", [1, 2, 5, 40, 1000])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.99])
def test_the_interval_ends_at_the_ranks_of_the_binomial_distribution(n: int, share: float) -> None:
    result = binned_quantile(np.ones(n, dtype=np.int64), share)
    first, last = binom.ppf([0.025, 0.975], n, share)
    assert (result.first, result.last) == (max(first, 1) - 1, min(last + 1, n) - 1)
    assert result.first <= result.bin <= result.last

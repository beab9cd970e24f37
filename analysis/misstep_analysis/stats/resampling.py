"""Bootstrap of statistics of rating patterns.

Resampling n items with replacement and counting their patterns gives a multinomial draw of the patterns' counts, so
one call draws all resamples and no item is ever copied. Merging patterns keeps this true: category counts and the
contingency table of two raters may be resampled each for itself.
"""

from collections.abc import Callable

import numpy as np

from misstep_analysis.stats.estimate import NO_WIDTH, Estimate
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_harness.errors import UsageError

_CHUNK = 4_000_000
"""Cells drawn at once: 32 MB."""


def bootstrap(
    statistic: Callable[[FloatArray], FloatArray], items: IntArray, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return a statistic of each of many resamples of the items.

    Parameters
    ----------
    statistic
        Sets x patterns → sets, or sets x figures: the statistic of each set of pattern counts.
    items
        Patterns: the items of each.

    Returns
    -------
    FloatArray
        Resamples, or resamples x figures; NaN where the statistic is undefined.
    """
    total = int(items.sum())
    shares = items / total
    chunk = max(1, _CHUNK // len(items))
    drawn = []
    for start in range(0, resamples, chunk):
        sets = rng.multinomial(total, shares, size=min(chunk, resamples - start))
        drawn.append(statistic(sets.astype(np.float64)))
    return np.concatenate(drawn)


def percentile_interval(values: FloatArray) -> tuple[float, float]:
    """Return the middle 95% of the defined values: NaN twice if none is defined."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    tail = (1 - 0.95) / 2  # in binary a little more than 0.025, as in all recorded figures
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def bootstrapped(value: float, values: FloatArray, n: int, reason: str = "", units: str = "items") -> Estimate:
    """Return an estimate with the percentile interval of its resamples.

    Resamples in which it is undefined are counted and said.

    Parameters
    ----------
    value
        The estimate itself, NaN where it is undefined.
    values
        Resamples: its value in each.
    n
        The items behind it.
    reason
        Why it is undefined.
    units
        What was resampled.
    """
    if np.isnan(value):
        return Estimate.of(value, n=n, reason=reason)
    low, high = percentile_interval(values)
    method = f"percentile bootstrap, {len(values):,} resamples of {units}"
    undefined = int(np.count_nonzero(np.isnan(values)))
    notes = []
    if undefined:
        method += f", {undefined:,} of them undefined and left out"
        notes.append(f"undefined in {undefined:,} of {len(values):,} resamples")
    if high - low < NO_WIDTH:
        notes.append("all resamples give the same value")
    return Estimate.of(value, low, high, n=n, method=method, reason="; ".join(notes))


def bca(values: FloatArray, rng: np.random.Generator, resamples: int = 10_000) -> Estimate:
    """Return the mean of a sample with its bias-corrected and accelerated bootstrap interval (Efron 1987), by scipy.

    Parameters
    ----------
    values
        Units: one number each.

    Raises
    ------
    UsageError
        There are no values, or one of them is missing.
    """
    from misstep_analysis.stats.checked import finite

    sample = finite(values, "a value")
    if not len(sample):
        raise UsageError("a bootstrap needs values")
    value, method = float(sample.mean()), f"BCa bootstrap, {resamples:,} resamples of items"
    if np.ptp(sample) == 0:
        return Estimate(value, n=len(sample), method=method, reason="all values are the same: the acceleration is 0/0")
    from scipy.stats import bootstrap as scipy_bootstrap

    interval = scipy_bootstrap((sample,), np.mean, n_resamples=resamples, method="BCa", random_state=rng)
    low, high = interval.confidence_interval
    return Estimate.of(value, float(low), float(high), n=len(sample), method=method)

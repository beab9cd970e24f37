"""Resampling whole clusters: for items that are not independent, such as ratings of one run.

Items of one cluster stand or fall together, so clusters are drawn with replacement and each brings all its items. An
interval over items that ignores this is too narrow.
"""

from collections.abc import Callable

import numpy as np

from analysis.stats.patterns import FloatArray, IntArray

_CHUNK = 4_000_000
"""Cells held at once: 32 MB."""


def cluster_bootstrap(
    statistic: Callable[[FloatArray], FloatArray], clusters: IntArray, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """A statistic of each of many resamples of clusters (Davison and Hinkley 1997, section 3.8).

    Parameters
    ----------
    statistic
        Sets x patterns → sets, or sets x figures: the statistic of each set of pattern counts.
    clusters
        Clusters x patterns: how many items of each pattern a cluster has.
    resamples
        How many resamples are drawn.
    rng
        The source of chance.

    Returns
    -------
    FloatArray
        Resamples, or resamples x figures; NaN where the statistic is undefined.
    """
    n = len(clusters)
    chunk = max(1, _CHUNK // max(clusters.shape))
    drawn = []
    for start in range(0, resamples, chunk):
        times = rng.multinomial(n, np.full(n, 1 / n), size=min(chunk, resamples - start))
        drawn.append(statistic((times @ clusters).astype(np.float64)))
    return np.concatenate(drawn)

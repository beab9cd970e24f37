"""A mean over all items from a judge's values, put right by the items that also carry gold labels.

Angelopoulos and others (2023), Prediction-powered inference, Science 382:669-674: the judge's mean plus its mean error
on the labelled items. For shares that is the share flagged, plus the share missed, less the share flagged wrongly.

The normal interval of that paper takes an error that was not seen for one that does not happen: of a judge that errs
on none of 20 to 40 labelled items it holds the truth far too seldom (`benchmarks/validity/RESULTS.md`). For shares the
bounds of the three shares are therefore put together: each is Clopper and Pearson's, over clusters Korn and Graubard's,
so that 20 items without an error leave room for one on 17% of all.
"""

from math import sqrt

import numpy.typing as npt

from misstep.analysis.stats.clusters.clustered import ONE_CLUSTER
from misstep.analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep.analysis.stats.estimate import Estimate

OUTSIDE = "outside 0 to 1 before it was cut"


def powered_share(
    flagged: npt.ArrayLike, missed: npt.ArrayLike, wrong: npt.ArrayLike, confidence: float = 0.95
) -> Estimate:
    """The share flagged plus the share missed less the share flagged wrongly, with bounds that hold with few labels.

    Distances from each share to its own bound are squared and added (Zou and Donner 2008, Construction of confidence
    limits about effect measures, Statistics in Medicine 27:1693-1702), with the covariance of the shares missed and
    flagged wrongly, which are of the same items. That of the share flagged is not counted on: it makes the interval
    narrower. Estimate and bounds are cut to 0..1.

    Parameters
    ----------
    flagged
        Clusters x (flagged, judged): items that stand for themselves are clusters of one.
    missed, wrong
        Clusters x (positive and not flagged, labelled), and x (flagged and not positive, labelled).
    confidence
        The coverage of the interval.

    Raises
    ------
    UsageError
        Nothing was judged or labelled, or a cluster has more of something than items.
    """
    shares = [korn_graubard(clusters, confidence) for clusters in (flagged, missed, wrong)]
    said, low_error, high_error = (float(one.value or 0.0) for one in shares)
    raw, labelled = said + low_error - high_error, shares[1].n
    value = min(1.0, max(0.0, raw))
    method = f"prediction-powered, {shares[1].method.removesuffix(f', {100 * confidence:g}%')} bounds of errors, "
    method += f"{100 * confidence:g}%"
    if any(one.low is None for one in shares):
        return Estimate(value, n=labelled, method=method, reason=ONE_CLUSTER)
    (below, above), (missed_below, missed_above), (wrong_below, wrong_above) = (
        (float(one.value or 0.0) - float(one.low or 0.0), float(one.high or 0.0) - float(one.value or 0.0))
        for one in shares
    )
    # A missed item raises the mean and a wrongly flagged one lowers it: the lower limit takes the lower bound of the
    # first and the upper bound of the second.
    together = _correlation(low_error, high_error)
    down = sqrt(below**2 + missed_below**2 + wrong_above**2 + 2 * together * missed_below * wrong_above)
    up = sqrt(above**2 + missed_above**2 + wrong_below**2 + 2 * together * missed_above * wrong_below)
    low, high = (min(1.0, max(0.0, limit)) for limit in (raw - down, raw + up))
    return Estimate(value, low, high, labelled, method, "" if value == raw else OUTSIDE)


def _correlation(missed: float, wrong: float) -> float:
    """Return how far the shares missed and flagged wrongly draw apart: an item can only be one of both."""
    rest = (1 - missed) * (1 - wrong)
    return sqrt(missed * wrong / rest) if rest else 0.0

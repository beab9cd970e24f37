"""A share with other intervals than those that are shown, and one corrected by known error rates of its judge."""

from math import sqrt

import numpy.typing as npt
from msgspec import structs

from misstep.analysis.stats.clusters.clustered import NO_SPREAD, ONE_CLUSTER, cluster_columns, linearised_variance
from misstep.analysis.stats.correction import OUTSIDE, Prevalence
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.harness.errors import UsageError


def jeffreys(x: int, n: int, confidence: float = 0.95) -> Estimate:
    """The share `x / n` with the equal-tailed interval of the posterior under Jeffreys' prior, Beta(1/2, 1/2).

    The lower end is 0 where x is 0 and the upper end 1 where x is n: without this convention the interval would leave
    out the observed share (Brown, Cai and DasGupta 2001, Statistical Science 16:101-133).
    """
    from scipy.special import betainccinv, betaincinv

    share = wilson(x, n, confidence)  # refuses what cannot be

    method = f"Jeffreys, {100 * confidence:g}%"
    tail = (1 - confidence) / 2
    low = 0.0 if x == 0 else float(betaincinv(x + 0.5, n - x + 0.5, tail))
    high = 1.0 if x == n else float(betainccinv(x + 0.5, n - x + 0.5, tail))
    return structs.replace(share, low=low, high=high, method=method)


def clustered_proportion(clusters: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """A share of clustered items with the interval by Student's t with clusters - 1 degrees of freedom.

    Near 0 and 1 it holds the truth too seldom, even over many clusters: `clustered_bounds.korn_graubard` is shown.
    """
    from scipy.special import stdtrit

    x, n = cluster_columns(clusters)
    share, count = float(x.sum() / n.sum()), len(n)
    method = f"clustered, t, {100 * confidence:g}%"
    if count < 2:
        return Estimate(share, n=int(n.sum()), method=method, reason=ONE_CLUSTER)
    variance = float(linearised_variance(x, n)) * count / (count - 1)
    if variance == 0:
        return Estimate(share, n=int(n.sum()), method=method, reason=NO_SPREAD)
    half = float(stdtrit(count - 1, (1 + confidence) / 2)) * sqrt(variance)
    return Estimate(share, max(0.0, share - half), min(1.0, share + half), int(n.sum()), method)


def rogan_gladen_known(
    flagged: tuple[int, int], sensitivity: float, specificity: float, confidence: float = 0.95
) -> Prevalence:
    """Prevalence corrected by a known sensitivity and specificity, with the transformed Wilson interval.

    Reiczigel, Földi and Ózsvári (2010), Epidemiol. Infect. 138:1674-1678.
    """
    if not 0 <= flagged[0] <= flagged[1] or flagged[1] == 0:
        raise UsageError(f"{flagged[0]} of {flagged[1]} items flagged")
    if not (0 <= sensitivity <= 1 and 0 <= specificity <= 1):
        raise UsageError(f"sensitivity {sensitivity:g} and specificity {specificity:g} lie between 0 and 1")
    if sensitivity + specificity <= 1:
        raise UsageError(f"sensitivity {sensitivity:g} and specificity {specificity:g} sum to 1 or less")
    share = wilson(*flagged, confidence)
    apparent, low, high = flagged[0] / flagged[1], share.low or 0.0, 1.0 if share.high is None else share.high
    raw, *limits = ((rate + specificity - 1) / (sensitivity + specificity - 1) for rate in (apparent, low, high))
    method = f"Rogan-Gladen, known sensitivity and specificity, Wilson {100 * confidence:g}%"
    value, *ends = (min(1.0, max(0.0, one)) for one in (raw, *limits))
    method += ", cut to 0..1" if ends != limits else ""
    estimate = Estimate(value, *ends, flagged[1], method, "" if value == raw else OUTSIDE)
    return Prevalence(estimate, apparent, raw, None, (limits[0], limits[1]))

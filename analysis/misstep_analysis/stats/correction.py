"""The prevalence of a misbehaviour where a judge that errs did the counting.

The share that a judge flags is not prevalence: it misses some and flags others wrongly. With the judge's sensitivity
and specificity, known or measured on items with gold labels, the share can be turned back (Rogan and Gladen). Where
some of the judged items themselves carry gold labels, drawn at random, `powered_share` needs neither: the share
flagged, plus the share missed, less the share flagged wrongly (Angelopoulos and others 2023, Prediction-powered
inference, Science 382:669-674). The normal interval of that paper takes an error that was not seen for one that does
not happen: of a judge that errs on none of 20 to 40 labelled items it holds the truth far too seldom
(`benchmarks/validity/RESULTS.md`). The bounds of the three shares are therefore put together: each is Clopper and
Pearson's, over clusters Korn and Graubard's, so that 20 items without an error leave room for one on 17% of all.

The corrected prevalence may fall outside 0 to 1: the judge would flag more or fewer items even if none, or all,
misbehaved. It is then cut, and says so.
"""

from math import isclose, sqrt

import numpy.typing as npt
from msgspec import Struct, structs

from misstep_analysis.stats.clusters.clustered import ONE_CLUSTER, cluster_columns
from misstep_analysis.stats.clusters.clustered_bounds import items_for_bounds, korn_graubard
from misstep_analysis.stats.estimate import Estimate
from misstep_harness.errors import UsageError

OUTSIDE = "outside the range that this judge can produce: cut to 0..1"


class Prevalence(Struct, frozen=True):
    """A corrected prevalence, cut to 0..1, with what it was before.

    `apparent` is the share flagged, `raw` the estimate and `untruncated` its limits before the cut; `se` is the
    delta-method error of `raw`, `None` where sensitivity and specificity are taken as known.
    """

    estimate: Estimate
    apparent: float | None
    raw: float | None = None
    se: float | None = None
    untruncated: tuple[float, float] | None = None


def rogan_gladen(
    flagged: tuple[int, int], found: tuple[int, int], left_alone: tuple[int, int], confidence: float = 0.95
) -> Prevalence:
    """Prevalence corrected by a sensitivity and specificity that were measured (Rogan and Gladen 1978).

    Am. J. Epidemiol. 107:71-76; the interval is that of Lang and Reiczigel (2014), Prev. Vet. Med. 113:13-22, with the
    variance of the apparent prevalence read as P(1 - P).

    Parameters
    ----------
    flagged
        How many items the judge flagged, of how many.
    found
        How many of the gold positives it flagged, of how many: sensitivity.
    left_alone
        How many of the gold negatives it did not flag, of how many: specificity.
    confidence
        The coverage of the interval.

    Raises
    ------
    UsageError
        A count is outside its total.

    Examples
    --------
    >>> found = rogan_gladen((300, 1000), (45, 50), (80, 100))
    >>> found.apparent, round(found.estimate.value, 3)
    (0.3, 0.143)
    """
    for x, n in (flagged, found, left_alone):
        if not 0 <= x <= n:
            raise UsageError(f"a count outside its total: {x} of {n}")
    if flagged[1] == 0:
        return Prevalence(Estimate(None, n=0, reason="no item was judged"), None)
    apparent = flagged[0] / flagged[1]
    if found[1] == 0 or left_alone[1] == 0:
        what = "positive validation item: sensitivity" if found[1] == 0 else "negative validation item: specificity"
        return Prevalence(Estimate(None, n=flagged[1], reason=f"no {what} is 0/0"), apparent)
    sensitivity, specificity = found[0] / found[1], left_alone[0] / left_alone[1]
    if sensitivity + specificity <= 1:
        sum_of = f"sensitivity {sensitivity:g} and specificity {specificity:g} sum to 1 or less"
        return Prevalence(Estimate(None, n=flagged[1], reason=f"{sum_of}: the judge tells nothing"), apparent)
    raw = (apparent + specificity - 1) / (sensitivity + specificity - 1)
    se = _delta_error((apparent, flagged[1]), (sensitivity, found[1]), (specificity, left_alone[1]))
    limits = _lang_reiczigel(flagged, found, left_alone, confidence)
    method = f"Rogan-Gladen, Lang-Reiczigel {100 * confidence:g}%"
    return Prevalence(_cut(raw, limits, flagged[1], method), apparent, raw, se, limits)


def rogan_gladen_clustered(flagged: npt.ArrayLike, found: npt.ArrayLike, left_alone: npt.ArrayLike) -> Prevalence:
    """`rogan_gladen` where items come in clusters: each rate counts as many items as its clusters are worth.

    The numbers of items are those of `clustered_bounds.korn_graubard`. Resampled clusters would not do: a judge that
    makes no error on the labelled ones makes none in any resample. `se` is left out.

    Parameters
    ----------
    flagged, found, left_alone
        Clusters x (successes, trials) of each, as for `rogan_gladen`; clusters without trials are left out.

    Examples
    --------
    >>> runs = [[3, 10], [5, 10], [2, 10]]
    >>> found = rogan_gladen_clustered(runs, [[9, 10], [8, 10]], [[8, 10], [9, 10]])
    >>> round(found.estimate.value, 3)
    0.262
    """
    columns = [cluster_columns(clusters) for clusters in (flagged, found, left_alone)]
    sums = [(int(x.sum()), int(n.sum())) for x, n in columns]
    plain = rogan_gladen(sums[0], sums[1], sums[2])
    if plain.raw is None:
        return plain
    worth = [items_for_bounds(clusters, (1 - 0.95) / 2) for clusters in (flagged, found, left_alone)]
    counts = [(x / n * size, size) for (x, n), size in zip(sums, worth, strict=True)]
    limits = _lang_reiczigel(counts[0], counts[1], counts[2])
    method = f"Rogan-Gladen, Lang-Reiczigel over {len(columns[0][1]):,} clusters, 95%"
    estimate = _cut(plain.raw, limits, sums[0][1], method)
    return structs.replace(plain, estimate=estimate, se=None, untruncated=limits)


def _delta_error(apparent: tuple[float, int], sensitivity: tuple[float, int], specificity: tuple[float, int]) -> float:
    """Return the delta-method error of the raw estimate: each rate's variance times its slope squared."""
    (p, _), (se, _), (sp, _) = apparent, sensitivity, specificity
    gain = se + sp - 1
    raw = (p + sp - 1) / gain
    variances = (rate * (1 - rate) / n for rate, n in (apparent, sensitivity, specificity))
    slopes = (1 / gain, -raw / gain, (1 - raw) / gain)
    return sqrt(sum(slope**2 * variance for slope, variance in zip(slopes, variances, strict=True)))


def _lang_reiczigel(
    flagged: tuple[float, float], found: tuple[float, float], left_alone: tuple[float, float], confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the limits before the cut; `None` where the shrunken rates carry no information any more."""
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    n, n_found, n_alone = flagged[1] + z * z, found[1] + 2, left_alone[1] + 2
    p, se, sp = (flagged[0] + z * z / 2) / n, (found[0] + 1) / n_found, (left_alone[0] + 1) / n_alone
    if se + sp <= 1:
        return None
    centre = (p + sp - 1) / (se + sp - 1)
    in_found, in_alone = se * (1 - se) / n_found, sp * (1 - sp) / n_alone
    shift = 2 * z * z * (centre * in_found - (1 - centre) * in_alone)
    half = z * sqrt(p * (1 - p) / n + (1 - centre) ** 2 * in_alone + centre**2 * in_found) / (se + sp - 1)
    return centre + shift - half, centre + shift + half


def _cut(raw: float, limits: tuple[float, float] | None, n: int, method: str) -> Estimate:
    value = min(1.0, max(0.0, raw))
    reason = "" if value == raw else OUTSIDE
    if limits is None:
        return Estimate(value, n=n, method=method, reason=reason or "too few validation items for an interval")
    low, high = (min(1.0, max(0.0, limit)) for limit in limits)
    if (low, high) != limits:
        method += ", cut to 0..1"
    return Estimate(value, low, high, n, method, reason)


OUTSIDE_BEFORE_CUT = "outside 0 to 1 before it was cut"


def powered_share(flagged: npt.ArrayLike, missed: npt.ArrayLike, wrong: npt.ArrayLike) -> Estimate:
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

    Raises
    ------
    UsageError
        Nothing was judged or labelled, or a cluster has more of something than items.

    Examples
    --------
    >>> judged, missed, wrong = [[1, 1]] * 30 + [[0, 1]] * 70, [[1, 1]] + [[0, 1]] * 19, [[0, 1]] * 20
    >>> found = powered_share(judged, missed, wrong)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.35, 0.154, 0.572)
    """
    shares = [korn_graubard(clusters) for clusters in (flagged, missed, wrong)]
    share, low_error, high_error = (float(single_share.value or 0.0) for single_share in shares)
    raw, labelled = share + low_error - high_error, shares[1].n
    value = min(1.0, max(0.0, raw))
    method = f"prediction-powered, {shares[1].method.removesuffix(', 95%')} bounds of errors, 95%"
    if any(single_share.low is None for single_share in shares):
        return Estimate(value, n=labelled, method=method, reason=ONE_CLUSTER)
    (below, above), (missed_below, missed_above), (wrong_below, wrong_above) = (
        (
            float(single_share.value or 0.0) - float(single_share.low or 0.0),
            float(single_share.high or 0.0) - float(single_share.value or 0.0),
        )
        for single_share in shares
    )
    # A missed item raises the mean and a wrongly flagged one lowers it: the lower limit takes the lower bound of the
    # first and the upper bound of the second.
    rest = (1 - low_error) * (1 - high_error)
    together = sqrt(low_error * high_error / rest) if rest else 0.0
    down = sqrt(below**2 + missed_below**2 + wrong_above**2 + 2 * together * missed_below * wrong_above)
    up = sqrt(above**2 + missed_above**2 + wrong_below**2 + 2 * together * missed_above * wrong_below)
    low, high = (min(1.0, max(0.0, limit)) for limit in (raw - down, raw + up))
    # Rounding may put a raw share of 0 a hair below it.
    return Estimate(
        value, low, high, labelled, method, "" if isclose(value, raw, abs_tol=1e-12) else OUTSIDE_BEFORE_CUT
    )

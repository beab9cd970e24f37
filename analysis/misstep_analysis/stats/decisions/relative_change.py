"""Two arms of an experiment compared by a ratio of sums, and the relative change from one to the other.

A ratio of sums is a rate (failed calls over calls) or a mean a session (tokens over sessions). Units are what was
assigned, such as an engineer with several sessions: numerator and denominator of one unit belong together, and the
variance is that of the linearised ratio (the delta method; Deng, Knoblich and Lu 2018, Applying the Delta Method in
Metric Analytics, KDD), not that of a proportion, whose items would be independent.

`compare_ratios` goes by Student's t; `compare_skewed` tests by permutation, for sums that a few sessions dominate. Both
keep to means: what a change costs is a sum, and a test of logarithms, ranks or trimmed sums may find a change where the
sum has none.

Where a paper prints a change and its p-value alone, `implied_change` gives the interval that they imply (Altman and
Bland 2011, How to obtain the confidence interval from a P value, BMJ 343:d2090).
"""

from math import expm1, inf, log, log1p, sqrt
from sys import float_info

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from misstep_analysis.stats.checked import finite
from misstep_analysis.stats.clusters.clustered import satterthwaite, small_sample
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.patterns import FloatArray
from misstep_analysis.stats.significance import Significance
from misstep_harness.errors import UsageError

NO_SPREAD = "no spread between units: standard error 0"
ONE_UNIT = "an arm with fewer than two units has no variance"
NO_CONTROL = "the control's ratio is 0: no relative change"
UNBOUNDED = "the control's ratio is not told apart from 0: the relative change has no bounds"

_CELLS = 4_000_000


class RatioComparison(Struct, frozen=True):
    """The first arm against the second, which is the control.

    `ratios` are the arms' own, `difference` is the first less the second, `relative` is the first over the second
    less 1, and `test` is of no difference; `se` is the standard error of the difference.
    """

    ratios: tuple[Estimate, Estimate]
    difference: Estimate
    relative: Estimate
    test: Significance
    se: float | None = None


def compare_ratios(first: npt.ArrayLike, second: npt.ArrayLike, confidence: float = 0.95) -> RatioComparison:
    """Return two arms' ratios of sums: Welch's t over units, and Fieller's interval of the relative change.

    Fieller (1954), J. R. Stat. Soc. B 16:175-185, with the degrees of freedom of the test throughout: the interval
    holds 0 exactly where the test does not reject.

    Parameters
    ----------
    first, second
        Units x (numerator, denominator) of the treatment and of the control, none missing.

    Raises
    ------
    UsageError
        An arm has no units, a value is missing, or a denominator is negative.

    Examples
    --------
    >>> found = compare_ratios([[1, 10], [0, 8], [2, 12], [1, 9]], [[3, 10], [2, 8], [4, 12], [2, 9]])
    >>> round(found.relative.value, 3), round(found.test.p_value, 3)
    (-0.636, 0.007)
    """
    arms = _pairs(first).T, _pairs(second).T
    ratios = tuple(ratio_of_sums(y, x, confidence) for y, x in arms)
    (r1, e1, n1), (r2, e2, n2) = (linearised_ratio(*arm) for arm in arms)
    units, both = n1 + n2, (ratios[0], ratios[1])
    if r1 is None or r2 is None or e1 is None or e2 is None:
        undefined = r1 is None or r2 is None
        reason = "the denominators of an arm sum to 0: 0/0" if undefined else ONE_UNIT
        known = None if r1 is None or r2 is None else r1 - r2
        return _unknown(both, known, _relative_value(r1, r2), units, reason)
    difference, se = r1 - r2, sqrt(e1**2 + e2**2)
    if is_flat(se, max(abs(r1), abs(r2))):
        return _unknown(both, difference, _relative_value(r1, r2), units, NO_SPREAD)
    from scipy.special import stdtr, stdtrit

    errors = (e1, e2)
    degrees = satterthwaite([error**2 for error in errors], [small_sample(x)[1] for _, x in arms])
    quantile, t = float(stdtrit(degrees, (1 + confidence) / 2)), difference / se
    by_t = f"delta method over units, t with {degrees:.1f} degrees of freedom"
    shown = f"{100 * confidence:g}%"
    return RatioComparison(
        both,
        Estimate(difference, difference - quantile * se, difference + quantile * se, units, f"{by_t}, {shown}"),
        _fieller((r1, e1), (r2, e2), quantile, units, f"Fieller over units, {shown}"),
        Significance(t, float(2 * stdtr(degrees, -abs(t))), units, by_t),
        se,
    )


def compare_skewed(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    rng: np.random.Generator,
    draws: int = 2_000,
    confidence: float = 0.95,
) -> RatioComparison:
    """Return two arms' ratios of sums with a studentised permutation test, which takes no distribution for granted.

    Units change arms whole. The studentised difference keeps the level also where the arms' spreads differ (Janssen
    1997, Stat. Probab. Lett. 36:9-21; Chung and Romano 2013, Ann. Stat. 41:484-507). The intervals are those of
    `compare_ratios`: with few skewed units a bootstrap's are too short (`benchmarks/validity/RESULTS.md`).

    Parameters
    ----------
    rng, draws
        The source of chance, and how many permutations are drawn; the p-value counts the arms as they are as one of
        them, so that it is never 0.
    """
    plain = compare_ratios(first, second, confidence)
    if plain.se is None:
        return plain
    return structs.replace(plain, test=_permuted((_pairs(first), _pairs(second)), plain, rng, draws))


def _pairs(arm: npt.ArrayLike) -> FloatArray:
    pairs = finite(arm, "a value")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise UsageError("no arm of units", "Give one row a unit: its numerator and its denominator.")
    return pairs


def _relative_value(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None or second == 0 else first / second - 1


def _unknown(
    ratios: tuple[Estimate, Estimate], difference: float | None, relative: float | None, units: int, reason: str
) -> RatioComparison:
    no_change = reason if relative is not None or difference is None else NO_CONTROL
    return RatioComparison(
        ratios,
        Estimate(difference, n=units, reason=reason),
        Estimate(relative, n=units, reason=no_change),
        Significance(None, None, units, reason=reason),
    )


def _fieller(
    first: tuple[float, float], second: tuple[float, float], quantile: float, units: int, method: str
) -> Estimate:
    (r1, e1), (r2, e2) = first, second
    if r2 == 0:
        return Estimate(None, n=units, method=method, reason=NO_CONTROL)
    value = r1 / r2 - 1
    lead = r2**2 - (quantile * e2) ** 2
    if lead <= 0:
        return Estimate(value, n=units, method=method, reason=UNBOUNDED)
    # Not below 0 where the control is told apart from 0, but for rounding.
    root = sqrt(max(0.0, (r1 * r2) ** 2 - (r1**2 - (quantile * e1) ** 2) * lead))
    return Estimate(value, (r1 * r2 - root) / lead - 1, (r1 * r2 + root) / lead - 1, units, method)


def _permuted(
    arms: tuple[FloatArray, FloatArray], plain: RatioComparison, rng: np.random.Generator, draws: int
) -> Significance:
    """Return how often units that change arms at random give a studentised difference as far from 0."""
    pooled, size = np.concatenate(arms), len(arms[0])
    y, x = pooled[:, 0], pooled[:, 1]
    moments = np.column_stack([y, x, y * y, x * y, x * x])
    total, far = moments.sum(axis=0), 0
    own = moments[:size].sum(axis=0)[None, :]
    observed = float(_studentised(own, total - own, size, len(pooled) - size)[0])
    chunk = max(1, _CELLS // len(pooled))
    for start in range(0, draws, chunk):
        sets = min(chunk, draws - start)
        ranks = rng.random((sets, len(pooled))).argpartition(size - 1, axis=1)
        chosen = np.zeros((sets, len(pooled)))
        np.put_along_axis(chosen, ranks[:, :size], 1.0, axis=1)
        inside = chosen @ moments
        far += int((_studentised(inside, total - inside, size, len(pooled) - size) >= observed * (1 - 1e-9)).sum())
    test = f"studentised permutation of units, {draws:,} drawn"
    return Significance(plain.test.statistic, (far + 1) / (draws + 1), plain.test.n, test)


def _studentised(first: FloatArray, second: FloatArray, n1: int, n2: int) -> FloatArray:
    """Return the absolute differences of two ratios over their standard errors, from sums of y, x, y², xy and x²."""
    ratios, variances = [], []
    with np.errstate(divide="ignore", invalid="ignore"):
        for sums, n in ((first, n1), (second, n2)):
            y, x, yy, xy, xx = sums.T
            ratio = y / x
            squares = np.maximum(yy - 2 * ratio * xy + ratio**2 * xx, 0.0)
            ratios.append(ratio)
            variances.append(squares * n / (n - 1) / x**2)
        statistics = np.abs(ratios[0] - ratios[1]) / np.sqrt(variances[0] + variances[1])
    return np.asarray(np.nan_to_num(statistics, nan=0.0, posinf=np.inf))


_LARGEST = log(float_info.max)


def implied_change(change: float, p_value: float) -> Estimate:
    """Return the interval of a relative change from its two-sided p-value, if the test was a normal one.

    Parameters
    ----------
    change
        The treatment over the control less 1, above -1.
    p_value
        Above 0 and at most 1.

    Raises
    ------
    UsageError
        The change is not above -1, or the p-value outside 0 to 1.

    Examples
    --------
    >>> found = implied_change(-0.053, 0.003)
    >>> round(found.low, 3), round(found.high, 3)
    (-0.086, -0.018)
    """
    from scipy.special import ndtri

    if not change > -1:
        raise UsageError(f"a relative change of {change:g}", "It is above -1.")
    if not 0 < p_value <= 1:
        raise UsageError(f"a p-value outside 0 to 1: {p_value:g}")
    z, log_ratio = float(-ndtri(p_value / 2)), log1p(change)
    method = "implied by the p-value, normal on the log scale, 95%"
    if z == 0 or log_ratio == 0:
        reason = "no change, or a p-value of 1, implies no standard error"
        return Estimate(change, method=method, reason=reason)
    half = float(ndtri(0.975)) * (abs(log_ratio) / z)
    return Estimate(change, expm1(log_ratio - half), _change(log_ratio + half), method=method)


def _change(log_ratio: float) -> float:
    """Return the relative change of a log ratio; infinite where a p-value near 1 leaves the change wide open."""
    return expm1(log_ratio) if log_ratio < _LARGEST else inf


_ROUNDING = 1e-12
"""The standard error of units that are all alike, as a share of their ratio: what rounding leaves of 0."""


def ratio_of_sums(numerators: npt.ArrayLike, denominators: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Return the sum of the numerators over the sum of the denominators, with the delta-method interval by Student's t.

    Parameters
    ----------
    numerators, denominators
        Units: what each adds to either sum, none missing.

    Raises
    ------
    UsageError
        The lengths differ, there are no units, a value is missing, or a denominator is negative.
    """
    value, error, n = linearised_ratio(numerators, denominators)
    if value is None or error is None:
        return Estimate(
            value, n=n, reason="the denominators sum to 0: 0/0" if value is None else "one unit has no variance"
        )
    if is_flat(error, value):
        return Estimate(value, n=n, reason="all units have the same ratio: standard error 0")
    from scipy.special import stdtrit

    half = float(stdtrit(small_sample(denominators)[1], (1 + confidence) / 2)) * error
    return Estimate(value, value - half, value + half, n, f"ratio of sums, delta method, {100 * confidence:g}%")


def linearised_ratio(numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> tuple[float | None, float | None, int]:
    """The ratio, its delta-method standard error, and the number of units; arguments and errors as `ratio_of_sums`.

    The ratio is `None` where it is 0/0, the error with a single unit that has a denominator as well. Units of unequal
    denominators count as `clusters.clustered.small_sample` has it.
    """
    y, x = finite(numerators, "a numerator"), finite(denominators, "a denominator")
    if y.shape != x.shape or y.ndim != 1 or not len(y):
        raise UsageError(f"{y.size} numerators and {x.size} denominators", "Give one of each a unit.")
    if (x < 0).any():
        raise UsageError(f"a denominator of {x.min():g}", "Denominators are not negative.")
    n = len(y)
    if x.sum() == 0:
        return None, None, n
    ratio = float(y.sum() / x.sum())
    if np.count_nonzero(x) < 2:
        return ratio, None, n
    residuals = y - ratio * x
    return ratio, float(np.sqrt((residuals**2).sum() * small_sample(x)[0])) / float(x.sum()), n


def is_flat(error: float, value: float) -> bool:
    """Return whether a standard error is what rounding leaves of 0."""
    return error <= _ROUNDING * abs(value)


def unit_variation(numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> float | None:
    """The coefficient of variation of a unit in a ratio of sums: its part of the error over the ratio, for planning.

    With denominators of 1 it is the standard deviation over the mean. `None` where it is 0/0, or all units are alike.
    Arguments and errors as `ratio_of_sums`.

    Examples
    --------
    >>> round(unit_variation([1, 2, 3], [1, 1, 1]), 3)
    0.5
    """
    ratio, error, n = linearised_ratio(numerators, denominators)
    if not ratio or error is None or is_flat(error, ratio):
        return None
    return float(np.sqrt(n) * error / abs(ratio))

"""Standard errors of agreement coefficients by formula, without resampling.

Two questions have two answers. The sampling error (items are a sample; for an interval) of Fleiss' kappa, AC1, AC2
and Brennan-Prediger is Gwet's (Handbook of Inter-Rater Reliability, 4th ed. 2014): the spread of each item's own
contribution. The null error (for a test of no agreement beyond chance) of Fleiss' kappa is that of Fleiss, Nee and
Landis (1979); it is not a measure of an interval. Krippendorff's alpha has no such formula for every level: its error
is a jackknife over groups of items.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np

from misstep_analysis.stats.raters.coefficients import (
    Counts,
    category_shares,
    gwet_chance,
    item_agreement,
    observed_agreement,
)
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray

_GROUPS = 200
"""Groups of a jackknife: enough for a standard error to about 5%, few enough for any number of items."""

_CHUNK = 4_000_000
"""Cells of sets x patterns at once: 32 MB."""

_NOISE = 1e-13
"""A variance below this is 0 and a rounding error."""


def cohen_errors(table: IntArray, weights: FloatArray) -> tuple[float, float]:
    """Sampling and null standard error of Cohen's kappa (Fleiss, Cohen and Everitt 1969, formulas 5 and 9).

    Psychological Bulletin 72:323-327. statsmodels has them too, but builds frozen distributions for each table, which
    takes a hundred times as long where raters are many: 123 of them make 7,503 tables.

    Parameters
    ----------
    table
        Categories x categories: rows the first rater's, columns the second's, whose chance agreement is not certain.
    weights
        Categories x categories: how much of an agreement each pair is.

    Returns
    -------
    tuple of float
        The error for an interval, and the one where agreement is by chance, for a test.
    """
    n = float(table.sum())
    cells = table / n
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    # Near a certain chance agreement rounding exceeds any fixed bound, so what is 0 by algebra is set.
    constant = 1 in (np.count_nonzero(rows), np.count_nonzero(columns))
    if constant:
        return 0.0, 0.0
    observed, expected = float((weights * cells).sum()), float(rows @ weights @ columns)
    by_margins = (weights @ columns)[:, None] + (rows @ weights)[None, :]
    spread = (cells * (weights * (1 - expected) - by_margins * (1 - observed)) ** 2).sum()
    sampling = (spread - (observed * expected - 2 * expected + observed) ** 2) / (n * (1 - expected) ** 4)
    null = ((np.outer(rows, columns) * (weights - by_margins) ** 2).sum() - expected**2) / (n * (1 - expected) ** 2)
    perfect = int(np.trace(table)) == n
    return 0.0 if perfect else _root(float(sampling)), _root(float(null))


def _root(variance: float) -> float:
    return sqrt(variance) if variance > _NOISE else 0.0


def fleiss_error(counts: Counts, items: IntArray) -> float:
    """Sampling standard error of Fleiss' kappa (Gwet 2014), with missing ratings.

    Parameters
    ----------
    counts
        Patterns x categories.
    items
        Patterns: the items of each.

    Returns
    -------
    float
        NaN where the kappa is undefined or there are fewer than two rated items.
    """
    shares = _shares(counts, items)
    return _gwet_error(counts, items, None, shares, float((shares**2).sum()))


def gwet_error(counts: Counts, items: IntArray, weights: FloatArray | None = None) -> float:
    """Sampling standard error of AC1, or of AC2 with weights (Gwet 2014); arguments as for `fleiss_error`."""
    shares = _shares(counts, items)
    expected = float(gwet_chance(shares[None, :], weights)[0])
    if np.isnan(expected):
        return float("nan")
    categories = counts.shape[1]
    total = categories if weights is None else float(weights.sum())
    slopes = total / (categories * (categories - 1)) * (1 - shares)
    return _gwet_error(counts, items, weights, slopes, expected)


def _shares(counts: Counts, items: IntArray) -> FloatArray:
    return np.asarray(category_shares(items[None, :].astype(np.float64), counts)[0])


def _gwet_error(
    counts: Counts, items: IntArray, weights: FloatArray | None, slopes: FloatArray, expected: float
) -> float:
    """Return the spread of the items' own contributions to a coefficient.

    An item contributes its agreement beyond chance, less what its ratings do to the chance agreement: the mean of
    `slopes` over its ratings.
    """
    ratings = counts.sum(axis=1)
    rated = ratings >= 1
    counts, items, ratings = counts[rated], items[rated], ratings[rated]
    n = int(items.sum())
    pairable = int(items[ratings >= 2].sum())
    if n < 2 or pairable == 0 or expected >= 1:
        return float("nan")
    observed = float(observed_agreement(items[None, :].astype(np.float64), counts, weights)[0])
    value = (observed - expected) / (1 - expected)
    own = np.where(ratings >= 2, n / pairable * (item_agreement(counts, weights) - expected) / (1 - expected), 0.0)
    own_chance = counts @ slopes / ratings
    contribution = own - 2 * (1 - value) * (own_chance - expected) / (1 - expected)
    return sqrt(float(items @ (contribution - value) ** 2) / (n * (n - 1)))


def fleiss_null_error(n_items: int, ratings: int, shares: FloatArray) -> float:
    """Standard error of Fleiss' kappa without agreement beyond chance (Fleiss, Nee and Landis 1979).

    Parameters
    ----------
    n_items
        The number of items.
    ratings
        Ratings an item, the same for all.
    shares
        Categories: how often each is used.
    """
    spread = shares * (1 - shares)
    total = float(spread.sum())
    if total == 0:
        return float("nan")
    inner = total**2 - float((spread * (1 - 2 * shares)).sum())
    return sqrt(2 * max(inner, 0.0)) / (total * sqrt(n_items * ratings * (ratings - 1)))


def fleiss_category_null_error(n_items: int, ratings: int) -> float:
    """Return the same for the kappa of one category, where it does not depend on the category."""
    return sqrt(2 / (n_items * ratings * (ratings - 1)))


def jackknife_error(
    statistic: Callable[[FloatArray], FloatArray], items: IntArray, of_item: IntArray, seed: int
) -> float:
    """Standard error of a statistic by leaving out one group of items after another.

    Parameters
    ----------
    statistic
        Sets x patterns → sets: the statistic of each set of weights.
    of_item
        Items: the pattern of each.
    seed
        Decides which items form a group; with 200 items or fewer each is its own group.

    Returns
    -------
    float
        NaN where the statistic is undefined without some group.
    """
    groups = min(_GROUPS, len(of_item))
    if groups < 2:
        return float("nan")
    group_of = np.arange(len(of_item)) % groups
    np.random.default_rng(seed).shuffle(group_of)
    chunk = max(1, _CHUNK // len(items))
    values = []
    for first in range(0, groups, chunk):
        size = min(chunk, groups - first)
        inside = (group_of >= first) & (group_of < first + size)
        keys = (group_of[inside] - first) * len(items) + of_item[inside]
        left_out = np.bincount(keys, minlength=size * len(items)).reshape(size, len(items))
        values.append(statistic((items - left_out).astype(np.float64)))
    each = np.concatenate(values)
    return sqrt((groups - 1) / groups * float(((each - each.mean()) ** 2).sum()))

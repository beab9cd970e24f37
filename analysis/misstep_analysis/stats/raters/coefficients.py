"""Coefficients of agreement as array functions: one value a set of weights.

Data are patterns (`patterns`); weights are a matrix, sets x patterns, that says how many items each
pattern has in each set. One set with the counts as they are gives the estimate; thousands of sets drawn from a
multinomial give its bootstrap; sets with some items left out give its jackknife. What is undefined is NaN here; the
functions of `analysis.stats.raters.agreement` say why.

Category counts are patterns x categories, float or integer. An item with fewer than two ratings says nothing about
agreement; with one it still says something about how often categories are used.
"""

from typing import Literal, get_args

import numpy as np

from misstep_analysis.stats.checked import known
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray

ONE_CATEGORY = "all ratings are of one category, so agreement by chance is certain and the coefficient is 0/0"
ONE_CATEGORY_SCALE = "the scale has one category: nothing could differ"
NO_DISAGREEMENT = "all ratings of items rated twice are alike, so no disagreement is expected and alpha is 0/0"

Counts = IntArray | FloatArray
Level = Literal["nominal", "ordinal", "interval", "ratio"]
Weighting = Literal["unweighted", "linear", "quadratic"]


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return a quotient that is NaN where the denominator is 0.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    result: FloatArray = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def chance_corrected(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """(observed - expected) / (1 - expected): NaN where chance alone makes agreement certain.

    Examples
    --------
    >>> chance_corrected(np.array([0.75]), np.array([0.5]))
    array([0.5])
    """
    return ratio(observed - expected, 1 - expected)


def similarity(categories: int, weighting: Weighting) -> FloatArray:
    """Return how much of an agreement each pair of categories is: 1 on the diagonal, less the further apart they stand.

    Linear weights are 1 - d/(K-1) and quadratic ones 1 - d²/(K-1)² for categories d places apart on a scale of K
    (Cohen 1968).

    Returns
    -------
    FloatArray
        Categories x categories.

    Examples
    --------
    >>> similarity(3, "linear")
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    known(weighting, get_args(Weighting), "weighting")
    if weighting == "unweighted" or categories == 1:
        return np.eye(categories)
    places = np.arange(categories)
    distance = np.abs(places[:, None] - places[None, :]) / (categories - 1)
    return np.asarray(1 - (distance if weighting == "linear" else distance**2), dtype=np.float64)


def item_agreement(counts: Counts, weights: FloatArray | None = None) -> FloatArray:
    """Return the share of a pattern's pairs of ratings that agree: 0 for fewer than two ratings, which no mean counts.

    Parameters
    ----------
    counts
        Patterns x categories.
    weights
        Categories x categories: partial agreement as from `similarity`; identity if not given.

    Examples
    --------
    >>> item_agreement(np.array([[3, 0], [2, 2], [1, 0]]))
    array([1.        , 0.33333333, 0.        ])
    """
    ratings = counts.sum(axis=1)
    alike = counts if weights is None else counts @ weights
    pairs = ratings * (ratings - 1)
    agreeing = (counts * (alike - 1)).sum(axis=1)
    return np.where(pairs > 0, agreeing / np.maximum(pairs, 1), 0.0)


def observed_agreement(sets: FloatArray, counts: Counts, weights: FloatArray | None = None) -> FloatArray:
    """Mean share of agreeing pairs over the items with two ratings or more (Gwet 2014): the percent agreement.

    Returns
    -------
    FloatArray
        Sets; NaN where no item of the set has two ratings.

    Examples
    --------
    >>> observed_agreement(np.array([[1.0, 1.0]]), np.array([[3, 0], [1, 1]]))
    array([0.5])
    """
    pairable = (counts.sum(axis=1) >= 2).astype(np.float64)
    return ratio(sets @ item_agreement(counts, weights), sets @ pairable)


def category_shares(sets: FloatArray, counts: Counts) -> FloatArray:
    """Return how often each category is used, every rated item weighing the same (Gwet 2014).

    Returns
    -------
    FloatArray
        Sets x categories.

    Examples
    --------
    >>> category_shares(np.array([[1.0, 1.0]]), np.array([[3, 0], [1, 1]]))
    array([[0.75, 0.25]])
    """
    ratings = counts.sum(axis=1)
    shares = counts / np.maximum(ratings, 1)[:, None]
    return ratio(sets @ shares, (sets @ (ratings >= 1).astype(np.float64))[:, None])


def fleiss(sets: FloatArray, counts: Counts) -> FloatArray:
    """Fleiss' kappa (1971), generalised to missing ratings (Gwet 2014), for each set.

    Examples
    --------
    >>> fleiss(np.array([[5.0, 5.0, 10.0]]), np.array([[2, 0], [0, 2], [1, 1]]))
    array([0.])
    """
    shares = category_shares(sets, counts)
    return chance_corrected(observed_agreement(sets, counts), (shares**2).sum(axis=1))


def fleiss_by_category(sets: FloatArray, counts: Counts) -> FloatArray:
    """Fleiss' kappa of each category against all others taken together.

    Returns
    -------
    FloatArray
        Sets x categories; NaN for a category that has no rating in the set, or all of them.

    Examples
    --------
    >>> fleiss_by_category(np.array([[5.0, 5.0, 10.0]]), np.array([[2, 0], [0, 2], [1, 1]]))
    array([[0., 0.]])
    """
    ratings = counts.sum(axis=1, keepdims=True)
    pairs = np.maximum(ratings * (ratings - 1), 1)
    split = np.where(ratings >= 2, counts * (ratings - counts) / pairs, 0.0)
    pairable = (ratings[:, 0] >= 2).astype(np.float64)
    disagreement = ratio(sets @ split, (sets @ pairable)[:, None])
    shares = category_shares(sets, counts)
    return 1 - ratio(disagreement, shares * (1 - shares))


def gwet(sets: FloatArray, counts: Counts, weights: FloatArray | None = None) -> FloatArray:
    """Gwet's AC1 (2008), or AC2 with weights (2014), for each set; NaN for fewer than two categories.

    Examples
    --------
    >>> gwet(np.array([[5.0, 5.0, 10.0]]), np.array([[2, 0], [0, 2], [1, 1]]))
    array([0.])
    """
    shares = category_shares(sets, counts)
    return chance_corrected(observed_agreement(sets, counts, weights), gwet_chance(shares, weights))


def gwet_chance(shares: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Gwet's chance agreement: T/(K(K-1)) times the sum of p(1-p), where T is the sum of all K x K weights.

    Parameters
    ----------
    shares
        Sets x categories.
    weights
        Categories x categories, identity if not given.

    Examples
    --------
    >>> gwet_chance(np.array([[0.5, 0.5]]))
    array([0.5])
    """
    categories = shares.shape[1]
    if categories < 2:
        return np.full(len(shares), np.nan)
    total = categories if weights is None else float(weights.sum())
    chance = total / (categories * (categories - 1)) * (shares * (1 - shares)).sum(axis=1)
    return np.asarray(chance, dtype=np.float64)


def cohen(
    sets: FloatArray, rows: IntArray, columns: IntArray, categories: int, weights: FloatArray | None = None
) -> FloatArray:
    """Cohen's kappa (1960) of two raters, or with weights his weighted kappa (1968), for each set.

    Parameters
    ----------
    sets
        Sets x cells: how many items fell into each cell of the contingency table.
    rows, columns
        Cells: the category that the first and the second rater gave.
    categories
        The number of categories.

    Examples
    --------
    >>> cohen(np.array([[20.0, 5.0, 10.0, 15.0]]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), 2)
    array([0.4])
    """
    total = sets.sum(axis=1)
    one_hot = np.eye(categories)
    first, second = sets @ one_hot[rows], sets @ one_hot[columns]
    by_chance = ((first if weights is None else first @ weights) * second).sum(axis=1)
    alike = (rows == columns).astype(np.float64) if weights is None else weights[rows, columns]
    # Without weights, whole numbers throughout: a rater with one category gives exactly 0, and two such exactly 0/0.
    return ratio(total * (sets @ alike) - by_chance, total**2 - by_chance)


def distances(level: Level, values: FloatArray) -> FloatArray:
    """Krippendorff's squared distances between categories, where they do not depend on the data.

    Parameters
    ----------
    level
        Any but ordinal, whose distances come from how often the categories are used.
    values
        Categories: their numbers, which a nominal level does not look at.

    Returns
    -------
    FloatArray
        Categories x categories.

    Examples
    --------
    >>> distances("interval", np.array([1.0, 2.0, 4.0]))
    array([[0., 1., 9.],
           [1., 0., 4.],
           [9., 4., 0.]])
    """
    known(level, get_args(Level), "level")
    if level == "nominal":
        return 1 - np.eye(len(values))
    difference = values[:, None] - values[None, :]
    if level == "interval":
        return np.asarray(difference**2)
    return np.where(difference == 0, 0.0, ratio(difference, values[:, None] + values[None, :]) ** 2)


def alpha(sets: FloatArray, counts: Counts, level: Level, values: FloatArray) -> FloatArray:
    """Krippendorff's alpha (2011), for each set; NaN where fewer than two categories are used in pairable items.

    Examples
    --------
    >>> alpha(np.array([[5.0, 5.0, 10.0]]), np.array([[2, 0], [0, 2], [1, 1]]), "nominal", np.arange(2.0)).round(3)
    array([0.025])
    """
    observed, expected = disagreements(sets, counts, level, values)
    return 1 - ratio(observed, expected)


def disagreements(sets: FloatArray, counts: Counts, level: Level, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Krippendorff's observed and expected disagreement over the items with two ratings or more.

    Parameters
    ----------
    sets
        Sets x patterns.
    counts
        Patterns x categories, the categories of an ordinal level in their order.
    level
        The level of measurement.
    values
        Categories: their numbers, for interval and ratio.

    Returns
    -------
    tuple of FloatArray
        Observed and expected, both over sets; the expected one is 0 where all pairable ratings are alike.

    Examples
    --------
    >>> disagreements(np.array([[2.0, 2.0]]), np.array([[2, 0], [0, 2]]), "nominal", np.arange(2.0))[0]
    array([0.])
    """
    pairable = np.where(counts.sum(axis=1, keepdims=True) >= 2, counts, 0).astype(np.float64)
    ratings = pairable.sum(axis=1)
    sets_per_pair = sets / np.maximum(ratings - 1, 1)
    used = sets @ pairable
    total = used.sum(axis=1)
    if level == "ordinal":
        observed, expected = _ordinal_sums(sets_per_pair, pairable, used)
    else:
        squared = distances(level, values)
        observed = sets_per_pair @ ((pairable @ squared) * pairable).sum(axis=1)
        expected = ((used @ squared) * used).sum(axis=1)
    varied = np.count_nonzero(used, axis=1) >= 2
    return ratio(observed, total), np.where(
        varied, ratio(expected, total * (total - 1)), np.where(total > 0, 0.0, np.nan)
    )


def _ordinal_sums(sets_per_pair: FloatArray, pairable: FloatArray, used: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of squared ordinal distances within items and over all ratings.

    The distance of two ranks is the number of ratings between them, each end counted by half: a difference of
    midranks, so the sums over pairs follow from sums and sums of squares of midranks.
    """
    total = used.sum(axis=1, keepdims=True)
    midranks = np.cumsum(used, axis=1) - (used + total) / 2
    ratings = pairable.sum(axis=1)
    squares = ((sets_per_pair * ratings) @ pairable * midranks**2).sum(axis=1)
    squared_sums = (sets_per_pair * (midranks @ pairable.T) ** 2).sum(axis=1)
    observed = 2 * (squares - squared_sums)
    expected = 2 * (total[:, 0] * (used * midranks**2).sum(axis=1) - (used * midranks).sum(axis=1) ** 2)
    return observed, expected

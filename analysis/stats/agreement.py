"""Agreement of raters: each coefficient with its parts, its standard error and the reason where it is undefined.

Cohen's kappa and its relatives take the contingency table of two raters; Fleiss' kappa, Krippendorff's alpha and
Gwet's coefficients take category counts, items x categories, and accept missing ratings. All accept categories that
nobody used: they belong to the scale. An input from which nothing can be said (no items, no item rated twice) is
refused; a coefficient that is 0/0 is `None` with a reason.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from analysis.stats import coefficients
from analysis.stats.checked import counts as whole_counts
from analysis.stats.checked import finite
from analysis.stats.coefficients import Counts, Level, Weighting
from analysis.stats.estimate import Coefficient
from analysis.stats.kappa_errors import (
    brennan_prediger_error,
    cohen_errors,
    fleiss_category_null_error,
    fleiss_error,
    fleiss_null_error,
    gwet_error,
)
from analysis.stats.patterns import FloatArray, IntArray, label_table
from harness.errors import UsageError

ONE_CATEGORY = "all ratings are of one category, so agreement by chance is certain and the coefficient is 0/0"
ONE_CATEGORY_SCALE = "the scale has one category: nothing could differ"
NO_DISAGREEMENT = "all ratings of items rated twice are alike, so no disagreement is expected and alpha is 0/0"
NO_PAIRS = "no item has two ratings"


class FleissKappa(Struct, frozen=True):
    """Fleiss' kappa, overall and of each category; null errors only where all items have equally many ratings."""

    overall: Coefficient
    by_category: tuple[float | None, ...]
    by_category_se_null: float | None = None

    @property
    def z(self) -> float | None:
        """The statistic of the test that there is no agreement beyond chance."""
        value, error = self.overall.value, self.overall.se_null
        return None if value is None or not error else value / error


class TwoByTwo(Struct, frozen=True):
    """What makes the kappa of a two-by-two table high or low (Byrt 1993; Cicchetti and Feinstein 1990).

    `positive` and `negative` are the agreement on the first and the second category; `bias` is the difference of the
    raters' shares, `prevalence` that of the two agreements' shares.
    """

    positive: float | None
    negative: float | None
    bias: float
    prevalence: float


def cohen_kappa(
    table: npt.ArrayLike, weighting: Weighting = "unweighted", *, second: Sequence[Any] | None = None
) -> Coefficient:
    """Cohen's kappa of two raters, with the standard errors of Fleiss, Cohen and Everitt (1969).

    Parameters
    ----------
    table
        Categories x categories: rows the first rater's, columns the second's; unused categories keep their place,
        which matters to weights. With `second`: the first rater's labels.
    weighting
        How much of an agreement a near miss is.
    second
        The second rater's labels of the same items.

    Raises
    ------
    UsageError
        The table is not square, or empty.

    Examples
    --------
    >>> round(cohen_kappa([[20, 5], [10, 15]]).value, 3)
    0.4
    >>> cohen_kappa(["a", "a", "b", "b"], second=["a", "b", "b", "b"]).value
    0.5
    """
    cells = _table(table, second)
    n = int(cells.sum())
    weights = coefficients.similarity(len(cells), weighting)
    rows, columns = cells.sum(axis=1) / n, cells.sum(axis=0) / n
    observed = float((weights * cells).sum() / n)
    expected = float(rows @ weights @ columns)
    if expected == 1:
        return Coefficient(None, observed, expected, n=n, reason=ONE_CATEGORY)
    se, se_null = cohen_errors(cells, weights)
    return Coefficient((observed - expected) / (1 - expected), observed, expected, se, se_null, n)


def fleiss_kappa(counts: npt.ArrayLike, items: npt.ArrayLike | None = None) -> FleissKappa:
    """Fleiss' kappa (1971), generalised to missing ratings (Gwet 2014).

    Agreement is over the items with two ratings or more, category shares over all rated items, each weighing the same.

    Parameters
    ----------
    counts
        Items (or patterns) x categories: how many raters chose each.
    items
        How many items have each pattern; one each if not given.

    Raises
    ------
    UsageError
        No item has two ratings.

    Examples
    --------
    >>> round(fleiss_kappa([[3, 0], [0, 3], [2, 1], [1, 2]]).overall.value, 3)
    0.333
    """
    rated, repeats = _counts(counts, items)
    sets = repeats[None, :].astype(np.float64)
    shares = coefficients.category_shares(sets, rated)[0]
    observed = float(coefficients.observed_agreement(sets, rated)[0])
    value = _known(coefficients.fleiss(sets, rated)[0])
    ratings = np.unique(rated.sum(axis=1))
    n, equal = int(repeats.sum()), len(ratings) == 1
    overall = Coefficient(
        value,
        observed,
        float((shares**2).sum()),
        _known(fleiss_error(rated, repeats)),
        _known(fleiss_null_error(n, int(ratings[0]), shares)) if equal else None,
        n,
        ONE_CATEGORY if value is None else "",
    )
    by_category = tuple(_known(kappa) for kappa in coefficients.fleiss_by_category(sets, rated)[0])
    return FleissKappa(overall, by_category, fleiss_category_null_error(n, int(ratings[0])) if equal else None)


def krippendorff_alpha(
    counts: npt.ArrayLike,
    level: Level = "nominal",
    values: npt.ArrayLike | None = None,
    items: npt.ArrayLike | None = None,
) -> Coefficient:
    """Krippendorff's alpha (Computing Krippendorff's Alpha-Reliability, 2011); `n` counts pairable ratings.

    Parameters
    ----------
    counts
        Items (or patterns) x categories, the categories in their order.
    level
        The level of measurement.
    values
        Categories: their numbers, needed for interval and ratio.
    items
        How many items have each pattern; one each if not given.

    Raises
    ------
    UsageError
        No item has two ratings; interval or ratio without values; ratio with a negative value.

    Examples
    --------
    >>> round(krippendorff_alpha([[3, 0], [0, 3], [2, 1], [1, 2]]).value, 3)
    0.389
    """
    rated, repeats = _counts(counts, items)
    numbers = np.arange(rated.shape[1], dtype=np.float64) if values is None else finite(values, "a category's number")
    if numbers.shape != rated.shape[1:]:
        raise UsageError(f"{numbers.size} numbers of {rated.shape[1]} categories", "Give each category one.")
    if level in ("interval", "ratio") and values is None:
        raise UsageError(f"alpha at the {level} level needs the categories' numbers")
    if level == "ratio" and numbers.min(initial=0) < 0:
        raise UsageError(f"a ratio scale starts at 0: {numbers.min():g} is below it", "Take the interval level.")
    sets = repeats[None, :].astype(np.float64)
    observed, expected = (float(part[0]) for part in coefficients.disagreements(sets, rated, level, numbers))
    ratings = rated.sum(axis=1)
    n = int((repeats * ratings)[ratings >= 2].sum())
    if expected == 0:
        return Coefficient(None, observed, expected, n=n, reason=NO_DISAGREEMENT)
    return Coefficient(1 - observed / expected, observed, expected, n=n)


def gwet_ac(
    counts: npt.ArrayLike, weighting: Weighting = "unweighted", items: npt.ArrayLike | None = None
) -> Coefficient:
    """Gwet's AC1 (2008), or AC2 where near misses count in part (2014); both accept missing ratings.

    Parameters
    ----------
    counts
        Items (or patterns) x categories, unused categories of the scale included.
    weighting
        How much of an agreement a near miss is.
    items
        How many items have each pattern; one each if not given.

    Raises
    ------
    UsageError
        No item has two ratings.

    Examples
    --------
    >>> round(gwet_ac([[3, 0], [0, 3], [2, 1], [1, 2]]).value, 3)
    0.333
    """
    rated, repeats = _counts(counts, items)
    weights = None if weighting == "unweighted" else coefficients.similarity(rated.shape[1], weighting)
    sets = repeats[None, :].astype(np.float64)
    observed = float(coefficients.observed_agreement(sets, rated, weights)[0])
    expected = _known(coefficients.gwet_chance(coefficients.category_shares(sets, rated), weights)[0])
    n = int(repeats.sum())
    if expected is None:
        return Coefficient(None, observed, None, n=n, reason=ONE_CATEGORY_SCALE)
    value = (observed - expected) / (1 - expected)
    return Coefficient(value, observed, expected, _known(gwet_error(rated, repeats, weights)), None, n)


def brennan_prediger(counts: npt.ArrayLike, items: npt.ArrayLike | None = None) -> Coefficient:
    """Brennan and Prediger's coefficient (1981): chance agreement is 1/K. For two raters it is PABAK (Byrt 1993).

    Parameters
    ----------
    counts
        Items (or patterns) x categories.
    items
        How many items have each pattern; one each if not given.

    Raises
    ------
    UsageError
        No item has two ratings.

    Examples
    --------
    >>> round(brennan_prediger([[3, 0], [0, 3], [2, 1], [1, 2]]).value, 3)
    0.333
    """
    rated, repeats = _counts(counts, items)
    n, categories = int(repeats.sum()), rated.shape[1]
    observed = float(coefficients.observed_agreement(repeats[None, :].astype(np.float64), rated)[0])
    if categories < 2:
        return Coefficient(None, observed, n=n, reason=ONE_CATEGORY_SCALE)
    value = (observed * categories - 1) / (categories - 1)
    return Coefficient(value, observed, 1 / categories, _known(brennan_prediger_error(rated, repeats)), None, n)


def gwet_ac1_of_table(table: npt.ArrayLike, second: Sequence[Any] | None = None) -> Coefficient:
    """AC1 of two raters' contingency table; its error is Gwet's for two raters (2008), which divides by n, not n - 1.

    Parameters
    ----------
    table, second
        As for `cohen_kappa`.

    Raises
    ------
    UsageError
        The table is not square, or empty.

    Examples
    --------
    >>> round(gwet_ac1_of_table([[20, 5], [10, 15]]).value, 3)
    0.406
    """
    counts, items = _table_counts(table, second)
    return _divided_by_n(gwet_ac(counts, items=items))


def pabak(table: npt.ArrayLike, second: Sequence[Any] | None = None) -> Coefficient:
    """Prevalence- and bias-adjusted kappa of two raters (Byrt 1993): Brennan-Prediger; its error divides by n.

    Parameters
    ----------
    table, second
        As for `cohen_kappa`.

    Raises
    ------
    UsageError
        The table is not square, or empty.

    Examples
    --------
    >>> round(pabak([[20, 5], [10, 15]]).value, 3)
    0.4
    >>> pabak(["a", "b", "b", "b"], ["a", "b", "b", "a"]).value
    0.5
    """
    counts, items = _table_counts(table, second)
    return _divided_by_n(brennan_prediger(counts, items))


def specific_agreement(table: npt.ArrayLike, second: Sequence[Any] | None = None) -> tuple[float | None, ...]:
    """Agreement on each category: 2n_kk/(n_k. + n_.k), `None` where neither rater used it.

    Parameters
    ----------
    table, second
        As for `cohen_kappa`.

    Raises
    ------
    UsageError
        The table is not square, or empty.

    Examples
    --------
    >>> specific_agreement([[18, 2], [10, 18]])
    (0.75, 0.75)
    """
    cells = _table(table, second)
    used = (cells.sum(axis=0) + cells.sum(axis=1)).astype(np.float64)
    return tuple(_known(share) for share in coefficients.ratio(2 * np.diag(cells).astype(np.float64), used))


def two_by_two(table: npt.ArrayLike, second: Sequence[Any] | None = None) -> TwoByTwo:
    """Agreement on either category, bias and prevalence of a two-by-two table.

    Parameters
    ----------
    table, second
        As for `cohen_kappa`.

    Raises
    ------
    UsageError
        The table is not two by two, or empty.

    Examples
    --------
    >>> two_by_two([[20, 5], [10, 15]]).bias
    -0.1
    """
    cells = _table(table, second)
    if cells.shape != (2, 2):
        raise UsageError(f"a table of {len(cells)} categories where two are needed")
    n = int(cells.sum())
    positive, negative = specific_agreement(cells)
    return TwoByTwo(positive, negative, float(cells[0, 1] - cells[1, 0]) / n, float(cells[0, 0] - cells[1, 1]) / n)


def _table_counts(table: npt.ArrayLike, second: Sequence[Any] | None) -> tuple[IntArray, IntArray]:
    """A contingency table as category counts (patterns x categories) and the items of each pattern."""
    cells = _table(table, second)
    rows, columns = np.nonzero(cells)
    one_hot = np.eye(len(cells), dtype=np.int64)
    return one_hot[rows] + one_hot[columns], cells[rows, columns]


def _divided_by_n(coefficient: Coefficient) -> Coefficient:
    if coefficient.se is None:
        return coefficient
    return replace(coefficient, se=coefficient.se * sqrt((coefficient.n - 1) / coefficient.n))


def _table(table: Any, second: Sequence[Any] | None) -> IntArray:
    """A contingency table, or that of two raters' labels."""
    cells = whole_counts(table) if second is None else label_table(table, second)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise UsageError("a contingency table has as many rows as columns", "Give both raters the same categories.")
    if not cells.sum():
        raise UsageError("no item was rated by both", "A kappa needs items that both raters labelled.")
    return cells


def _counts(counts: npt.ArrayLike, items: npt.ArrayLike | None) -> tuple[Counts, IntArray]:
    """The patterns with a rating and how many items have each; refused where no item has two."""
    matrix = whole_counts(counts)
    repeats = np.ones(len(matrix), dtype=np.int64) if items is None else whole_counts(items)
    if repeats.shape != matrix.shape[:1]:
        raise UsageError(f"{repeats.size} numbers of items for {len(matrix)} patterns", "Give each pattern one.")
    ratings = matrix.sum(axis=1) if matrix.ndim == 2 else np.zeros(len(matrix))
    if not np.any((ratings >= 2) & (repeats > 0)):
        raise UsageError(NO_PAIRS, "Agreement needs items that two raters labelled.")
    rated = (ratings >= 1) & (repeats > 0)
    return matrix[rated], repeats[rated]


def _known(value: float | FloatArray) -> float | None:
    number = float(value)
    return None if np.isnan(number) else number

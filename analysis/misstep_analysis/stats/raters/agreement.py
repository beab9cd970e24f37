"""Agreement of raters: each coefficient with its parts, its standard error and the reason where it is undefined.

Cohen's kappa and its relatives take the contingency table of two raters; Fleiss' kappa, Krippendorff's alpha and
Gwet's coefficients take category counts, items x categories, and accept missing ratings. All accept categories that
nobody used: they belong to the scale. An input from which nothing can be said (no items, no item rated twice) is
refused; a coefficient that is 0/0 is `None` with a reason.
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep_analysis.stats.checked import counts as whole_counts
from misstep_analysis.stats.estimate import Coefficient, or_none
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.coefficients import (
    ONE_CATEGORY,
    ONE_CATEGORY_SCALE,
    Counts,
    Weighting,
)
from misstep_analysis.stats.raters.kappa_errors import (
    cohen_errors,
    fleiss_category_null_error,
    fleiss_error,
    fleiss_null_error,
    gwet_error,
)
from misstep_analysis.stats.raters.patterns import IntArray
from misstep_harness.errors import UsageError

NO_PAIRS = "no item has two ratings"


class FleissKappa(Struct, frozen=True):
    """Fleiss' kappa, overall and of each category; null errors only where all items have equally many ratings."""

    overall: Coefficient
    by_category: tuple[float | None, ...]
    by_category_se_null: float | None = None

    @property
    def z(self) -> float | None:
        """Return the statistic of the test for no agreement beyond chance."""
        value, error = self.overall.value, self.overall.se_null
        return None if value is None or not error else value / error


def cohen_kappa(table: npt.ArrayLike, weighting: Weighting = "unweighted") -> Coefficient:
    """Cohen's kappa of two raters, with the standard errors of Fleiss, Cohen and Everitt (1969).

    Parameters
    ----------
    table
        Categories x categories: rows the first rater's, columns the second's; unused categories keep their place,
        which matters to weights.
    weighting
        How much of an agreement a near miss is.

    Raises
    ------
    UsageError
        The table is not square, or empty.

    Examples
    --------
    >>> round(cohen_kappa([[20, 5], [10, 15]]).value, 3)
    0.4
    """
    cells = whole_counts(table)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise UsageError("a contingency table has as many rows as columns", "Give both raters the same categories.")
    if not cells.sum():
        raise UsageError("no item was rated by both", "A kappa needs items that both raters labelled.")
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
    value = or_none(coefficients.fleiss(sets, rated)[0])
    ratings = np.unique(rated.sum(axis=1))
    n, equal = int(repeats.sum()), len(ratings) == 1
    overall = Coefficient(
        value,
        observed,
        float((shares**2).sum()),
        or_none(fleiss_error(rated, repeats)),
        or_none(fleiss_null_error(n, int(ratings[0]), shares)) if equal else None,
        n,
        ONE_CATEGORY if value is None else "",
    )
    by_category = tuple(or_none(kappa) for kappa in coefficients.fleiss_by_category(sets, rated)[0])
    return FleissKappa(overall, by_category, fleiss_category_null_error(n, int(ratings[0])) if equal else None)


def gwet_ac(
    counts: npt.ArrayLike, weighting: Weighting = "unweighted", items: npt.ArrayLike | None = None
) -> Coefficient:
    """Gwet's AC1 (2008), or AC2 where near misses count in part (2014); both accept missing ratings.

    Parameters
    ----------
    counts
        Items (or patterns) x categories, unused categories of the scale included.

    Examples
    --------
    >>> round(gwet_ac([[3, 0], [0, 3], [2, 1], [1, 2]]).value, 3)
    0.333
    """
    rated, repeats = _counts(counts, items)
    weights = None if weighting == "unweighted" else coefficients.similarity(rated.shape[1], weighting)
    sets = repeats[None, :].astype(np.float64)
    observed = float(coefficients.observed_agreement(sets, rated, weights)[0])
    expected = or_none(coefficients.gwet_chance(coefficients.category_shares(sets, rated), weights)[0])
    n = int(repeats.sum())
    if expected is None:
        return Coefficient(None, observed, None, n=n, reason=ONE_CATEGORY_SCALE)
    value = (observed - expected) / (1 - expected)
    return Coefficient(value, observed, expected, or_none(gwet_error(rated, repeats, weights)), None, n)


def _counts(counts: npt.ArrayLike, items: npt.ArrayLike | None) -> tuple[Counts, IntArray]:
    """Return the patterns with a rating and how many items have each; refused where no item has two."""
    matrix = whole_counts(counts)
    repeats = np.ones(len(matrix), dtype=np.int64) if items is None else whole_counts(items)
    if repeats.shape != matrix.shape[:1]:
        raise UsageError(f"{repeats.size} numbers of items for {len(matrix)} patterns", "Give each pattern one.")
    ratings = matrix.sum(axis=1) if matrix.ndim == 2 else np.zeros(len(matrix))
    if not np.any((ratings >= 2) & (repeats > 0)):
        raise UsageError(NO_PAIRS, "Agreement needs items that two raters labelled.")
    rated = (ratings >= 1) & (repeats > 0)
    return matrix[rated], repeats[rated]

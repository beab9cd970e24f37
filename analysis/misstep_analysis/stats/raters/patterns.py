"""Rating patterns: items that were rated alike, counted once.

A coefficient of agreement depends on the items only through how often each pattern of ratings occurs. A matrix of
codes, items x raters, with `MISSING` where a rater gave no label::

    0  0  1
    0  0  1
    2 -1  2

has two patterns, with 2 and 1 items. For coefficients that do not tell raters apart it goes further down to category
counts, here (2, 1, 0) and (0, 0, 2); for a pair of raters, to a contingency table.
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep_harness.errors import UsageError

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MISSING = -1
_MOST_KEYS = 2**62


class Patterns(Struct, frozen=True):
    """The distinct rows of a matrix.

    Parameters
    ----------
    rows
        Patterns x columns: the distinct rows, in the order of their columns' values.
    items
        Patterns: how many rows of the matrix look like that.
    of_item
        Rows of the matrix: the index of each one's pattern.
    """

    rows: IntArray
    items: IntArray
    of_item: IntArray


def distinct_rows(matrix: IntArray) -> Patterns:
    """Return the distinct rows of a matrix of small integers and how often each occurs.

    Rows become integer keys, column by column, ranked anew whenever the keys would outgrow 64 bits, so that any
    number of columns is exact.

    Parameters
    ----------
    matrix
        Items x columns.
    """
    keys = np.zeros(len(matrix), dtype=np.int64)
    span = 1
    for column in matrix.T:
        lowest, highest = (int(column.min()), int(column.max())) if column.size else (0, 0)
        width = highest - lowest + 1
        if span * width > _MOST_KEYS:
            keys, span = _ranked(keys, span)
        keys = keys * width + (column - lowest)
        span *= width
    of_item, distinct = _ranked(keys, span)
    an_item = np.empty(distinct, dtype=np.int64)
    an_item[of_item] = np.arange(len(matrix))
    items = np.zeros(distinct, dtype=np.int64)
    np.add.at(items, of_item, 1)
    return Patterns(matrix[an_item], items, of_item)


def _ranked(keys: IntArray, span: int) -> tuple[IntArray, int]:
    """Keys below `span` replaced by their ranks among the distinct keys, and how many of these there are."""
    if span <= 4 * len(keys) + 1024:
        used = np.bincount(keys, minlength=span) > 0
        return (np.cumsum(used) - 1)[keys], int(np.count_nonzero(used))
    distinct, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.int64), len(distinct)


def category_counts(codes: IntArray, categories: int) -> IntArray:
    """Return how many raters put each item into each category.

    Parameters
    ----------
    codes
        Items x raters: category codes from 0, `MISSING` without a rating.
    categories
        The number of categories.

    Returns
    -------
    IntArray
        Items x categories.
    """
    counts = np.zeros((len(codes), categories), dtype=np.int64)
    for column in codes.T:
        rated = np.flatnonzero(column >= 0)
        counts[rated, column[rated]] += 1
    return counts


def contingency_table(first: IntArray, second: IntArray, categories: int, items: IntArray | None = None) -> IntArray:
    """Return how often one rater's category met another's, over the items that both rated.

    Parameters
    ----------
    first, second
        Items: the two raters' category codes from 0, `MISSING` without a rating.
    categories
        The number of categories; those that nobody used keep their place.
    items
        How many items stand behind each entry; one each if not given.

    Returns
    -------
    IntArray
        Categories x categories: rows are the first rater's.

    Raises
    ------
    UsageError
        The raters' lengths differ.
    """
    if len(first) != len(second):
        message = f"one rater has {len(first)} entries and the other {len(second)}"
        raise UsageError(message, "Give both one entry an item.")
    width = categories + 1
    cells = (first - MISSING) * width + (second - MISSING)
    table = np.bincount(cells, weights=items, minlength=width * width).astype(np.int64)
    return table.reshape(width, width)[1:, 1:]

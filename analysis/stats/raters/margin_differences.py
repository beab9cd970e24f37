"""By how much two raters' margins can differ, label by label, if they disagree on a given number of items.

The differences of all labels add up to 0, and their sizes to at most twice the disagreements. If there are too many
such vectors only some are listed, over the whole range, and the list says that it is not complete.
"""

from functools import cached_property, lru_cache
from math import comb

import numpy as np

from misstep.analysis.stats.raters.patterns import IntArray

ALL = 1_000_000
"""How many vectors of differences are listed at most."""


class Differences:
    """Vectors of differences, and which of them have a given sum of squares.

    `rows` has one vector a row; `complete` says whether these are all.
    """

    def __init__(self, rows: IntArray, complete: bool) -> None:
        """List vectors, sorted by which of their entries are odd and by their sums of squares."""
        # A difference is odd exactly where the sum of the two margins is. Sorting by that pattern first, one binary
        # search then finds every vector that fits given sums and squares.
        squares = (rows**2).sum(axis=1)
        odd = (rows & 1) @ (1 << np.arange(rows.shape[1]))
        order = np.lexsort((squares, odd))
        self.rows, self.complete = rows[order], complete
        self._squares, self._odd = squares[order], odd[order]
        self._bounds: dict[int, tuple[int, int]] = {
            int(code): (int(start), int(start + count))
            for code, start, count in zip(*np.unique(self._odd, return_index=True, return_counts=True), strict=True)
        }

    @cached_property
    def greatest_square(self) -> int:
        """Return the greatest sum of squares."""
        return int(self._squares.max())

    def within(self, caps: tuple[int, ...], low: int, high: int) -> tuple[list[int] | None, int]:
        """Return a vector no greater than `caps`, odd where they are odd, with a sum of squares from `low` to `high`.

        Returns the vector, `None` if there is none, and how many were looked at.
        """
        code = sum((cap & 1) << place for place, cap in enumerate(caps))
        start, end = self._bounds.get(code, (0, 0))
        squares = self._squares[start:end]
        first, last = start + int(squares.searchsorted(low)), start + int(squares.searchsorted(high, "right"))
        if first >= last:
            return None, 0
        fits = np.flatnonzero((np.abs(self.rows[first:last]) <= np.asarray(caps)).all(axis=1))
        return (self.rows[first + fits[0]].tolist() if len(fits) else None), last - first


@lru_cache(maxsize=8)
def differences(labels: int, disagree: int) -> Differences:
    """The differences between the margins of two raters who disagree on so many items; some if they are too many.

    Parameters
    ----------
    labels, disagree
        How many labels there are, and how many items are labelled differently.
    """
    complete = _at_most(ALL, labels, disagree)
    sizes = np.arange(-disagree, disagree + 1) if complete else _some_sizes(labels, disagree)
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(labels - 1):
        rows = np.column_stack([np.repeat(rows, len(sizes), axis=0), np.tile(sizes, len(rows))])
        rows = rows[_sizes_within(rows, disagree)]
    # The last difference follows, since all differences add up to 0.
    rows = np.column_stack([rows, -rows.sum(axis=1)])
    return Differences(rows[_sizes_within(rows, disagree)], complete)


def _some_sizes(labels: int, disagree: int) -> IntArray:
    """Differences near 0, and others evenly over the whole range; so few that their vectors are not too many."""
    some = max(3, int((ALL // 10) ** (1 / (labels - 1))))
    near = min(disagree, max(1, some // 4))
    spread = np.rint(np.linspace(-disagree, disagree, max(2, some - 2 * near - 1))).astype(np.int64)
    return np.unique(np.concatenate([spread, np.arange(-near, near + 1)]))


def _sizes_within(rows: IntArray, disagree: int) -> IntArray:
    """Return where what is above 0 adds up to no more than the disagreements, and what is below 0, too."""
    above, below = np.maximum(rows, 0).sum(axis=1), np.maximum(-rows, 0).sum(axis=1)
    return np.flatnonzero((above <= disagree) & (below <= disagree))


def _at_most(most: int, labels: int, disagree: int) -> bool:
    """Whether no more vectors of whole numbers add up to 0, and those above 0 to no more than the disagreements."""
    count = 1
    for total in range(1, disagree + 1):
        if count > most:
            return False
        count += sum(
            comb(labels, above) * comb(total - 1, above - 1) * comb(total + labels - above - 1, total)
            for above in range(1, labels)
        )
    return count <= most

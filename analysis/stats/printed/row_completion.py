"""Which kappas are left where some rows of two raters' table are printed, with all items and agreements.

The other rows are filled in every way that the items and the agreements leave, if these are not too many to list.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb

import numpy as np
from msgspec import Struct

from misstep.analysis.stats.printed.kappa_tables import Table, kappa_of
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.harness.errors import UsageError

_MOST = 2_000_000


class Completions(Struct, frozen=True):
    """Every kappa that the other rows leave, in rising order, each with one table that has it.

    Empty without such a table; `complete` is false if there are too many to list, and then none is listed.
    """

    kappas: tuple[Fraction, ...]
    tables: tuple[Table, ...]
    complete: bool


def completions(n: int, agree: int, labels: int, known: Mapping[int, Sequence[int]]) -> Completions:
    """Return the tables of n items with so many agreements that have the known rows.

    Parameters
    ----------
    n, agree, labels
        How many items there are, how many both raters label alike, and how many labels there are.
    known
        Label → its row: how often the second rater gave each label to the items that the first gave this one.

    Raises
    ------
    UsageError
        A row has not as many cells as there are labels, or belongs to none of them.
    """
    if any(len(row) != labels or not 0 <= label < labels for label, row in known.items()):
        raise UsageError(f"the known rows are not rows of {labels} labels")
    items = n - sum(map(sum, known.values()))
    alike = agree - sum(row[label] for label, row in known.items())
    free = [label for label in range(labels) if label not in known]
    apart = items - alike
    if min(items, alike, apart) < 0 or (items and not free):
        return Completions((), (), True)
    if not free:
        filled = np.zeros((1, labels, labels), dtype=np.int64)
    else:
        # Ways to share alike items among the diagonal cells, times ways to share the others (stars and bars).
        off = len(free) * (labels - 1)
        ways = comb(alike + len(free) - 1, len(free) - 1) * comb(apart + off - 1, off - 1)
        if ways > _MOST:
            return Completions((), (), False)
        filled = _filled(_compositions(alike, len(free)), _compositions(apart, off), free, labels)
    for label, row in known.items():
        filled[:, label] = row
    return _by_kappa(filled, n, agree)


def _filled(alike: IntArray, apart: IntArray, free: Sequence[int], labels: int) -> IntArray:
    """Tables with each diagonal of the free rows beside each way to fill their other cells."""
    tables = np.zeros((len(alike) * len(apart), labels, labels), dtype=np.int64)
    off = [(row, column) for row in free for column in range(labels) if row != column]
    for place, label in enumerate(free):
        tables[:, label, label] = np.repeat(alike[:, place], len(apart))
    for place, (row, column) in enumerate(off):
        tables[:, row, column] = np.tile(apart[:, place], len(alike))
    return tables


def _by_kappa(tables: IntArray, n: int, agree: int) -> Completions:
    """Return one table for each product of margins; kappa is 0/0 where the product is that of one label alone."""
    products = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    each, places = np.unique(products, return_index=True)
    order = [(int(one), int(place)) for one, place in zip(each, places, strict=True) if one < n * n][::-1]
    return Completions(
        tuple(kappa_of(n, agree, product) for product, _ in order),
        tuple(tuple(tuple(row) for row in tables[place].tolist()) for _, place in order),
        True,
    )


def _compositions(total: int, parts: int) -> IntArray:
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total])
    for _ in range(parts - 1):
        # A row is repeated for each value of its next count, 0 to `left`; `starts` has the place of its first copy.
        repeats = left + 1
        starts = np.repeat(np.cumsum(repeats) - repeats, repeats)
        first = np.arange(repeats.sum()) - starts
        rows = np.column_stack([np.repeat(rows, repeats, axis=0), first])
        left = np.repeat(left, repeats) - first
    return np.column_stack([rows, left])

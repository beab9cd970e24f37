"""Which labels three raters can have given, where a paper prints only their kappas and where they disagreed.

How many items each pair of raters disagrees on says who dissented how often (`possible_dissents`), not on which
categories. The printed kappas do: their chance agreement depends on how often each rater used each category. So every
way to spread the unanimous items over the categories, with every way to label the split items, is held against the
printed digits. None means that no labels of so many categories print these figures.

Renaming the categories changes no kappa, so only unanimous counts in falling order are looked at, and `labelled` says
how many solutions there are with names.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import comb, factorial, prod
from typing import Literal, overload

import numpy as np
from msgspec import Struct

from misstep.analysis.stats.printed.audit import rounding_interval
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.harness.errors import UsageError


class Dissent(Struct, frozen=True):
    """How many items all three raters label alike, one labels alone (first, second, third), or all differently."""

    unanimous: int
    alone: tuple[int, int, int]
    all_different: int


def possible_dissents(n_items: int, first_second: int, first_third: int, second_third: int) -> "Dissents":
    """Every split of the items that gives three pairs' counts of disagreements; none where they contradict each other.

    An item that one rater labels alone counts in both of that rater's pairs, one that all label differently in all
    three. The splits differ in how many items are of that last kind, and these numbers go in steps of two.

    Parameters
    ----------
    n_items
        The items that all three labelled.
    first_second, first_third, second_third
        The items that each pair disagrees on.

    Raises
    ------
    UsageError
        A count is negative.
    """
    counts = (first_second, first_third, second_third)
    if min(n_items, *counts) < 0:
        raise UsageError(f"a count of items below 0: {n_items}, {counts}")
    every = sum(counts)
    least = max(0, every - 2 * n_items)
    most = min(every - 2 * count for count in counts)
    return Dissents(n_items, counts, range(least + (least + every) % 2, max(0, most + 1), 2))


class Dissents(Sequence[Dissent]):
    """Splits of the items, from the fewest that all three label differently; made as they are asked for."""

    def __init__(self, n_items: int, counts: tuple[int, int, int], all_different: range) -> None:
        """Keep what the splits follow from."""
        self._n_items, self._counts, self._all_different = n_items, counts, all_different

    def __len__(self) -> int:
        return len(self._all_different)

    @overload
    def __getitem__(self, place: int) -> Dissent: ...
    @overload
    def __getitem__(self, place: slice) -> "Dissents": ...
    def __getitem__(self, place: int | slice) -> "Dissent | Dissents":
        if isinstance(place, slice):
            return Dissents(self._n_items, self._counts, self._all_different[place])
        different, every = self._all_different[place], sum(self._counts)
        pair, other, last = (every - 2 * count - different for count in reversed(self._counts))
        unanimous = self._n_items - different - (pair + other + last) // 2
        return Dissent(unanimous, (pair // 2, other // 2, last // 2), different)


Kappa = Literal["first_second", "first_third", "second_third", "fleiss"]
Labels = tuple[int, int, int]

_PAIRS: dict[Kappa, tuple[int, int]] = {"first_second": (0, 1), "first_third": (0, 2), "second_third": (1, 2)}
_CHUNK = 2_000_000
_MOST_KEPT = 1_000_000
"""How many unanimous counts, and labels of split items, are kept at once at most."""


class MarginRatings(Struct, frozen=True):
    """One possibility: the unanimous items of each category, in falling order, and the labels of each split item."""

    unanimous: tuple[int, ...]
    split: tuple[Labels, ...]

    @property
    def confused(self) -> frozenset[int]:
        """Return the categories that occur on split items."""
        return frozenset(label for labels in self.split for label in labels)


class PossibleRatings(Struct, frozen=True):
    """Every possibility, how many they are with named categories, and how the search ended.

    Where `complete` is false it would have had to look at `candidates` combinations, more than the budget, and did not
    start.
    """

    ratings: tuple[MarginRatings, ...]
    labelled: int
    complete: bool
    candidates: int


def possible_ratings(
    dissent: Dissent, printed: Mapping[Kappa, str], categories: int, budget: int = 500_000_000
) -> PossibleRatings:
    """Return all ratings of three raters that print the given kappas.

    Parameters
    ----------
    dissent
        How many items all label alike, each labels alone, and all label differently.
    printed
        Cohen's kappa of each pair and Fleiss' kappa, as printed; those that are not printed are left out.
    categories
        How many categories the raters had.
    budget
        The most combinations to look at.

    Raises
    ------
    UsageError
        There are fewer than two categories, or no items.
    """
    if categories < 2:
        raise UsageError(f"{categories} categories: disagreement needs two")
    n = dissent.unanimous + sum(dissent.alone) + dissent.all_different
    if n == 0:
        raise UsageError("no items")
    pairs, triples = categories * (categories - 1), categories * (categories - 1) * (categories - 2)
    choices = prod(comb(pairs + count - 1, count) for count in dissent.alone)
    split_ways = choices * (
        comb(triples + dissent.all_different - 1, dissent.all_different) if dissent.all_different else 1
    )
    if not split_ways:
        return PossibleRatings((), 0, True, 0)
    if split_ways * max(1, n - dissent.unanimous) > _MOST_KEPT:
        return PossibleRatings((), 0, False, split_ways * max(1, _fewest_partitions(dissent.unanimous, categories)))
    unanimous_ways = _partitions(dissent.unanimous, categories)
    candidates = unanimous_ways * split_ways
    if candidates > budget or unanimous_ways > _MOST_KEPT:
        return PossibleRatings((), 0, False, candidates)
    splits = list(_splits(dissent, categories))
    used = np.array(
        [
            [np.bincount([labels[rater] for labels in split], minlength=categories) for rater in range(3)]
            for split in splits
        ]
    ).reshape(-1, 3, categories)
    unanimous = np.array(list(_falling(dissent.unanimous, categories)), dtype=np.float64)
    bounds = {kappa: _product_bounds(digits, kappa, dissent, n) for kappa, digits in printed.items()}
    chunk = max(1, _CHUNK // max(1, len(splits)))
    matches: list[MarginRatings] = []
    for start in range(0, len(unanimous), chunk):
        for row, column in _fitting(unanimous[start : start + chunk], used.astype(np.float64), bounds):
            matches.append(MarginRatings(tuple(int(count) for count in unanimous[start + row]), splits[column]))
    return PossibleRatings(
        tuple(matches),
        sum(
            (
                factorial(len(one.unanimous))
                // prod(factorial(one.unanimous.count(count)) for count in set(one.unanimous))
            )
            for one in matches
        ),
        True,
        candidates,
    )


def _fitting(
    unanimous: FloatArray, used: FloatArray, bounds: Mapping[Kappa, tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Rows of unanimous counts and columns of split labels whose margins have products within bounds.

    A rater's margin is the unanimous counts plus what that rater said on split items, so a product of two margins is
    |u|² + u·(a + b) + a·b.
    """
    squares = (unanimous**2).sum(axis=1)
    dense = True
    rows = columns = np.empty(0, dtype=np.int64)
    for kappa, (low, high) in bounds.items():
        weight, linear, constant = _product_terms(used, kappa)
        if dense:
            products = weight * squares[:, None] + unanimous @ linear.T + constant
            rows, columns = np.nonzero((products >= low) & (products <= high))
            dense = False
        else:
            # What the first kappa left is little: the others are held against it pair by pair.
            products = weight * squares[rows] + (unanimous[rows] * linear[columns]).sum(axis=1) + constant[columns]
            fits = (products >= low) & (products <= high)
            rows, columns = rows[fits], columns[fits]
    if dense:
        rows, columns = np.nonzero(np.ones((len(unanimous), len(used)), dtype=bool))
    yield from zip(rows.tolist(), columns.tolist(), strict=True)


def _product_terms(used: FloatArray, kappa: Kappa) -> tuple[int, FloatArray, FloatArray]:
    """How often |u|² counts, what u is multiplied with, and what is added, for each way to label the split items."""
    if kappa == "fleiss":
        total = used.sum(axis=1)
        return 9, 6 * total, (total**2).sum(axis=1)
    one, other = (used[:, rater] for rater in _PAIRS[kappa])
    return 1, one + other, (one * other).sum(axis=1)


def _product_bounds(digits: str, kappa: Kappa, dissent: Dissent, n: int) -> tuple[int, int]:
    """Return the smallest and the largest product of margins that prints this kappa, from its chance agreement."""
    disagreed = dissent.all_different * (3 if kappa == "fleiss" else 1)
    if kappa == "fleiss":
        disagreed += 2 * sum(dissent.alone)
        observed, scale = 1 - Fraction(disagreed, 3 * n), 9 * n * n
    else:
        disagreed += sum(dissent.alone[rater] for rater in _PAIRS[kappa])
        observed, scale = 1 - Fraction(disagreed, n), n * n
    low, high = rounding_interval(digits)
    if high >= 1:
        raise UsageError(f"a kappa that may be 1 leaves chance agreement open: {digits}")
    least, most = (scale * (observed - value) / (1 - value) for value in (high, low))
    return -(-least.numerator // least.denominator), most.numerator // most.denominator


def _splits(dissent: Dissent, categories: int) -> Iterator[tuple[Labels, ...]]:
    kinds = [
        [_alone(rater, odd, majority) for odd, majority in permutations(range(categories), 2)] for rater in range(3)
    ]
    different: list[Labels] = list(permutations(range(categories), 3))
    choices = [combinations_with_replacement(kind, count) for kind, count in zip(kinds, dissent.alone, strict=True)]
    for groups in product(*choices, combinations_with_replacement(different, dissent.all_different)):
        yield tuple(labels for group in groups for labels in group)


def _alone(rater: int, odd: int, majority: int) -> Labels:
    first, second, third = (odd if place == rater else majority for place in range(3))
    return first, second, third


def _falling(total: int, parts: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total if most is None else min(total, most), -(-total // parts) - 1, -1):
        for rest in _falling(total - first, parts - 1, first):
            yield (first, *rest)


def _partitions(total: int, parts: int) -> int:
    """How many ways `_falling` gives; where they are too many to be looked at, fewer than there are but as too many."""
    least = _fewest_partitions(total, parts)
    if least > _MOST_KEPT:
        return least
    ways = [1] + [0] * total
    for part in range(1, parts + 1):
        for value in range(part, total + 1):
            ways[value] += ways[value - part]
    return ways[total]


def _fewest_partitions(total: int, parts: int) -> int:
    """Return how many there are at least: each can be put in order in no more ways than there are orders."""
    return comb(total + parts - 1, parts - 1) // factorial(parts)

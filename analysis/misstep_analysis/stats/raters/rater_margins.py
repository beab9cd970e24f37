"""How three raters can have dissented, where a paper prints only on how many items each pair of them disagrees."""

from collections.abc import Sequence
from typing import overload

from msgspec import Struct

from misstep_harness.errors import UsageError


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

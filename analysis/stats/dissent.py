"""Who of three raters stood alone, worked out from how many items each pair disagrees on."""

from msgspec import Struct

from harness.errors import UsageError


class Dissent(Struct, frozen=True):
    """How many items all three raters label alike, one labels alone (first, second, third), or all differently."""

    unanimous: int
    alone: tuple[int, int, int]
    all_different: int


def possible_dissents(n_items: int, first_second: int, first_third: int, second_third: int) -> tuple[Dissent, ...]:
    """Every split of the items that gives three pairs' counts of disagreements; none where they contradict each other.

    An item that one rater labels alone counts in both of that rater's pairs, one that all label differently in all
    three.

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
    found = []
    for different in range(min(counts) + 1):
        doubled = (
            first_second + first_third - second_third - different,
            first_second + second_third - first_third - different,
            first_third + second_third - first_second - different,
        )
        unanimous = n_items - different - sum(doubled) // 2
        if min(*doubled, unanimous) >= 0 and not any(count % 2 for count in doubled):
            found.append(Dissent(unanimous, (doubled[0] // 2, doubled[1] // 2, doubled[2] // 2), different))
    return tuple(found)

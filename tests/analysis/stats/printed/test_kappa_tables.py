"""No table of two raters has a kappa outside the limits that its agreements set."""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import pytest

from misstep_analysis.stats.printed.audit import kappa_limits, kappa_of, possible_products


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def all_products(n: int, labels: int) -> dict[int, set[int]]:
    """Agreements → the products of margins of all tables."""
    result: dict[int, set[int]] = defaultdict(set)
    for cells in compositions(n, labels**2):
        table = [cells[start : start + labels] for start in range(0, labels**2, labels)]
        product = sum(sum(row) * sum(column) for row, column in zip(table, zip(*table, strict=True), strict=True))
        result[sum(row[place] for place, row in enumerate(table))].add(product)
    return result


@pytest.mark.parametrize(("n", "labels"), [(7, 2), (5, 3), (6, 3), (3, 4)])
def test_no_table_lies_outside_the_bounds_and_one_reaches_the_greatest_product(n: int, labels: int) -> None:
    reached = all_products(n, labels)
    for agree in range(n + 1):
        least, greatest = possible_products(n, agree, labels)
        assert max(reached[agree]) == greatest
        assert min(reached[agree]) >= least
        below, above = kappa_limits(Fraction(agree, n), labels)
        if below is not None and above is not None:
            kappas = [kappa_of(n, agree, value) for value in reached[agree]]
            assert below <= min(kappas)
            assert max(kappas) <= above

"""The search for a table of two raters with a given kappa finds what trying every table finds, and nothing else."""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.printed.kappa_tables import (
    Products,
    Table,
    differences,
    fill,
    find_table,
    kappa_limits,
    kappa_of,
    possible_products,
    products_of,
)

Margins = tuple[int, ...]


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def margins(table: Table) -> tuple[Margins, Margins]:
    return tuple(map(sum, table)), tuple(map(sum, zip(*table, strict=True)))


def agreements(table: Table) -> int:
    return sum(row[place] for place, row in enumerate(table))


def product(table: Table) -> int:
    return sum(row * column for row, column in zip(*margins(table), strict=True))


def all_products(n: int, labels: int) -> dict[tuple[int, Margins], set[int]]:
    """Agreements and the first rater's margins (empty: any) → the products of margins of all tables."""
    result: dict[tuple[int, Margins], set[int]] = defaultdict(set)
    for cells in compositions(n, labels**2):
        table = tuple(cells[start : start + labels] for start in range(0, labels**2, labels))
        for first in ((), margins(table)[0]):
            result[agreements(table), first].add(product(table))
    return result


@pytest.mark.parametrize(("n", "labels"), [(1, 2), (7, 2), (8, 2), (4, 3), (5, 3), (3, 4)])
def test_the_products_found_are_those_of_all_tables(n: int, labels: int) -> None:
    reached = all_products(n, labels)
    for agree in range(n + 1):
        for first in [(), *compositions(n, labels)]:
            searches = {value: find_table(n, agree, labels, (value, value), first) for value in range(n * n + 1)}
            assert {value for value, search in searches.items() if search.table} == reached[agree, first]
            assert all(search.complete for search in searches.values())


@pytest.mark.parametrize(("n", "labels"), [(7, 2), (5, 3), (6, 3), (3, 4)])
def test_no_table_lies_outside_the_bounds_and_one_reaches_the_greatest_product(n: int, labels: int) -> None:
    reached = all_products(n, labels)
    for agree in range(n + 1):
        least, greatest = possible_products(n, agree, labels)
        assert max(reached[agree, ()]) == greatest
        assert min(reached[agree, ()]) >= least
        below, above = kappa_limits(Fraction(agree, n), labels)
        if below is not None and above is not None:
            kappas = [kappa_of(n, agree, value) for value in reached[agree, ()]]
            assert below <= min(kappas)
            assert max(kappas) <= above


def tables(labels: int, most: int) -> st.SearchStrategy[Table]:
    row = st.tuples(*[st.integers(0, most)] * labels)
    return st.tuples(*[row] * labels).filter(lambda table: sum(map(sum, table)) > 0)


@given(table=st.one_of(tables(2, 30), tables(3, 12), tables(4, 8)))
def test_margins_of_a_table_are_filled_again_with_as_many_agreements(table: Table) -> None:
    rows, columns = margins(table)
    again = fill(rows, columns, agreements(table))
    assert margins(again) == (rows, columns)
    assert agreements(again) == agreements(table)
    assert min(cell for row in again for cell in row) >= 0


@given(table=st.one_of(tables(2, 30), tables(3, 8), tables(4, 3)), known=st.booleans())
def test_a_table_that_there_is_is_never_said_not_to_be(table: Table, known: bool) -> None:
    n, agree = sum(map(sum, table)), agreements(table)
    first = margins(table)[0] if known else ()
    search = find_table(n, agree, len(table), (product(table), product(table)), first)
    assert search.table is not None
    assert (product(search.table), agreements(search.table), sum(map(sum, search.table))) == (product(table), agree, n)
    assert not first or margins(search.table)[0] == first


@pytest.mark.parametrize(("low", "high", "expected"), [("0.9", "1", (0, 99)), ("0.5", "0.9", (1, 0))])
def test_where_all_agree_kappa_is_one_whatever_the_margins(low: str, high: str, expected: Products) -> None:
    assert products_of(10, 10, Fraction(low), Fraction(high)) == expected


def test_a_search_beyond_its_budget_says_that_it_gave_up() -> None:
    greatest = possible_products(60, 20, 4)[1]
    search = find_table(60, 20, 4, (greatest - 1, greatest - 1), budget=1_000)
    assert (search.table, search.complete) == (None, False)


def test_differences_that_are_too_many_are_listed_in_part_and_say_so() -> None:
    assert differences(4, 10).complete
    some = differences(6, 400)
    assert not some.complete
    assert (some.rows.sum(axis=1) == 0).all()
    assert (abs(some.rows).sum(axis=1) <= 800).all()
    assert some.greatest_square == 2 * 400**2

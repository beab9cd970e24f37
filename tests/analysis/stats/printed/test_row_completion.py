"""Rows that are not printed are filled in every way that items and agreements leave, and in no other."""

from fractions import Fraction
from itertools import product

import pytest

from misstep.analysis.stats.printed.kappa_tables import kappa_of
from misstep.analysis.stats.printed.row_completion import completions


def all_kappas(n: int, agree: int, known: dict[int, tuple[int, ...]]) -> list[Fraction]:
    """By trying every cell of three labels' tables."""
    results = set()
    free = [label for label in range(3) if label not in known]
    for cells in product(range(n + 1), repeat=3 * len(free)):
        table = dict(known) | {label: cells[3 * place : 3 * place + 3] for place, label in enumerate(free)}
        if sum(map(sum, table.values())) == n and sum(table[label][label] for label in table) == agree:
            columns = [sum(row[label] for row in table.values()) for label in range(3)]
            chance = sum(sum(table[label]) * columns[label] for label in range(3))
            if chance < n * n:
                results.add(kappa_of(n, agree, chance))
    return sorted(results)


@pytest.mark.parametrize(
    ("n", "agree", "known"),
    [
        (6, 4, {0: (2, 1, 0), 2: (0, 0, 1)}),
        (5, 0, {0: (0, 1, 0), 1: (1, 0, 0)}),
        (5, 3, {1: (1, 2, 0)}),
        (4, 4, {0: (2, 0, 0), 1: (0, 1, 0)}),
        (3, 3, {0: (0, 0, 0), 1: (0, 0, 0)}),
    ],
)
def test_the_kappas_left_are_those_of_all_tables_with_the_known_rows(n, agree, known) -> None:
    result = completions(n, agree, 3, known)
    assert result.complete
    assert list(result.kappas) == all_kappas(n, agree, known)
    for table in result.tables:
        assert all(table[label] == row for label, row in known.items())
        assert sum(map(sum, table)) == n
        assert sum(table[label][label] for label in range(3)) == agree


@pytest.mark.parametrize(("n", "agree"), [(2, 2), (9, 2), (9, 9)])
def test_rows_that_do_not_go_with_the_items_or_the_agreements_leave_nothing(n: int, agree: int) -> None:
    result = completions(n, agree, 2, {0: (3, 1)})
    assert (result.kappas, result.complete) == ((), True)


def test_all_rows_known_leave_one_kappa() -> None:
    assert completions(10, 8, 2, {0: (5, 1), 1: (1, 3)}).kappas == (kappa_of(10, 8, 52),)
    assert completions(11, 9, 2, {0: (5, 1), 1: (1, 3)}).kappas == ()


def test_too_many_ways_are_not_listed() -> None:
    result = completions(500, 400, 5, {0: (9, 1, 0, 0, 0)})
    assert (result.kappas, result.complete) == ((), False)

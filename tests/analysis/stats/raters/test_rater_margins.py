"""How three raters can have dissented where each pair disagrees on so many items."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.stats.printed.audit import Dissent, possible_dissents

COUNT = st.integers(0, 6)


@given(COUNT, COUNT, COUNT, COUNT, COUNT)
def test_the_true_split_is_among_the_possible_ones(unanimous: int, a: int, b: int, c: int, different: int) -> None:
    n = unanimous + a + b + c + different
    result = possible_dissents(n, a + b + different, a + c + different, b + c + different)
    assert Dissent(unanimous, (a, b, c), different) in result
    for one in result:
        assert one.unanimous + sum(one.alone) + one.all_different == n


def test_counts_that_contradict_each_other_have_no_split() -> None:
    assert list(possible_dissents(10, 5, 0, 0)) == []


@given(n=COUNT, first=COUNT, second=COUNT, third=COUNT)
def test_the_splits_are_those_that_trying_every_one_finds(n: int, first: int, second: int, third: int) -> None:
    every = [
        Dissent(n - a - b - c - different, (a, b, c), different)
        for different, a, b, c in product(range(n + 1), repeat=4)
        if (a + b + different, a + c + different, b + c + different) == (first, second, third)
        and a + b + c + different <= n
    ]
    result = possible_dissents(n, first, second, third)
    assert list(result) == every
    assert list(result[1:]) == every[1:]


def test_of_very_many_splits_none_is_made_before_it_is_asked_for() -> None:
    result = possible_dissents(10**12, 10**11, 10**11, 10**11)
    assert len(result) == 5 * 10**10 + 1
    assert result[0] == Dissent(10**12 - 15 * 10**10, (5 * 10**10,) * 3, 0)

"""Labels of three raters that print given kappas."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.raters.agreement import cohen_kappa, fleiss_kappa
from misstep.analysis.stats.raters.patterns import category_counts, contingency_table
from misstep.analysis.stats.raters.rater_margins import Dissent, Kappa, possible_dissents, possible_ratings

PAIRS: dict[Kappa, tuple[int, int]] = {"first_second": (0, 1), "first_third": (0, 2), "second_third": (1, 2)}


def kappas(codes: np.ndarray, categories: int) -> dict[Kappa, str]:
    results = {
        name: cohen_kappa(contingency_table(codes[:, one], codes[:, other], categories)).value
        for name, (one, other) in PAIRS.items()
    }
    return {
        **{name: f"{value:.3f}" for name, value in results.items()},
        "fleiss": f"{fleiss_kappa(category_counts(codes, categories)).overall.value:.3f}",
    }


def test_the_named_solutions_are_those_that_trying_every_label_finds() -> None:
    """Eight items of which the first rater labels one alone and the third another, on three categories."""
    unanimous = [counts for counts in product(range(7), repeat=3) if sum(counts) == 6]
    codes = np.array([[0] * 3] * 4 + [[1] * 3] + [[2] * 3] + [[1, 0, 0], [0, 0, 2]])
    printed = kappas(codes, 3)
    expected = 0
    for counts in unanimous:
        agreed = [[category] * 3 for category, count in enumerate(counts) for _ in range(count)]
        for odd, most, lone, rest in product(range(3), repeat=4):
            if odd != most and lone != rest:
                expected += kappas(np.array([*agreed, [odd, most, most], [rest, rest, lone]]), 3) == printed
    result = possible_ratings(Dissent(6, (1, 0, 1), 0), printed, 3)
    assert result.complete
    assert result.labelled == expected > 0


def test_a_search_beyond_its_budget_does_not_start() -> None:
    result = possible_ratings(Dissent(500, (5, 5, 5), 0), {"fleiss": "0.900"}, 5)
    assert not result.complete
    assert result.ratings == ()
    assert result.candidates > 500_000_000


def test_two_categories_cannot_all_be_different() -> None:
    assert possible_ratings(Dissent(5, (0, 0, 0), 1), {"fleiss": "0.5"}, 2).ratings == ()


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

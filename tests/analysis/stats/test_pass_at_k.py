"""pass@k and pass^k."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.stats.pass_at_k import (
    each_task,
    mean_over_tasks,
    pass_at_k,
    pass_hat_k,
    plugged_in_pass_at_k,
)

TASKS = [[5, 0], [5, 1], [5, 3], [5, 5], [4, 2]]


@st.composite
def attempts(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 9))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(attempts())
def test_they_are_shares_of_all_choices_of_k_attempts(given_attempts: tuple[int, int, int]) -> None:
    n, c, k = given_attempts
    choices = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) * len(choices) == sum(any(choice) for choice in choices)
    assert pass_hat_k(n, c, k) * len(choices) == sum(all(choice) for choice in choices)


def test_the_interval_is_within_the_tasks_own_values_and_repeats_with_the_seed() -> None:
    one, other = (mean_over_tasks(TASKS, 2, np.random.default_rng(5)).mean for _ in range(2))
    values = each_task(TASKS, 2)
    assert one == other
    assert values.min() <= one.low < one.value < one.high <= values.max()
    assert "resamples of tasks" in one.method


def test_tasks_that_all_give_the_same_say_that_no_width_is_no_certainty() -> None:
    result = mean_over_tasks([[4, 4], [3, 3]], 2, np.random.default_rng(0))
    assert result.mean.value == 1
    assert result.mean.reason


@given(attempts())
def test_putting_the_observed_share_in_is_never_above_the_exact_form(given_attempts: tuple[int, int, int]) -> None:
    n, c, k = given_attempts
    assert plugged_in_pass_at_k(n, c, k) <= pass_at_k(n, c, k)
    assert plugged_in_pass_at_k(n, c, 1) == pass_at_k(n, c, 1)

"""pass@k and pass^k."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.pass_at_k import (
    each_task,
    mean_over_tasks,
    pass_at_k,
    pass_hat_k,
    plugged_in_pass_at_k,
)
from misstep.harness.errors import UsageError

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


@pytest.mark.parametrize("tasks", [[], [[4, 1], [1, 1]], [[4, 5]], [[4, -1]], [4, 2]])
def test_tasks_that_do_not_allow_k_are_refused(tasks: list[list[int]]) -> None:
    with pytest.raises(UsageError):
        each_task(tasks, 2)


def test_the_refusal_says_how_many_tasks_are_short_of_attempts() -> None:
    with pytest.raises(UsageError, match="2 of 5 tasks"):
        each_task([[3, 1], [2, 1], [5, 0], [9, 9], [1, 0]], 3)


@given(attempts())
def test_putting_the_observed_share_in_is_never_above_the_exact_form(given_attempts: tuple[int, int, int]) -> None:
    n, c, k = given_attempts
    assert plugged_in_pass_at_k(n, c, k) <= pass_at_k(n, c, k)
    assert plugged_in_pass_at_k(n, c, 1) == pass_at_k(n, c, 1)

"""The disagreements of three pairs say who of three raters stood alone, where they can be true together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.dissent import Dissent, possible_dissents
from harness.errors import UsageError

COUNT = st.integers(0, 6)


@given(COUNT, COUNT, COUNT, COUNT, COUNT)
def test_the_true_split_is_among_the_possible_ones(unanimous: int, a: int, b: int, c: int, different: int) -> None:
    n = unanimous + a + b + c + different
    found = possible_dissents(n, a + b + different, a + c + different, b + c + different)
    assert Dissent(unanimous, (a, b, c), different) in found
    for one in found:
        assert one.unanimous + sum(one.alone) + one.all_different == n


def test_counts_that_contradict_each_other_have_no_split() -> None:
    assert possible_dissents(10, 5, 0, 0) == ()


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(UsageError):
        possible_dissents(10, -1, 0, 0)

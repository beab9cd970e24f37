"""Two systems tried several times on the same tasks."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.clusters.clustered_pairs import (
    PairedCounts,
    clustered_paired_difference,
    paired_rates,
    sign_flip_mcnemar,
)
from misstep.analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep.harness.errors import UsageError


@st.composite
def counts_of_a_task(draw: st.DrawFn) -> PairedCounts:
    tried, others = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    return tried, draw(st.integers(0, tried)), others, draw(st.integers(0, others))


def test_with_one_attempt_a_task_it_is_mcnemars_test_with_tangos_interval() -> None:
    found = paired_rates([(1, 1, 1, 0)] * 5 + [(1, 0, 1, 1)] * 2 + [(1, 1, 1, 1)])
    table = PairedTable(1, 5, 2, 0)
    assert (found.difference, found.test) == (paired_score_interval(table), mcnemar_mid_p(table))
    assert (found.ahead, found.behind, found.level) == (5, 2, 1)


def test_with_several_attempts_a_task_goes_either_way_as_a_whole() -> None:
    found = paired_rates([(3, 2, 3, 1), (3, 3, 3, 0), (3, 0, 3, 1)])
    assert found.test == sign_flip_mcnemar([1, 3, -1])
    assert found.difference.low == clustered_paired_difference([1, 3, -1], [3, 3, 3]).low
    assert found.difference.n == 3


@given(st.lists(counts_of_a_task(), min_size=1, max_size=12))
def test_a_task_weighs_the_same_however_often_it_was_tried(tasks: list[PairedCounts]) -> None:
    exact = sum((Fraction(c, n) - Fraction(d, m) for n, c, m, d in tasks), Fraction(0)) / len(tasks)
    assert paired_rates(tasks).difference.value == pytest.approx(float(exact), abs=1e-12)


def test_numbers_of_attempts_without_a_small_common_multiple_are_rounded_and_said() -> None:
    found = paired_rates([(n, n // 2, n + 1, n // 3) for n in range(1, 60)])
    exact = sum(n // 2 / n - n // 3 / (n + 1) for n in range(1, 60)) / 59
    assert found.difference.value == pytest.approx(exact, abs=1e-5)
    assert "rounded to 1/27,720" in found.difference.method
    assert "rounded to 1/27,720" in found.test.test


@pytest.mark.parametrize("tasks", [[], [(0, 0, 1, 1)], [(1, 1, 0, 0)]])
def test_a_task_without_attempts_is_refused(tasks: list[PairedCounts]) -> None:
    with pytest.raises(UsageError):
        paired_rates(tasks)

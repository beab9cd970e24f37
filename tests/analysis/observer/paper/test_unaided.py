"""Loops that nobody intervened in: the call comes back, the run ends, or neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.observer.paper.unaided import (
    ENDED,
    REPEATED,
    WINDOW,
    Loop,
    repeat_places,
    repeat_rows,
    share_by,
    unaided_table,
)
from misstep_analysis.stats.decisions.incidence import cumulative_incidence


def loop(again: int | None, left: int, run: str = "r", dataset: str = "orchard") -> Loop:
    return Loop(dataset, f"{dataset}@abc", run, again, left)


LOOPS = st.lists(
    st.integers(0, 40).flatmap(
        lambda left: st.builds(loop, st.none() | st.integers(1, left) if left else st.none(), st.just(left))
    ),
    min_size=1,
    max_size=40,
)


@given(LOOPS, st.integers(1, WINDOW), st.sampled_from([REPEATED, ENDED]))
def test_without_censoring_a_share_is_the_aalen_johansen_estimate(loops: list[Loop], step: int, cause: int) -> None:
    times, events = zip(*(one.event for one in loops), strict=True)
    expected = cumulative_incidence(times, events, causes=ENDED).at(step, cause).value
    assert share_by(loops, step, cause).value == pytest.approx(expected)


@given(LOOPS)
def test_the_three_ends_of_a_loop_add_up_to_all(loops: list[Loop]) -> None:
    shares = [row.value for row in unaided_table(loops).rows[1:]]
    assert sum(float(share or 0) for share in shares) == pytest.approx(1)


def test_a_call_that_comes_back_after_the_window_is_recovered_by_the_criterion() -> None:
    table = unaided_table([loop(again=WINDOW + 1, left=30), loop(again=3, left=30), loop(again=None, left=4)])
    assert [row.value for row in table.rows] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 3])


def test_a_set_with_few_loops_has_no_curve_and_none_at_all_is_said() -> None:
    few, enough = [loop(1, 5)] * 3, [loop(2, 9, dataset="pears")] * 20
    assert {row.group for row in repeat_rows(few + enough)} == {"pears"}
    assert {row.quantity for row in repeat_rows(enough)} == set(repeat_places())
    assert unaided_table([]).finding == "No set of runs with a loop is available."

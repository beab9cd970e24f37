"""The plan of an annotation study: phases that all raters begin together, and orders of their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.annotation.plan import AnnotationPlan, State, drawn, planned
from misstep_harness.annotation import RaterAnswer
from misstep_harness.errors import UsageError

ITEMS = tuple(f"case-{number}" for number in range(12))


def _plan(**changed: object) -> AnnotationPlan:
    settings = {"items": ITEMS, "raters": ("ann", "ben"), "calibration": 3, "seed": 1, "labels": ("task", "agent")}
    return planned(**(settings | changed))  # type: ignore[arg-type]


def _answered(state: State, rater: str, item: str, label: str = "task") -> State:
    return State(state.plan, (*state.answers, RaterAnswer(item, rater, state.phase, label)))


def _all(state: State, **labels: str) -> State:
    """Everybody does what is left of the present phase."""
    phase = state.phase
    for rater in state.plan.raters:
        for item in state.left(rater, phase):
            state = _answered(state, rater, item, labels.get(rater, "task"))
    return state


def test_the_calibration_set_is_the_same_for_all_and_the_orders_are_not() -> None:
    state = State(_plan(), ())
    assert state.order("ann") == state.order("ben") == state.plan.calibration
    assert len(state.plan.calibration) == 3
    first, second = state.plan.order("ann"), state.plan.order("ben")
    assert first != second
    assert sorted(first) == sorted(second) == sorted(set(ITEMS) - set(state.plan.calibration))
    assert _plan().order("ann") == first
    assert _plan(seed=2).order("ann") != first


def test_a_phase_begins_when_the_last_rater_is_done_with_the_one_before() -> None:
    state = State(_plan(), ())
    for item in state.plan.calibration:
        state = _answered(state, "ann", item)
    assert state.phase == "calibration"
    assert state.left("ann") == ()
    state = _all(state)
    assert state.phase == "independent"
    state = _all(state, ben="agent")
    assert state.phase == "reconciliation"
    assert not state.finished
    assert set(state.order("ann")) == set(state.plan.independent)
    assert _all(state).finished


def test_the_next_case_is_the_next_that_is_left_in_the_raters_own_order() -> None:
    state = _all(State(_plan(), ()))
    order = state.order("ann")
    state = _answered(state, "ann", order[1])
    assert state.next_after("ann", order[0]) == order[2]
    assert state.next_after("ann", order[-1]) == order[0]


@given(st.lists(st.tuples(st.sampled_from(ITEMS), st.sampled_from(["ann", "ben"])), max_size=30))
def test_what_is_left_and_what_is_answered_are_the_phase_together(given_to: list[tuple[str, str]]) -> None:
    state = State(_plan(), ())
    for item, rater in given_to:
        if item in state.order(rater):
            state = _answered(state, rater, item)
    for rater in state.plan.raters:
        done = {item for item in state.order(rater) if state.last(rater, item)}
        assert done | set(state.left(rater)) == set(state.order(rater))
        assert done & set(state.left(rater)) == set()


@pytest.mark.parametrize(
    "changed",
    [
        {"items": ()},
        {"raters": ()},
        {"raters": ("ann", "Ann")},
        {"raters": ("ann", "x" * 61)},
        {"raters": ("ann", "b\x1ben")},
        {"calibration": 13},
    ],
)
def test_a_plan_that_cannot_be_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        _plan(**changed)


def test_by_default_five_cases_calibrate_or_a_quarter_of_few() -> None:
    assert len(_plan(calibration=None).calibration) == 3
    assert len(_plan(calibration=None, items=tuple(map(str, range(40)))).calibration) == 5
    assert len(_plan(calibration=None, items=("a", "b", "c")).calibration) == 0
    assert len(_plan(calibration=None, raters=("ann",)).calibration) == 0


def test_a_sample_is_drawn_by_seed_and_no_larger_than_there_are_cases() -> None:
    samples = {seed: drawn(ITEMS, 4, seed) for seed in range(6)}
    assert all(len(set(sample)) == 4 for sample in samples.values())
    assert len(set(samples.values())) > 1
    assert drawn(ITEMS, 4, 3) == samples[3]
    assert drawn(ITEMS, 99, 0) == drawn(ITEMS, None, 0) == ITEMS


def test_a_rater_alone_is_finished_with_the_last_case_even_where_nobody_can_tell() -> None:
    state = State(_plan(raters=("ann",), calibration=None), ())
    for item in state.left("ann"):
        state = State(state.plan, (*state.answers, RaterAnswer(item, "ann", state.phase, None)))
    assert (state.disputed, state.finished) == ((), True)

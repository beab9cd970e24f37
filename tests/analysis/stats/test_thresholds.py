"""A threshold that keeps a precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.proportions import clopper_pearson
from analysis.stats.thresholds import precision_floor, smallest_flagged
from harness.errors import UsageError

SCORED = st.lists(st.tuples(st.sampled_from([0.2, 0.4, 0.6, 0.8]), st.booleans()), max_size=80)


@given(SCORED)
def test_the_chosen_threshold_is_the_last_before_the_first_failure(items: list[tuple[float, bool]]) -> None:
    found = precision_floor(
        [score for score, _ in items], [right for _, right in items], [0.8, 0.6, 0.4, 0.2], floor=0.5
    )
    passed = [step.passes for step in found.steps]
    run = passed.index(False) if False in passed else len(passed)
    assert found.selected == (found.steps[run - 1].threshold if run else None)
    assert [step.tested for step in found.steps] == [place <= run for place in range(len(passed))]


@pytest.mark.parametrize("floor", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("errors", [0, 1, 7])
def test_one_item_fewer_than_the_smallest_number_cannot_show_the_floor(floor: float, errors: int) -> None:
    n = smallest_flagged(floor, errors)
    assert clopper_pearson(n - errors, n, side="lower").low >= floor
    assert n - 1 <= errors or clopper_pearson(n - 1 - errors, n - 1, side="lower").low < floor


def test_a_score_equal_to_the_threshold_is_flagged() -> None:
    assert precision_floor([0.5, 0.4], [True, True], [0.5], 0.8).steps[0].flagged == 1


@pytest.mark.parametrize(
    ("scores", "labels", "thresholds", "floor"),
    [
        ([0.5], [True, False], [0.5], 0.8),
        ([np.nan], [True], [0.5], 0.8),
        ([0.5], [True], [], 0.8),
        ([0.5], [True], [0.5], 1.0),
    ],
)
def test_a_calibration_that_cannot_be_is_refused(
    scores: list[float], labels: list[bool], thresholds: list[float], floor: float
) -> None:
    with pytest.raises(UsageError):
        precision_floor(scores, labels, thresholds, floor)


def test_a_number_of_errors_below_zero_is_refused() -> None:
    with pytest.raises(UsageError):
        smallest_flagged(0.8, -1)

"""A threshold that keeps a precision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from misstep_analysis.stats.decisions.thresholds import flagged_for_power, precision_floor, smallest_flagged
from misstep_analysis.stats.proportions import clopper_pearson
from misstep_harness.errors import UsageError

SCORED = st.lists(st.tuples(st.sampled_from([0.2, 0.4, 0.6, 0.8]), st.booleans()), max_size=80)


@given(SCORED)
def test_the_chosen_threshold_is_the_last_before_the_first_failure(items: list[tuple[float, bool]]) -> None:
    result = precision_floor(
        [score for score, _ in items], [right for _, right in items], [0.8, 0.6, 0.4, 0.2], floor=0.5
    )
    passed = [step.passes for step in result.steps]
    run = passed.index(False) if False in passed else len(passed)
    assert result.selected == (result.steps[run - 1].threshold if run else None)
    assert [step.tested for step in result.steps] == [place <= run for place in range(len(passed))]


@pytest.mark.parametrize("floor", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("errors", [0, 1, 7])
def test_one_item_fewer_than_the_smallest_number_cannot_show_the_floor(floor: float, errors: int) -> None:
    n = smallest_flagged(floor, errors)
    assert clopper_pearson(n - errors, n, side="lower").low >= floor
    assert n - 1 <= errors or clopper_pearson(n - 1 - errors, n - 1, side="lower").low < floor


def test_a_score_equal_to_the_threshold_is_flagged() -> None:
    assert precision_floor([0.5, 0.4], [True, True], [0.5], 0.8).steps[0].flagged == 1


@pytest.mark.parametrize(("floor", "precision"), [(0.8, 0.85), (0.8, 0.9), (0.9, 0.98), (0.8, 1.0)])
def test_with_so_many_flagged_items_a_floor_is_shown_with_the_chance_asked_for(floor: float, precision: float) -> None:
    def chance(n: int) -> float:
        shown = [x for x in range(n + 1) if (clopper_pearson(x, n, side="lower").low or 0.0) >= floor]
        return float(binom.sf(min(shown, default=n + 1) - 1, n, precision))

    n = flagged_for_power(floor, precision)
    assert chance(n) >= 0.8
    assert chance(n // 2) < 0.8


@pytest.mark.parametrize(("precision", "power"), [(0.8, 0.8), (0.5, 0.8), (0.9, 1.0), (1.1, 0.8)])
def test_no_number_of_items_shows_a_floor_that_the_precision_is_not_above(precision: float, power: float) -> None:
    with pytest.raises(UsageError):
        flagged_for_power(0.8, precision, power=power)


def test_flagged_items_of_one_cluster_count_together() -> None:
    scores, gold = [0.9] * 30, [True] * 30
    alone = precision_floor(scores, gold, [0.5], 0.8).steps[0]
    together = precision_floor(scores, gold, [0.5], 0.8, clusters=[place // 3 for place in range(30)]).steps[0]
    assert (alone.passes, together.passes) == (True, False)
    assert "10 clusters" in together.precision.method
    with pytest.raises(UsageError):
        precision_floor(scores, gold, [0.5], 0.8, clusters=[1, 2])

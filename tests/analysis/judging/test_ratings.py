"""Ratings on a scale: agreement is beyond chance or it is none, and who rates higher is told with its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.judging.ratings import (
    ALPHA,
    HIGHER,
    NONE_SHARED,
    JudgedRatings,
    interval_alpha,
    rated_aspects,
    ratings_table,
)
from misstep_analysis.stats.raters.coefficients import NO_DISAGREEMENT
from misstep_analysis.tables import Row, Table
from tests.analysis.stats.quantities.agreement import krippendorff_alpha

PEOPLE = [1.0, 2.0, 2.5, 4.0, 5.0, 3.0]


def rated(title: str, judge: list[float | None]) -> JudgedRatings:
    """A judge's ratings of one aspect of the runs that people gave `PEOPLE`; `None` is not an answer."""
    return JudgedRatings(
        title,
        "trail",
        "trail@0",
        {f"r{run}": {"plan": value} for run, value in enumerate(PEOPLE)},
        {f"r{run}": None if value is None else {"plan": value} for run, value in enumerate(judge)},
    )


def row(table: Table, group: str, quantity: str) -> Row:
    (results,) = [one for one in table.rows if (one.group, one.quantity) == (group, quantity)]
    return results


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=12))
def test_alpha_is_krippendorffs_on_the_interval_level(pairs: list[tuple[int, int]]) -> None:
    ratings = np.array(pairs, dtype=np.float64)
    counts = [[pair.count(value) for value in range(1, 6)] for pair in pairs]
    expected = krippendorff_alpha(counts, "interval", [1, 2, 3, 4, 5])
    result = interval_alpha(ratings, resamples=50)
    assert result.value == (None if expected.value is None else pytest.approx(expected.value))


def test_a_judge_that_rates_everything_a_point_lower_is_shown_to_rate_lower() -> None:
    lower = [value - 1 - (0.2 if run % 2 else 0.0) for run, value in enumerate(PEOPLE)]
    table = ratings_table([rated("stern", lower)])
    higher = row(table, "stern, plan", HIGHER)
    assert higher.value == pytest.approx(-1.1)
    assert higher.high < 0
    assert "of 1 mean ratings 0 are shown to be higher than people's and 1 lower" in table.finding


def test_runs_without_an_answer_are_left_out_and_counted() -> None:
    table = ratings_table([rated("half", [1.0, None, 2.5, None, 5.0, 3.0])])
    assert row(table, "half, plan", ALPHA).n == 4
    assert "half: 2 of 6 runs got no answer and are left out." in table.notes


def test_ratings_that_are_all_alike_have_no_alpha() -> None:
    five = JudgedRatings("five", "d", "d@0", {"r": {"a": 5.0}, "s": {"a": 5.0}}, {"r": {"a": 5.0}, "s": {"a": 5.0}})
    (result,) = rated_aspects(five, resamples=20)
    assert (result.alpha.value, result.alpha.reason) == (None, NO_DISAGREEMENT)
    assert result.alike.value == 1.0


def test_runs_that_only_one_of_the_two_rated_say_nothing() -> None:
    apart = JudgedRatings("apart", "d", "d@0", {"r": {"a": 5.0}, "s": {}}, {"s": {"a": 3.0}, "t": {"a": 1.0}})
    (result,) = rated_aspects(apart, resamples=20)
    assert (result.alpha.value, result.alpha.n, result.alpha.reason) == (None, 0, NONE_SHARED)

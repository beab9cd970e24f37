"""A precision floor is shown by a lower bound, not by a precision; a printed precision says how many it needs."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.repair.paper.precision_floors import (
    NEEDED,
    NOT_ABOVE,
    PRECISION,
    answers_needed,
    lower_bound,
    precision_floor_table,
)


def test_six_right_of_seven_do_not_show_a_precision_of_eighty_percent() -> None:
    precision = lower_bound(6, 7)
    assert precision.low == pytest.approx(0.4793, abs=1e-4)  # Beta(6, 2) at 5%
    assert precision.high is None


def test_fourteen_answers_all_right_are_the_fewest_that_show_eighty_percent() -> None:
    assert answers_needed(Fraction(1), 0.8) == 14  # 0.8^14 < 0.05 < 0.8^13


@given(st.integers(40, 90), st.integers(5, 40))
def test_the_answers_needed_show_the_floor_with_at_least_the_share_of_errors_that_the_precision_has(floor, above):
    precision = min(Fraction(floor + above, 100), Fraction(1))
    needed = answers_needed(precision, floor / 100)
    wrong = ceil((1 - precision) * needed)
    assert lower_bound(needed - wrong, needed).low >= floor / 100  # type: ignore[operator]


def test_no_number_of_answers_shows_a_floor_that_the_precision_does_not_pass() -> None:
    assert answers_needed(Fraction(8, 10), 0.8) is None


def test_the_table_says_how_many_answers_a_printed_precision_would_take() -> None:
    table = precision_floor_table(0.8)
    rows = {(row.group, row.quantity, row.evidence): row for row in table.rows}
    acceptable = rows["Engineering Agent's judge, “acceptable”", NEEDED, "recomputed"]
    assert acceptable.reason == NOT_ABOVE
    if_of_seven = rows["Wink's judge of recovery, if of 7 answers", PRECISION, "recomputed"]
    assert (if_of_seven.value, if_of_seven.low) == (pytest.approx(6 / 7), pytest.approx(0.4793, abs=1e-4))
    assert "Wink's 85.71% would show" in table.finding
    assert "at no number" in precision_floor_table(0.86).finding

"""A precision floor is shown by a lower bound, not by a precision; a printed precision says how many it needs."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.papers.precision_floors import (
    NEEDED,
    NEVER_FLAGGED,
    NOT_ABOVE,
    PRECISION,
    answers_needed,
    bounds,
    flagged_by_cluster,
    kept_floor,
    precision_floor_table,
    precision_floors,
)
from misstep.analysis.stats.proportions import clopper_pearson
from misstep.analysis.tables import Row
from tests.analysis.measures.judging.recorded import alone, judged


def test_six_right_of_seven_do_not_show_a_precision_of_eighty_percent() -> None:
    kept = kept_floor([[6, 7]], 0.8)
    assert kept.precision.value == pytest.approx(6 / 7)
    assert kept.precision.low == pytest.approx(0.4793, abs=1e-4)  # Beta(6, 2) at 5%
    assert kept.precision.high is None
    assert not kept.reached


def test_fourteen_answers_all_right_are_the_fewest_that_show_eighty_percent() -> None:
    assert answers_needed(Fraction(1), 0.8) == 14  # 0.8^14 < 0.05 < 0.8^13
    assert kept_floor([[14, 14]], 0.8).reached
    assert not kept_floor([[13, 13]], 0.8).reached


@given(st.integers(40, 90), st.integers(5, 40))
def test_the_answers_needed_show_the_floor_with_at_least_the_share_of_errors_that_the_precision_has(floor, above):
    precision = min(Fraction(floor + above, 100), Fraction(1))
    needed = answers_needed(precision, floor / 100)
    wrong = ceil((1 - precision) * needed)
    assert clopper_pearson(needed - wrong, needed, 0.95, "lower").low >= floor / 100  # type: ignore[operator]


def test_no_number_of_answers_shows_a_floor_that_the_precision_does_not_pass() -> None:
    assert kept_floor([[8, 10]], 0.8).needed is None
    assert kept_floor([[4, 5], [3, 5], [5, 5]], 0.8).needed is None


def test_a_judge_that_flags_nothing_has_no_precision() -> None:
    for nothing in ([], [[0, 0]]):
        kept = kept_floor(nothing, 0.8)
        assert (kept.precision.value, kept.precision.reason, kept.reached) == (None, NEVER_FLAGGED, False)


def test_answers_of_one_run_count_for_less_than_as_many_of_their_own() -> None:
    # Runs all right or all wrong: 45 of 50 answers, but 9 of 10 runs.
    together, apart = kept_floor([[5, 5]] * 9 + [[0, 5]], 0.8), kept_floor([[45, 50]], 0.8)
    assert together.precision.value == apart.precision.value == 0.9
    assert together.precision.low < apart.precision.low
    assert together.needed >= 4 * apart.needed


def test_one_row_for_all_answers_is_as_good_as_a_row_each() -> None:
    each = np.array([[1, 1]] * 9 + [[0, 1]])
    assert kept_floor(each, 0.5).precision.low == pytest.approx(kept_floor([[9, 10]], 0.5).precision.low)


def test_only_answers_of_the_positive_label_with_a_gold_label_are_flags() -> None:
    judge = judged("j", [[("yes", "yes"), ("no", "yes"), ("yes", "no"), ("yes", None)], [("no", "no")]])
    assert flagged_by_cluster(judge).tolist() == [[1, 2]]


SURE = alone("sure", [("yes", "yes")] * 30 + [("no", "no")] * 30, "plants")
UNSURE = alone("unsure", [("yes", "yes")] * 5 + [("no", "yes")] * 5)


def rows(group: str, quantity: str) -> list[Row]:
    table = precision_floor_table(precision_floors([SURE, UNSURE]))
    return [row for row in table.rows if row.group.startswith(group) and row.quantity == quantity]


def test_the_table_holds_recorded_judges_against_the_floor_beside_the_papers() -> None:
    (sure,) = rows("sure", PRECISION)
    assert (sure.value, sure.n, sure.evidence) == (1.0, 30, "real")
    (needed,) = rows("unsure", NEEDED)
    assert (needed.value, needed.reason) == (None, NOT_ABOVE)
    published, recomputed = rows("Engineering Agent's judge, “unacceptable”", PRECISION)
    assert (published.evidence, recomputed.evidence) == ("published", "recomputed")
    assert recomputed.source == "72 / 83, Section 8.3"


def test_winks_printed_precision_needs_more_answers_than_its_least_count() -> None:
    printed, *others = rows("Wink", PRECISION)
    assert (printed.evidence, printed.printed) == ("published", "85.71%")
    least, shown = others
    assert (least.n, shown.n) == (7, 147)
    assert least.low < 0.8 <= shown.low
    assert {row.evidence for row in others} == {"recomputed"}


def test_the_figure_shows_every_bound_under_its_judge() -> None:
    assert [(row.group, row.quantity) for row in bounds(precision_floors([SURE]))] == [
        ("sure", "plants"),
        ("Engineering Agent's judge", "“unacceptable”"),
        ("Engineering Agent's judge", "“acceptable”"),
        ("Wink's judge of recovery", "if of 7 answers"),
        ("Wink's judge of recovery", "if of 147 answers"),
    ]


def test_the_finding_counts_the_judges_whose_bound_reaches_the_floor() -> None:
    finding = precision_floor_table(precision_floors([SURE, UNSURE])).finding
    assert finding.startswith("1 of 2 recorded judges are shown to be right in 80.0% or more")
    assert "100.0%, at least 90.5%" in finding
    assert "147 verified answers on" in finding
    assert precision_floor_table(precision_floors([])).finding.startswith("No judge's recorded answers are available")

"""Curves and funnels: lines with the bands of their intervals, and counts that narrow step by step."""

import re
from itertools import pairwise

import pytest

from misstep_analysis.plots.drawing import WIDTH, text_width
from misstep_analysis.plots.points import curves, funnel
from misstep_analysis.tables import Row
from misstep_harness.errors import UsageError
from tests.analysis.svg import description, shown

PLACES = {f"pass@{k}": float(k) for k in (1, 2, 5, 10, 50, 100)}
STEPS = [
    Row("Reported", 1000, unit="count", evidence="recomputed"),
    Row("Read", 400, unit="count", evidence="recomputed"),
    Row("Kept", 100, unit="count", evidence="recomputed"),
]


def one_curve(group: str = "Small model", shift: float = 0.0) -> list[Row]:
    values = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    return [
        Row(quantity, value + shift, value + shift - 0.05, value + shift + 0.05, n=40, unit="share", group=group)
        for quantity, value in zip(PLACES, values, strict=True)
    ]


def lines(svg: str) -> list[list[tuple[float, float]]]:
    """The drawn lines with more than two ends."""
    results = []
    for style in re.findall(r'<path d="([^"]+)"[^>]*style="fill: none', svg):
        numbers = [float(number) for number in style.split() if number not in "ML"]
        results.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    return [line for line in results if len(line) > 2]


def test_a_wide_axis_is_logarithmic_and_a_narrow_one_even():
    (wide,) = lines(curves(one_curve(), PLACES, "T"))
    steps = [second[0] - first[0] for first, second in pairwise(wide)]
    assert steps[0] == pytest.approx(steps[4], rel=1e-3)  # from 1 to 2 as from 50 to 100
    few = one_curve()[:3]
    (narrow,) = lines(curves(few, PLACES, "T"))
    assert narrow[2][0] - narrow[1][0] == pytest.approx(3 * (narrow[1][0] - narrow[0][0]), rel=1e-3)


def test_a_higher_value_stands_higher_and_every_place_has_its_number():
    svg = curves(one_curve(), PLACES, "T", x_label="attempts")
    (line,) = lines(svg)
    assert [y for _, y in line] == sorted((y for _, y in line), reverse=True)
    assert {"1", "2", "5", "10", "50", "100", "attempts", "20%", "Small model"} <= set(shown(svg))


def test_series_are_named_and_differ_in_stroke():
    svg = curves([*one_curve("First"), *one_curve("Second", 0.2)], PLACES, "T")
    assert len(lines(svg)) == 2
    assert {"First", "Second"} <= set(shown(svg))
    assert "stroke-dasharray" in svg
    assert "stroke-dasharray" not in curves(one_curve("First"), PLACES, "T")


def test_a_missing_value_interrupts_its_line():
    rows = one_curve()
    rows[3] = Row(rows[3].quantity, None, unit="share", group=rows[3].group)
    svg = curves(rows, PLACES, "T")
    assert [len(line) for line in lines(svg)] == [3]
    assert "Small model, pass@10: not available" in description(svg)


def test_a_quantity_without_a_place_is_refused():
    with pytest.raises(UsageError, match="pass@7"):
        curves([Row("pass@7", 0.5)], PLACES, "T")


def test_a_funnel_gives_the_share_of_the_step_before_and_of_the_first():
    svg = funnel(STEPS, "T")
    assert "25.0% of the step before, 10.0% of the first" in shown(svg)
    assert description(svg).endswith("Kept: 100, recomputed, 25.0% of the step before, 10.0% of the first.")
    assert "40.0% of the step before" in shown(svg)
    assert not [words for words in shown(svg) if words.startswith("100.0%")]


def test_a_step_above_the_one_before_is_refused():
    with pytest.raises(UsageError, match="Read is more"):
        funnel([STEPS[2], STEPS[1]], "T")
    with pytest.raises(UsageError, match="below 0"):
        funnel([Row("Lost", -1, unit="count")], "T")


def test_the_last_number_of_an_axis_stands_whole_within_the_figure():
    places = {"few": 10.0, "many": 1_000_000.0}
    svg = curves([Row("few", 0.2, unit="share"), Row("many", 0.4, unit="share")], places, "T")
    (middle,) = re.findall(r'<text[^>]* x="([\d.]+)"[^>]*>1,000,000</text>', svg)
    assert float(middle) + text_width("1,000,000", 10.5) / 2 <= WIDTH


def test_an_axis_in_words_names_its_quantities_evenly():
    weeks = {"2026-W08": 1.0, "2026-W09": 2.0, "2026-W40": 33.0}
    rows = [Row(week, 0.5, unit="share") for week in weeks]
    svg = curves(rows, weeks, "By week", in_words=True)
    assert set(shown(svg)) >= {"2026-W09", "2026-W40"}
    (line,) = lines(svg)
    assert line[2][0] - line[1][0] == pytest.approx(31 * (line[1][0] - line[0][0]), rel=1e-3)

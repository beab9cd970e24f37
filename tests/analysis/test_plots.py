"""Figures say what they show to those who do not see them, keep to themselves in a page, and never change."""

import io
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.image import imread

from misstep_analysis.plots.drawing import WIDTH, fitted_apart, standalone
from misstep_analysis.plots.points import confusion, cost_quality, crossed, curves, funnel, heat_map, reliability
from misstep_analysis.plots.rows import bars, forest, small_multiples
from misstep_analysis.tables import Row
from misstep_harness.escaping import one_line
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up import HOSTILE, by_set, compared
from tests.analysis.svg import description, shown

MATRIX = [[50, 3], [4, 120]]
CURVE = [Row("1", 0.2, 0.1, 0.3, n=9, unit="share", group="a"), Row("40", 0.6, unit="share", group="a")]


def every_figure() -> dict[str, str]:
    return {
        "bars": bars(compared().rows, "Bars"),
        "forest": forest(compared().rows, "Forest", reference=0.2),
        "small_multiples": small_multiples(by_set().rows, "Panels"),
        "confusion": confusion(MATRIX, ["task", "agent"], "Confusion"),
        "curves": curves(CURVE, {"1": 1.0, "40": 40.0}, "Curves"),
        "funnel": funnel([Row("Sent", 9, unit="count"), Row("Kept", 3, unit="count")], "Funnel"),
        "heat_map": heat_map([[0.5, None]], ["alpha"], ["Loops", "Edits"], "Heat", unit="share"),
        "cost_quality": cost_quality(compared().rows, {row.quantity: 0.1 for row in compared().rows}, "Cost"),
        "reliability": reliability(CURVE, {"1": 0.5, "40": 1.0}, "Scores"),
    }


FIGURES = every_figure()


@pytest.fixture(params=FIGURES)
def figure(request):
    return FIGURES[request.param]


def test_a_figure_is_an_image_with_a_name_and_a_description(figure):
    opening = figure[: figure.index(">")]
    assert 'role="img"' in opening
    named, described = re.search(r'aria-labelledby="(\S+) (\S+)"', opening).groups()
    assert f'<title id="{named}">' in figure
    assert f'<desc id="{described}">' in figure


def test_a_figure_brings_nothing_along_and_changes_nothing_around_it(figure):
    check_page(figure)
    assert "<style" not in figure
    assert "://" not in figure
    assert "font-family" not in figure


def test_a_figure_takes_its_colours_from_the_page(figure):
    colours = set(re.findall(r"(?:fill|stroke): ?([^;\"]+)", figure))
    assert colours
    assert all(colour in ("none", "currentColor") or colour.startswith("var(--") for colour in colours)


def test_the_same_rows_give_the_same_bytes():
    assert every_figure() == FIGURES


def test_figures_in_one_page_share_no_id():
    check_page("".join(FIGURES.values()))


def test_a_row_without_a_value_is_named_without_a_mark():
    with_it = bars([Row("a", 0.5, unit="share"), Row("b", None, unit="share")], "T")
    without = bars([Row("a", 0.5, unit="share")], "T")
    assert "b: not available, real" in description(with_it)
    assert "b" in shown(with_it)
    assert with_it.count("<path") == without.count("<path")


@pytest.mark.parametrize("draw", [bars, forest, small_multiples])
def test_a_figure_without_any_value_can_be_drawn(draw):
    for rows in ([], [Row("a", None)], [Row("a", math.nan)], [Row("a", 0.0)]):
        check_page(draw(rows, "Nothing"))


def test_a_bar_is_as_long_as_its_share():
    def length(share: float) -> float:
        svg = bars([Row("a", share, unit="share"), Row("b", 1.0, unit="share")], "T")
        numbers = [float(number) for number in re.search(r'd="M ([^"]+) z"', svg)[1].split() if number not in "ML"]
        return max(numbers[::2]) - min(numbers[::2])

    assert length(0.5) == pytest.approx(length(0.25) * 2)


def test_a_one_sided_bound_is_drawn_from_the_value_to_its_one_end():
    def strokes(row: Row) -> int:
        return forest([row], "T").count("stroke-width: 1.4")

    assert strokes(Row("a", 0.5, unit="share")) == 0
    assert strokes(Row("a", 0.5, 0.3, unit="share")) == 2  # a line and one end
    assert strokes(Row("a", 0.5, None, 0.7, unit="share")) == 2
    assert strokes(Row("a", 0.5, 0.3, 0.7, unit="share")) == 3


def test_hostile_labels_are_text():
    svg = bars([Row(HOSTILE, 0.5, source="$x^2$", unit="share")], HOSTILE)
    assert "<script" not in svg
    assert "\u202e" not in svg


def test_a_matrix_shows_every_count_and_both_axes():
    assert {"50", "3", "4", "120", "gold", "judge"} <= set(shown(FIGURES["confusion"]))
    assert description(FIGURES["confusion"]) == "task: task 50, agent 3; agent: task 4, agent 120."


def test_labels_that_only_differ_beyond_the_cut_are_cut_where_they_are_alike():
    labels = [f"a_rather_long_label_name_number_{number}_of_them" for number in range(3)]
    svg = shown(confusion([[1, 2, 3]] * 3, labels, "Confusion"))
    assert {f"…{number}_of_them" for number in range(3)} <= set(svg)
    runs = [
        Row(
            f"a-run-with-the-very-long-name-that-people-who-are-in-a-great-hurry-like-to-give-number-{n}",
            0.5,
            unit="share",
        )
        for n in range(2)
    ]
    assert {"…0", "…1"} <= set(shown(forest(runs, "Runs")))


def test_panels_have_their_whole_titles_in_as_many_lines_as_these_take():
    titles = [f"A public set of runs with a rather long name: {which}" for which in ("agents alone", "with people")]
    rows = [Row("Loops", 0.5, n=1234, unit="share", group=title) for title in titles]
    drawn = shown(small_multiples(rows, "Panels"))
    assert titles[0] not in drawn
    assert all(title in " ".join(drawn) for title in titles)
    assert "n 1,234" in drawn


@given(st.lists(st.text("ab _-", min_size=0, max_size=60), unique_by=one_line, max_size=12), st.integers(1, 200))
def test_no_two_different_labels_are_ever_drawn_alike(labels, width):
    assert len(set(fitted_apart(labels, width, 11))) == len(labels)


def test_a_mark_at_the_end_of_the_scale_is_drawn_whole():
    svg = forest([Row("none", 0.0, 0.0, 0.4, unit="share"), Row("all", 1.0, 0.6, 1.0, unit="share")], "Ends")
    places = [float(x) for x in re.findall(r'<use [^>]*x="([^"]+)"', svg)]
    assert len(places) == 2
    assert all(4 <= x <= WIDTH - 4 for x in places)


def test_rows_of_groups_and_quantities_are_crossed_with_the_figures_that_their_table_shows():
    shares = [
        Row("loops", 1.0, unit="share", group="loops"),
        Row("edits", 0.287, 0.257, 0.32, 783, unit="share", group="loops"),
        Row("loops", 0.647, unit="share", group="edits"),
    ]
    drawn = crossed(shares, "Together", row_axis="of runs with", column_axis="share that show")
    assert {"loops", "edits", "100.0%", "28.7%", "64.7%", "—", "of runs with", "share that show"} <= set(shown(drawn))
    assert "loops, edits: 28.7%, real, interval 25.7–32.0%, n 783" in drawn


def test_a_drawing_as_a_file_needs_no_page_for_its_colours():
    drawn = standalone(bars(by_set().rows, "Shares"))
    assert "var(" not in drawn
    assert "currentColor" not in drawn
    assert drawn.startswith('<svg xmlns="http://www.w3.org/2000/svg"')


def test_a_drawing_in_pixels_has_the_colours_of_a_light_page_and_the_same_bytes_again():
    drawn = forest([Row("Loops", 0.5, 0.4, 0.6, unit="share")], "Shares")
    pixels = imread(io.BytesIO(drawn.png()))
    colors = {to_hex(color) for color in pixels.reshape(-1, pixels.shape[-1])}
    assert pixels.shape[1] == 3 * WIDTH
    assert {"#fcfcfa", "#177f69", "#1d2126"} <= colors
    assert not [color for color in colors if color.startswith("#05050")]
    assert drawn.png() == drawn.png()

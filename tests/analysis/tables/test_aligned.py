"""Columns of text: as wide as their widest cell on a terminal, words to the left, figures to the right."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from misstep.analysis.tables.aligned import aligned, cut


def test_words_begin_at_the_left_and_figures_end_at_the_right() -> None:
    assert aligned([("name", "count"), ("pears", "7"), ("figs", "12,000")]) == [
        "name    count",
        "pears       7",
        "figs   12,000",
    ]


def test_signs_that_take_two_places_on_a_terminal_are_counted_as_two() -> None:
    assert aligned([("梨", "1"), ("pears", "2")]) == ["梨     1", "pears  2"]


@given(st.text(max_size=30), st.integers(2, 20))
def test_what_is_cut_fits_and_ends_with_an_ellipsis(text: str, width: int) -> None:
    shown = cut(text, width)
    assert cell_len(shown) <= max(width, 2)
    assert shown == text or shown.endswith("…")

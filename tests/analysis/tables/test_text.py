"""A table on a terminal: aligned, complete, no control codes."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from misstep_analysis.pages import table_text
from misstep_analysis.tables import Row, Table
from misstep_analysis.tables.text import aligned, cut
from tests.analysis.pages.made_up import HOSTILE, by_set, compared, of_many_sources


def test_published_and_recomputed_stand_in_one_line():
    lines = table_text(compared()).splitlines()
    (loops,) = [line for line in lines if line.startswith("Loops")]
    assert loops.split() == ["Loops", "20%", "table", "1,", "row", "1", "20.0%", "[11.2–33.0%]", "50", "reproduced"]


def test_nothing_in_a_label_reaches_the_terminal_as_a_code():
    text = table_text(Table("t", "p", HOSTILE, HOSTILE, (Row(HOSTILE, 1, reason=HOSTILE),), (HOSTILE,)))
    assert not {"\x1b", "\u202e"} & set(text)


def test_the_kind_of_evidence_is_always_said():
    assert table_text(by_set()).startswith("By set (real)\n")
    assert "published  recomputed table 1" in table_text(compared())
    assert "0.1 published" in table_text(of_many_sources())


def test_a_source_that_all_figures_share_stands_behind_the_title():
    rows = tuple(Row(name, 1, source="plants", group=group) for group in "ab" for name in ("left", "right"))
    text = table_text(Table("t", "p", "Labels", "They differ.", rows))
    assert text.startswith("Labels (real, plants)\n")
    assert text.count("plants") == 1


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

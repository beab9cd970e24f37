"""What counts as a number of a text, and where a place of it begins and ends."""

import pytest

from tests.analysis.paper_texts import LEFT_OUT, cut, numbers, stands_in


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("8% of 1,204 runs, 3.50 each", {"8", "1,204", "3.50"}),
        ("a precision of .75", {".75"}),
        ("Two raters, a hundred items", {"two", "hundred"}),
        ("the names R2D2, x_1 and v2.4 hold none", set()),
        ("see [3, 5], Table IV, Section 4.2, §6.1, Tables 3 and 4 and (Nobody, 2021b)", set()),
    ],
)
def test_numbers_stand_in_digits_or_words_and_references_are_none(text: str, result: set[str]) -> None:
    assert numbers(text) == result


@pytest.mark.parametrize(
    ("printed", "text", "stands"),
    [
        ("5.2", "rose to 5.2.", True),
        ("5.2", "rose to 5.21", False),
        ("5.2", "rose to 15.2", False),
        ("234", "of 1,234 runs", False),
        ("ten", "often", False),
        ("12%", "of 12%, as", True),
    ],
)
def test_a_figure_is_no_part_of_a_longer_one(printed: str, text: str, stands: bool) -> None:
    assert stands_in(printed, text) is stands


def test_a_place_goes_from_behind_its_opening_to_the_next_and_may_come_back() -> None:
    text = "1 First one. Table 1 two. More three. References four."
    places = (("Section 1", "1 First"), ("Table 1", "Table 1"), ("Section 1", "More"), (LEFT_OUT, "References"))
    assert cut(text, places) == {"Section 1": " one.   three.  ", "Table 1": " two.  "}


def test_an_opening_that_is_not_there_is_named() -> None:
    with pytest.raises(AssertionError, match="Table 2 does not open with"):
        cut("Table 1", (("Table 1", "Table 1"), ("Table 2", "Table 2")))

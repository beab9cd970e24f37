"""Sums, differences, changes and copies: which repairs are suggested, and when none is."""

from fractions import Fraction

import pytest

from misstep_analysis.audit.checks import (
    check_difference,
    check_relative_change,
    check_same,
    check_share_of,
)
from misstep_analysis.audit.rounding_boxes import Box, input_box
from misstep_analysis.published import Figure
from misstep_analysis.tables import Unit


def figure(printed: str, unit: Unit = "count", **more: object) -> Figure:
    return Figure("a", "Table 1", "A", "B", printed, unit, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("printed", "suggestion"),
    [
        ("-3.2pp", "with the opposite sign it would fit"),
        ("10.7pp", "it is the relative change, not the difference"),
        ("9.9pp", ""),
    ],
)
def test_a_difference_that_does_not_fit_is_looked_at_from_the_other_side(printed: str, suggestion: str) -> None:
    result = check_difference(figure(printed, "difference"), figure("33.0%", "share"), figure("29.8%", "share"))
    assert (result.status, result.suggestion) == ("differs", suggestion)


def test_a_negative_difference_is_reproduced_however_it_is_written() -> None:
    for printed in ("-3.2pp", "\N{MINUS SIGN}3.2pp", "-3.2 pp"):
        result = check_difference(figure(printed, "difference"), figure("29.8%", "share"), figure("33.0%", "share"))
        assert result.status == "reproduced"


@pytest.mark.parametrize(
    ("printed", "suggestion"),
    [
        ("-10.7%", "with the opposite sign it would fit"),
        ("+3.2%", "it is the difference in points, not the relative change"),
        ("+9.7%", "it is the change as a share of the second figure, not of the first"),
        ("+55.5%", ""),
    ],
)
def test_a_relative_change_that_does_not_fit_is_looked_at_from_the_other_side(printed: str, suggestion: str) -> None:
    result = check_relative_change(figure(printed, "share"), figure("29.8%", "share"), figure("33.0%", "share"))
    assert (result.status, result.suggestion) == ("differs", suggestion)


@pytest.mark.parametrize(
    ("printed", "value", "sentence"),
    [
        ("three", "3", "Three here is not 4, printed for the same in Table 1."),
        ("pass@3", "3", "pass@3 here is not 4, printed for the same in Table 1."),
    ],
)
def test_a_sentence_opens_with_a_capital_unless_with_a_name(printed: str, value: str, sentence: str) -> None:
    assert check_same(figure(printed, value=value), figure("4")).sentence == sentence
    change = check_relative_change(figure("+329%", "share"), figure("28"), figure("120"))
    assert change.sentence == "The change from 28 to 120 is 328.6%, printed as +329%."


@pytest.mark.parametrize("printed", ["0", "0%"])
def test_nothing_is_divided_by_zero(printed: str) -> None:
    unit: Unit = "share" if printed.endswith("%") else "count"
    assert check_share_of(figure("3", "number"), figure("3"), figure(printed, unit)).status == "underdetermined"
    change = check_relative_change(figure("+3%", "share"), figure(printed, unit), figure("3"))
    assert change.status == "underdetermined"


@pytest.mark.parametrize(
    ("printed", "value", "low", "high"),
    [
        ("42.8k", "42800", 42_750, 42_850),
        ("1.5B", "1500000000", 1_450_000_000, 1_550_000_000),
        ("3K", "3000", 2_500, 3_500),
    ],
)
def test_a_letter_for_thousands_leaves_open_what_it_does_not_print(printed, value, low, high) -> None:
    box = input_box(figure(printed, value=value))
    assert box == Box(Fraction(low), Fraction(high))

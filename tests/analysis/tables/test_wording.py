"""Figures are written the same everywhere, and rounding never turns something into nothing or into all."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.tables import Row
from misstep_analysis.tables.wording import interval_text, number_text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.1234, "share", "12.3%"),
        (0, "share", "0.0%"),
        (1, "share", "100.0%"),
        (0.0002, "share", "0.02%"),
        (0.9998, "share", "99.98%"),
        (0.999999, "share", ">99.99%"),
        (0.00042, "share", "0.042%"),
        (4.3e-19, "share", "<0.01%"),
        (-0.05, "difference", "−5.0 pp"),
        (0.05, "difference", "+5.0 pp"),
        (0.7, "coefficient", "0.700"),
        (-0.1234, "coefficient", "−0.123"),
        (0.04321, "p", "0.0432"),
        (0.00123, "p", "0.00123"),
        (0.5, "p", "0.500"),
        (0.00009, "p", "<0.0001"),
        (42807, "count", "42,807"),
        (2.5, "count", "2.5"),
        (1234.5, "usd", "$1,234.50"),
        (0.0042, "usd", "$0.0042"),
        (-3, "usd", "−$3.00"),
        (12.345, "seconds", "12.3 s"),
        (1234.5, "seconds", "1,234 s"),
        (3.14159, "number", "3.142"),
        (123456.7, "number", "123,457"),
        ("as printed", "number", "as printed"),
        (math.inf, "number", "∞"),
    ],
)
def test_each_unit_has_one_way_to_write_it(value, unit, text):
    assert number_text(value, unit) == text


@given(st.floats(min_value=0, max_value=1))
def test_only_nothing_is_0_percent_and_only_all_is_100_percent(share):
    content = number_text(share, "share")
    assert (content == "0.0%") == (share == 0)
    assert (content == "100.0%") == (share == 1)


@pytest.mark.parametrize(
    ("low", "high", "unit", "text"),
    [
        (0.098, 0.152, "share", "9.8–15.2%"),
        (0.1, 0.9, "coefficient", "0.100–0.900"),
        (-0.1, 0.2, "coefficient", "−0.100 to 0.200"),
        (-0.02, 0.08, "difference", "−2.0 to +8.0 pp"),
        (None, 0.03, "share", "at most 3.0%"),
        (0.97, None, "share", "at least 97.0%"),
        (None, None, "share", ""),
    ],
)
def test_an_interval_names_its_unit_once(low, high, unit, text):
    assert interval_text(Row("a", 0.1, low, high, unit=unit)) == text


def test_a_figure_can_be_asked_for_with_the_digits_of_another_but_never_with_fewer_than_suit_it():
    assert number_text(0.05214, "share", 2) == "5.21%"
    assert number_text(0.05214, "share", 0) == "5.2%"
    assert number_text(-0.12345, "coefficient", 4) == "−0.1235"
    assert number_text(1234, "count", 2) == "1,234"

"""Kappa against its limits: no sound table is accused, and a kappa that the agreements exclude is found."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from misstep_analysis.audit.kappa import Raters, check_kappa, rows_by_label
from misstep_analysis.audit.rounding_boxes import Checked
from misstep_analysis.published import Figure
from misstep_analysis.stats.printed.audit import kappa_of
from misstep_analysis.tables import Unit
from tests.analysis.audit.printing import SOUND_RULES, rounded

Cells = tuple[tuple[int, ...], ...]


def figure(printed: str, unit: Unit = "coefficient", **more: object) -> Figure:
    return Figure(id="k", place="Table 3", row="Apples", column="kappa", printed=printed, unit=unit, **more)  # type: ignore[arg-type]


def counts(numbers: tuple[int, ...]) -> tuple[Figure, ...]:
    return tuple(figure(str(number), "count") for number in numbers)


def checked(kappa: str, n: str, agreement: str, labels: int | None = None, margins: tuple[int, ...] = ()) -> Checked:
    agreed = figure(agreement, "share" if agreement.endswith("%") else "count")
    how_many = None if labels is None else figure(str(labels), "count")
    raters = Raters(figure(n, "count"), agreed, how_many, counts(margins))
    return check_kappa(figure(kappa), raters, [])


@st.composite
def matrices(draw: st.DrawFn, largest: int = 60) -> Cells:
    """Two raters of up to so many items on two to four labels, with fewer or more agreements than by chance."""
    labels = draw(st.integers(2, 4))
    n = draw(st.integers(2, largest))
    agree = draw(st.integers(0, n))
    cells = [[0] * labels for _ in range(labels)]
    places = st.integers(0, labels - 1)
    for item in range(n):
        first = draw(places)
        second = first if item < agree else (first + draw(st.integers(1, labels - 1))) % labels
        cells[first][second] += 1
    return tuple(tuple(row) for row in cells)


def known(cells: Cells) -> tuple[int, int, Fraction]:
    """Items, agreements and kappa of a matrix."""
    n, agree = sum(map(sum, cells)), sum(row[place] for place, row in enumerate(cells))
    product = sum(sum(row) * sum(column) for row, column in zip(cells, zip(*cells, strict=True), strict=True))
    assume(product < n * n)
    return n, agree, kappa_of(n, agree, product)


@settings(deadline=None)
@given(
    cells=matrices(),
    digits=st.integers(2, 4),
    rule=st.sampled_from(SOUND_RULES),
    percent=st.integers(0, 2),
    given_labels=st.booleans(),
    with_margins=st.booleans(),
)
def test_a_kappa_that_a_matrix_has_is_never_called_wrong(cells, digits, rule, percent, given_labels, with_margins):
    n, agree, kappa = known(cells)
    share = f"{rounded(Fraction(100 * agree, n), percent, rule)}%"
    margins = tuple(map(sum, cells)) if with_margins else ()
    result = checked(rounded(kappa, digits, rule), str(n), share, len(cells) if given_labels else None, margins)
    assert result.status in ("underdetermined", "reproduced")


@settings(deadline=None)
@given(cells=matrices(), digits=st.integers(2, 4), off=st.integers(1, 9))
def test_a_kappa_greater_than_the_agreement_is_never_let_through(cells: Cells, digits: int, off: int) -> None:
    n, agree, _ = known(cells)
    assume(agree < n)
    above = Fraction(agree, n) + Fraction(off, 10) * (1 - Fraction(agree, n)) + Fraction(1, 10**digits)
    assert checked(rounded(above, digits, "half_up"), str(n), str(agree)).status == "impossible"


def test_a_kappa_is_open_where_one_matrix_prints_it_and_others_do_not() -> None:
    result = checked("0.64", "31", "74.2%", 4)
    assert result.status == "underdetermined"
    assert result.sentence.startswith("23 of 31 agree, which leaves a kappa from −0.148 to 0.670: how often")
    assert "not printed" in result.sentence


@pytest.mark.parametrize(
    ("kappa", "n", "agreement", "labels", "sentence"),
    [
        ("0.640", "31", "74.2%", 2, "23 of 31 agree; on 2 labels kappa is then from −0.1481 to 0.5156, not 0.640."),
        (
            *("0.833", "31", "88.9%", 4),
            "No whole count of 31 prints as 88.9% agreement: 27 / 31 is 87.10% and 28 / 31 is 90.32%.",
        ),
    ],
)
def test_an_impossible_kappa_says_why(kappa: str, n: str, agreement: str, labels: int, sentence: str) -> None:
    result = checked(kappa, n, agreement, labels)
    assert (result.status, result.sentence) == ("impossible", sentence)


@pytest.mark.parametrize(
    ("kappa", "n", "agreement", "labels", "margins", "status"),
    [
        ("0.640", "31", "74.2%", 4, (), "underdetermined"),
        ("1.00", "20", "100%", None, (), "reproduced"),
        ("0.98", "20", "100%", None, (), "impossible"),
        ("0.71", "10,000", "81%", 3, (), "underdetermined"),
        ("0.79", "10,000", "81%", 3, (), "impossible"),
    ],
)
def test_a_kappa_is_possible_if_some_matrix_prints_it(kappa, n, agreement, labels, margins, status) -> None:
    assert checked(kappa, n, agreement, labels, margins).status == status


def test_counts_of_the_labels_have_to_add_up_to_the_items() -> None:
    assert checked("0.640", "31", "74.2%", 4, (9, 4, 12, 5)).sentence == (
        "The counts of the labels add up to 30, not to 31."
    )


def test_without_the_number_of_items_the_agreement_still_sets_limits() -> None:
    agreed, four = figure("88.9%", "share"), figure("4", "count")
    assert check_kappa(figure("0.833"), Raters(None, agreed, four), []).status == "underdetermined"
    above = check_kappa(figure("0.88"), Raters(None, agreed, four), [])
    assert above.status == "impossible"
    assert above.sentence == "88.9% agreement on 4 labels leaves a kappa from −0.059 to 0.854, and 0.88 is outside."
    assert check_kappa(figure("0.88"), Raters(None, agreed), []).status == "underdetermined"
    assert check_kappa(figure("0.90"), Raters(None, agreed), []).sentence == (
        "Kappa is never greater than the raw agreement, and 0.90 is more than 88.9%."
    )


def test_a_kappa_given_as_a_limit_needs_only_keep_it() -> None:
    agreed, n = figure("45", "count"), figure("60", "count")
    two = figure("2", "count")
    kept = check_kappa(figure("above 0.4", value="0.4", bound="above"), Raters(n, agreed, two), [])
    broken = check_kappa(figure("above 0.6", value="0.6", bound="above"), Raters(n, agreed, two), [])
    assert (kept.status, broken.status) == ("underdetermined", "impossible")


def test_nothing_is_said_of_a_kappa_whose_agreement_is_in_words() -> None:
    in_words = Raters(figure("60", "count"), figure("most", "text"))
    assert check_kappa(figure("0.5"), in_words, []).status == "underdetermined"


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        (("Agent Err.", "Harness"), ("Succ.", "Agent", "Task", "Harn."), {0: 1, 1: 3}),
        (("yes", "no"), ("no", "yes", "not known"), {0: 1, 1: 0}),
        (("A", "B"), ("x", "y", "z"), {}),
        (("App",), ("Apple", "Apple pie"), {}),
    ],
)
def test_a_row_belongs_to_the_column_of_its_name(rows, columns, expected) -> None:
    assert rows_by_label(rows, columns) == expected

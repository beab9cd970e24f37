"""Kappa against every matrix: no sound table is accused, and a kappa that no matrix prints is found."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from benchmarks.audit.generated_tables import SOUND_RULES, rounded
from misstep.analysis.audit.checked import Checked
from misstep.analysis.audit.checks import check_figure
from misstep.analysis.audit.kappa import Raters, check_kappa
from misstep.analysis.audit.kappa_rows import rows_by_label
from misstep.analysis.published import Derivation, Figure, Paper, PrintedMatrix
from misstep.analysis.stats.printed.kappa_tables import kappa_of
from misstep.analysis.tables import Unit

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
    assert "gave up" not in result.sentence


@settings(deadline=None)
@given(cells=matrices(), digits=st.integers(2, 4), off=st.integers(1, 9))
def test_a_kappa_greater_than_the_agreement_is_never_let_through(cells: Cells, digits: int, off: int) -> None:
    n, agree, _ = known(cells)
    assume(agree < n)
    above = Fraction(agree, n) + Fraction(off, 10) * (1 - Fraction(agree, n)) + Fraction(1, 10**digits)
    assert checked(rounded(above, digits, "half_up"), str(n), str(agree)).status == "impossible"


@pytest.mark.parametrize("labels", [2, 3, 4])
def test_a_wrong_kappa_is_found_where_no_matrix_prints_it(labels: int) -> None:
    """Of ten items with eight agreements on two labels only a few kappas are left, and all others are found."""
    printed = [f"{step / 100:.2f}" for step in range(-20, 100)]
    possible = [kappa for kappa in printed if checked(kappa, "10", "8", labels).status != "impossible"]
    exact = {rounded(value, 2, rule) for value in _kappas(10, 8, labels) for rule in SOUND_RULES}
    assert set(possible) == exact & set(printed)
    assert len(possible) < len(printed) / 2


def _kappas(n: int, agree: int, labels: int) -> set[Fraction]:
    """All kappas, by trying all margins that can go with the agreements."""
    results = set()
    for rows in _compositions(n, labels):
        for columns in _compositions(n, labels):
            kept = sum(map(min, rows, columns))
            forced = sum(max(0, -((n - agree - row - column) // 2)) for row, column in zip(rows, columns, strict=True))
            if forced <= agree <= kept:
                results.add(kappa_of(n, agree, sum(row * column for row, column in zip(rows, columns, strict=True))))
    return results


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in _compositions(total - first, parts - 1)]


def test_a_kappa_is_open_where_one_matrix_prints_it_and_others_do_not() -> None:
    result = checked("0.64", "31", "74.2%", 4)
    assert result.status == "underdetermined"
    assert result.sentence.startswith(
        "23 of 31 agree, which leaves a kappa from −0.148 to 0.670; with 4 labels the matrix"
    )
    assert "not printed" in result.sentence


@pytest.mark.parametrize(
    ("kappa", "n", "agreement", "labels", "sentence"),
    [
        ("0.640", "31", "74.2%", 2, "23 of 31 agree; on 2 labels kappa is then from −0.1481 to 0.5156, not 0.640."),
        (
            *("0.5123", "20", "90.0%", 3),
            "18 of 20 agree; no matrix of whole counts on 3 labels has a kappa that prints as 0.5123.",
        ),
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
        ("0.640", "31", "74.2%", 4, (29, 1, 1, 0), "impossible"),  # one rater's labels leave fewer kappas
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


def with_rows(
    kappa: str,
    n: str,
    agreement: str,
    rows: dict[str, tuple[int, ...]],
    columns: tuple[str, ...],
    place: str = "Table 3",
    other_items: str = "",
) -> Checked:
    """A kappa beside some rows of its matrix; `place` is where its number of items stands."""
    cells = {f"{row}.{at}": figure(str(cell), "count") for row, each in rows.items() for at, cell in enumerate(each)}
    named = {id_: structs.replace(cell, id=id_) for id_, cell in cells.items()}
    ids = tuple(tuple(f"{row}.{at}" for at in range(len(each))) for row, each in rows.items())
    others = {"n": structs.replace(figure(n, "count"), place=place), "agreement": figure(agreement, "share")}
    figures = [structs.replace(one, id=id_) for id_, one in (others | named).items()]
    matrix = PrintedMatrix("m", "Table 3", tuple(rows), columns, ids, other_items=other_items)
    paper = Paper("made-up", "", "", (figure(kappa), *figures), (matrix,))
    return check_figure(paper, figure(kappa), Derivation("kappa", {"n": "n", "agreement": "agreement", "matrix": "m"}))


COLUMNS = ("Ripe", "Unripe", "Rotten")


def test_printed_rows_of_a_matrix_narrow_what_kappa_can_be() -> None:
    two = {"Unripe": (1, 4, 3), "Rotten": (0, 2, 5)}
    assert with_rows("0.47", "20", "65.0%", two, COLUMNS).sentence == (
        "13 of 20 agree, and 9 of the 15 in the printed rows; kappa is from 0.468 to 0.470, printed as 0.47, "
        "whatever the other rows are."
    )
    result = with_rows("0.47", "20", "65.0%", {"Rotten": (0, 2, 5)}, COLUMNS)
    assert result.status == "underdetermined"
    assert result.sentence.startswith(
        "13 of 20 agree, and 5 of the 7 in the printed rows; the other items leave a kappa from"
    )
    assert result.low < 0.468 < result.high


def test_a_kappa_that_no_other_rows_give_is_impossible_and_may_be_of_other_items() -> None:
    result = with_rows("0.20", "20", "65.0%", {"Unripe": (1, 4, 3), "Rotten": (0, 2, 5)}, COLUMNS)
    assert result.status == "impossible"
    assert "the other 5 items leave a kappa from" in result.sentence
    assert result.suggestion == "the printed rows are of other items than the kappa: without them it would fit"
    assert result.repair == "other_items"
    too_many = with_rows("0.20", "10", "60%", {"Unripe": (1, 4, 3), "Rotten": (0, 2, 5)}, COLUMNS)
    assert too_many.sentence == "The printed rows hold 15 items, more than all 10."
    no_others = with_rows("0.20", "20", "25%", {"Unripe": (1, 4, 3), "Rotten": (0, 2, 5)}, COLUMNS)
    assert no_others.sentence.endswith("no other rows go with that.")
    no_count = with_rows("0.20", "20", "26%", {"Unripe": (1, 4, 3)}, COLUMNS)
    assert no_count.sentence == "No whole count of 20 prints as 26% agreement."


TWO_ROWS = {"Unripe": (1, 4, 3), "Rotten": (0, 2, 5)}
INFERRED = "worked out: the least number of which the shares are whole counts"
SIZES = "Table 3 says that its sizes differ"


@pytest.mark.parametrize(
    ("place", "other_items", "status"), [(INFERRED, SIZES, "underdetermined"), ("Table 2", SIZES, "impossible")]
)
def test_rows_contradict_no_inferred_number_where_the_paper_says_that_they_may_be_of_other_items(
    place: str, other_items: str, status: str
) -> None:
    result = with_rows("0.20", "20", "65.0%", TWO_ROWS, COLUMNS, place, other_items)
    assert result.status == status
    would = "would contradict the kappa if the printed rows were of the same 20 items"
    assert (would in result.sentence, SIZES in result.sentence) == (status == "underdetermined",) * 2


def test_more_rows_than_an_inferred_number_contradict_it_no_more_than_a_kappa_does() -> None:
    assert with_rows("0.20", "10", "60%", TWO_ROWS, COLUMNS, INFERRED, SIZES).status == "underdetermined"
    assert with_rows("0.20", "10", "60%", TWO_ROWS, COLUMNS, INFERRED).status == "underdetermined"


def test_a_kappa_that_would_not_fit_without_the_rows_either_is_impossible_only_of_a_printed_number() -> None:
    assert with_rows("0.99", "20", "65.0%", TWO_ROWS, COLUMNS, "Table 2", SIZES).status == "impossible"
    inferred = with_rows("0.99", "20", "65.0%", TWO_ROWS, COLUMNS, INFERRED, SIZES)
    assert inferred.status == "underdetermined"
    assert inferred.sentence.endswith("This contradicts nothing that is printed: 20 is not.")


@settings(deadline=None)
@given(cells=matrices(25), digits=st.integers(2, 4), rule=st.sampled_from(SOUND_RULES), shown=st.integers(1, 3))
def test_a_kappa_beside_rows_of_its_own_matrix_is_never_called_wrong(cells, digits, rule, shown) -> None:
    n, agree, kappa = known(cells)
    names = tuple(f"label {place}" for place in range(len(cells)))
    rows = dict(list(zip(names, cells, strict=True))[:shown])
    share = f"{rounded(Fraction(100 * agree, n), 1, rule)}%"
    result = with_rows(rounded(kappa, digits, rule), str(n), share, rows, names)
    assert result.status in ("reproduced", "underdetermined"), result.sentence


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

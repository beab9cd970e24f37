"""Working printed figures out again: sound figures raise no alarm, planted errors are found, reasons are arithmetic."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import structs

from misstep_analysis.audit.checks import check_all, check_figure
from misstep_analysis.audit.rounding_boxes import Checked
from misstep_analysis.published import Check, Derivation, Figure, Paper, PrintedMatrix
from misstep_analysis.stats.printed.two_proportions import pooled_z
from misstep_analysis.tables import Unit

RULES = st.sampled_from([ROUND_HALF_UP, ROUND_HALF_EVEN])
DIGITS = st.integers(0, 3)
COUNTS = st.integers(1, 2_000)
VALUES = st.fractions(min_value=Fraction(1, 2), max_value=500, max_denominator=1_000)


def rounded(value: Fraction, digits: int, rule: str = ROUND_HALF_UP) -> str:
    """A value as a paper prints it."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return str(exact.quantize(Decimal(1).scaleb(-digits), rule))


def percent(value: Fraction, digits: int, rule: str = ROUND_HALF_UP) -> str:
    return f"{rounded(100 * value, digits, rule)}%"


def figure(id: str, printed: str, unit: Unit = "count", *, column: str = "B", **more: object) -> Figure:  # noqa: A002
    return Figure(id=id, place=f"Table {id}", row="A", column=column, printed=printed, unit=unit, **more)  # type: ignore[arg-type]


def checked(check: Check, printed: Figure, inputs: dict[str, Figure | list[Figure]]) -> Checked:
    """A figure checked from inputs that are given, not named."""
    others = [one for value in inputs.values() for one in (value if isinstance(value, list) else [value])]
    named = {
        key: tuple(one.id for one in value) if isinstance(value, list) else value.id for key, value in inputs.items()
    }
    paper = Paper("made-up", "A made-up paper", "Nobody", (printed, *others))
    return check_figure(paper, printed, Derivation(check, named))


def counts(**numbers: int) -> dict[str, Figure | list[Figure]]:
    return {name: figure(name, f"{number:,}") for name, number in numbers.items()}


@given(count=COUNTS, others=COUNTS, digits=DIGITS, rule=RULES)
def test_a_percentage_of_its_count_is_reproduced_and_two_digits_off_it_is_not(count, others, digits, rule) -> None:
    inputs = counts(count=count, n=count + others)
    share = Fraction(count, count + others)
    assert checked("percentage", figure("p", percent(share, digits, rule), "share"), inputs).status == "reproduced"
    wrong = percent(share + Fraction(2, 100 * 10**digits), digits, rule)
    assert checked("percentage", figure("p", wrong, "share"), inputs).status in ("differs", "impossible")


@given(count=COUNTS, others=COUNTS, repeats=st.integers(1, 5), digits=DIGITS, rule=RULES)
def test_a_percentage_without_its_count_is_never_called_wrong_where_a_count_gives_it(
    count: int, others: int, repeats: int, digits: int, rule: str
) -> None:
    n = count + others
    printed = percent(Fraction(count, n * repeats), digits, rule)
    result = checked("percentage", figure("p", printed, "share"), counts(n=n, repeats=repeats))
    assert result.status in ("reproduced", "underdetermined")


@pytest.mark.parametrize(
    ("printed", "n", "status", "suggestion"),
    [
        ("28.5%", 123, "reproduced", ""),
        ("49.0%", 123, "impossible", ""),
        ("76%", 226, "underdetermined", ""),
        ("120%", 226, "impossible", ""),
    ],
)
def test_a_percentage_alone_is_checked_only_where_not_every_percentage_can_come(printed, n, status, suggestion) -> None:
    result = checked("percentage", figure("p", printed, "share"), counts(n=n))
    assert (result.status, result.suggestion) == (status, suggestion)


def test_a_percentage_of_another_count_differs_and_one_that_no_count_prints_is_impossible() -> None:
    of_ten = counts(count=3, n=10)
    assert checked("percentage", figure("p", "40%", "share"), of_ten).status == "differs"
    result = checked("percentage", figure("p", "31%", "share"), of_ten)
    assert result.status == "impossible"
    assert result.sentence == "3 / 10 is 30%, not 31%, and no whole count of 10 prints so."


@given(parts=st.lists(VALUES, min_size=1, max_size=6), digits=DIGITS, rule=RULES)
def test_a_sum_of_rounded_parts_is_reproduced_whatever_their_rounding_adds_up_to(parts, digits, rule) -> None:
    inputs = [figure(f"x{place}", rounded(part, digits, rule), "number") for place, part in enumerate(parts)]
    total = figure("total", rounded(sum(parts, Fraction(0)), digits, rule), "number")
    assert checked("sum", total, {"parts": inputs}).status == "reproduced"


@given(parts=st.lists(COUNTS, min_size=2, max_size=6), off=st.sampled_from([-3, -1, 1, 20]))
def test_a_sum_of_counts_that_is_off_by_any_number_differs(parts: list[int], off: int) -> None:
    inputs = [figure(f"x{place}", str(part)) for place, part in enumerate(parts)]
    assert checked("sum", figure("total", f"{sum(parts):,}"), {"parts": inputs}).status == "reproduced"
    assert checked("sum", figure("total", str(sum(parts) + off)), {"parts": inputs}).status == "differs"


@given(first=VALUES, second=VALUES, digits=DIGITS, rule=RULES)
def test_figures_of_two_rounded_inputs_are_reproduced(first, second, digits, rule) -> None:
    a, b = figure("a", rounded(first, digits + 1, rule), "number"), figure("b", rounded(second, digits, rule), "number")
    difference = figure("d", rounded(first - second, digits, rule), "number")
    quotient = figure("q", rounded(first / second, digits, rule), "number")
    change = figure("c", percent((second - first) / first, digits, rule), "share")
    allowed = ("reproduced", "underdetermined") if digits == 0 else ("reproduced",)
    assert checked("difference", difference, {"a": a, "b": b}).status == "reproduced"
    assert checked("share_of", quotient, {"part": a, "whole": b}).status in allowed
    assert checked("relative_change", change, {"from": a, "to": b}).status in allowed


@given(a=COUNTS, b=COUNTS, digits=DIGITS)
def test_figures_of_two_counts_that_are_two_digits_off_differ(a: int, b: int, digits: int) -> None:
    off = Fraction(2, 10**digits)
    quotient = figure("q", rounded(Fraction(a, b) + off, digits), "number")
    change = figure("c", percent(Fraction(b - a, a) + off / 100, digits), "share")
    one, other = figure("a", str(a)), figure("b", str(b))
    assert checked("share_of", quotient, {"part": one, "whole": other}).status == "differs"
    assert checked("relative_change", change, {"from": one, "to": other}).status == "differs"
    assert checked("difference", figure("d", str(a - b + 1)), {"a": one, "b": other}).status == "differs"


def test_a_difference_of_rounded_shares_says_what_their_rounding_leaves_open() -> None:
    shares = {"a": figure("a", "53%", "share"), "b": figure("b", "30%", "share")}
    result = checked("difference", figure("d", "24pp", "difference"), shares)
    assert result.status == "reproduced"
    assert result.sentence == (
        "53% less 30% is 23 points (from 22 points to 24 points by the rounding of the inputs), "
        "which the rounding of the inputs lets print as 24pp."
    )
    assert checked("difference", figure("d", "25pp", "difference"), shares).status == "differs"


@given(value=VALUES, first=DIGITS, second=DIGITS, rule=RULES)
def test_one_value_with_more_or_fewer_digits_is_the_same(value: Fraction, first: int, second: int, rule: str) -> None:
    one, other = figure("a", rounded(value, first, rule), "number"), figure("b", rounded(value, second, rule), "number")
    assert checked("same", one, {"other": other}).status == "reproduced"


@pytest.mark.parametrize(
    ("one", "other", "unit", "status", "suggestion"),
    [
        ("226", "229", "count", "differs", ""),
        ("93", "94", "count", "differs", ""),
        ("180", "181", "seconds", "differs", ""),
        ("90%", "90.93%", "share", "differs", "one of the two is cut off, not rounded"),
        ("91%", "90.93%", "share", "reproduced", ""),
        ("200+", "213", "count", "reproduced", ""),
        ("200+", "190", "count", "differs", ""),
        ("11+", "13+", "count", "underdetermined", ""),
        ("thousands", "many", "text", "underdetermined", ""),
    ],
)
def test_the_same_quantity_in_two_places(one: str, other: str, unit: Unit, status: str, suggestion: str) -> None:
    result = checked("same", figure("a", one, unit), {"other": figure("b", other, unit)})
    assert (result.status, result.suggestion) == (status, suggestion)


@pytest.mark.parametrize(
    ("field", "here", "there", "status"),
    [
        ("of", "generated fixes", "diffs published", "differs"),
        ("of", "misbehaviors that require one intervention", "conversations with one intervention", "differs"),
        ("of", "patches", "published patches", "differs"),
        ("of", "published diffs", "the diffs published", "reproduced"),
        ("of", "the total number of generated fixes", "generated fixes", "reproduced"),
        ("of", "each published diff", "each of the published diffs", "reproduced"),
        ("of", "generated fixes", "", "reproduced"),
        ("statistic", "med", "average", "differs"),
        ("statistic", "avg.", "the mean", "reproduced"),
        ("statistic", "kappa", "Fleiss' kappa", "reproduced"),
        ("statistic", "Cohen's kappa", "Fleiss' kappa", "differs"),
        ("statistic", "", "median", "reproduced"),
    ],
)
def test_one_number_of_two_unlike_names_differs_and_of_one_name_in_other_words_does_not(field, here, there, status):
    one, other = (figure(name, "25.5%", "share", **{field: of}) for name, of in (("a", here), ("b", there)))
    result = checked("same", one, {"other": other})
    assert result.status == status
    assert status == "reproduced" or " here and " in result.sentence


@pytest.mark.parametrize(
    ("pairs", "status", "text"),
    [
        ("66", "reproduced", "Read as a share of the pairs: 31 / 66 is 46.97%, printed as 47.0%."),
        ("2000", "underdetermined", "Read as a share of the pairs: "),
        ("80", "impossible", "Read as a share of the pairs: No whole count of 80 prints as 47.0%"),
    ],
)
def test_of_several_readings_one_that_fits_is_enough_and_is_named(pairs: str, status: str, text: str) -> None:
    of_pairs = Derivation("percentage", {"n": "pairs"}, reading="a share of the pairs")
    of_runs = {"check": "percentage", "inputs": {"n": "runs"}, "reading": "a share of the runs"}
    share = figure("share", "47.0%", "share", also=(of_pairs,), **of_runs)
    [(_, result)] = check_all(Paper("made-up", "", "", (figure("runs", "80"), figure("pairs", pairs), share)))
    assert result.status == status
    assert text in result.sentence


@pytest.mark.parametrize(
    ("follows", "status"), [({}, "underdetermined"), ({"check": "sum", "inputs": {"parts": ("part",)}}, "impossible")]
)
def test_what_rests_on_a_number_that_nobody_printed_contradicts_nothing(follows, status) -> None:
    n = structs.replace(figure("n", "80", **follows), place="worked out: by us")
    share = figure("share", "47.0%", "share", check="percentage", inputs={"n": "n"})
    result = check_all(Paper("made-up", "", "", (figure("part", "80"), n, share)))
    assert result[-1][1].status == status


def test_about_covers_the_digits_that_carry_no_information_and_an_abbreviation_is_rounded() -> None:
    about = figure("a", "~14,300", approximate=True)
    parts = [figure(f"x{place}", number) for place, number in enumerate(["14,000", "340"])]
    assert checked("sum", about, {"parts": parts}).status == "reproduced"
    assert checked("sum", figure("a", "14,300"), {"parts": parts}).status == "differs"
    tokens = {"part": figure("t", "5.14M", value="5140000"), "whole": figure("r", "270")}
    assert checked("share_of", figure("q", "19,025"), tokens).status == "reproduced"
    assert checked("share_of", figure("q", "19,400"), tokens).status == "differs"


@pytest.mark.parametrize(
    ("check", "printed", "unit", "inputs", "suggestion"),
    [
        ("relative_change", "+330%", "share", {"from": "28", "to": "120"}, "rounded to 10s it would print as +330%"),
    ],
)
def test_a_figure_that_a_small_change_would_print_says_so(check, printed, unit, inputs, suggestion) -> None:
    result = checked(check, figure("q", printed, unit), {name: figure(name, text) for name, text in inputs.items()})
    assert (result.status, result.suggestion[: len(suggestion)]) == ("differs", suggestion)


@given(n=st.integers(1, 90), total=st.integers(0, 400), digits=st.integers(1, 3), rule=RULES)
def test_a_mean_of_whole_answers_is_never_called_impossible(n: int, total: int, digits: int, rule: str) -> None:
    printed = figure("m", rounded(Fraction(total, n), digits, rule), "number")
    assert checked("mean", printed, counts(n=n)).status in ("reproduced", "underdetermined")


@given(tp=COUNTS, fp=COUNTS, fn=COUNTS, tn=COUNTS)
def test_a_figure_of_the_other_class_is_found_as_rows_swapped(tp: int, fp: int, fn: int, tn: int) -> None:
    own, other = Fraction(tp, tp + fp), Fraction(tn, tn + fn)
    assume(abs(own - other) > Fraction(1, 50))
    printed = figure("p", rounded(other, 3), "coefficient", column="Precision")
    result = checked("precision_recall", printed, counts(tp=tp, fp=fp, positives=tp + fn, negatives=fp + tn))
    assert result.status == "differs"
    assert result.suggestion.startswith(("the rows of the two classes are swapped", "the further digits"))


def test_a_p_value_of_shares_needs_the_sizes_of_both_samples() -> None:
    shares: dict[str, Figure | list[Figure]] = {
        "share1": figure("s", "30.0%", "share"),
        "share2": figure("t", "45.0%", "share"),
    }
    printed = figure("p", f"{pooled_z(60, 200, 90, 200).p_value:.4f}", "p")
    assert checked("two_proportion_p", printed, shares).status == "underdetermined"
    assert checked("two_proportion_p", printed, shares | counts(n1=200, n2=200)).status == "reproduced"
    assert checked("two_proportion_p", printed, shares | counts(n1=201, n2=200)).status == "impossible"


@given(cells=st.lists(st.integers(1, 60), min_size=4, max_size=4), digits=st.integers(1, 3), rule=RULES)
def test_kappa_follows_from_its_matrix(cells: list[int], digits: int, rule: str) -> None:
    a, b, c, d = cells
    n = sum(cells)
    chance = Fraction((a + b) * (a + c) + (c + d) * (b + d), n * n)
    kappa = (Fraction(a + d, n) - chance) / (1 - chance)
    printed = figure("k", rounded(kappa, digits, rule), "coefficient")
    wrong = figure("k", rounded(kappa + Fraction(2, 10**digits), digits, rule), "coefficient")
    figures = tuple(figure(f"c{place}", str(cell)) for place, cell in enumerate(cells))
    matrix = PrintedMatrix("m", "Table 2", ("yes", "no"), ("yes", "no"), (("c0", "c1"), ("c2", "c3")))
    paper = Paper("made-up", "A made-up paper", "Nobody", figures, (matrix,))
    way = Derivation("kappa", {"matrix": "m"})
    assert check_figure(paper, printed, way).status == "reproduced"
    assert check_figure(paper, wrong, way).status == "differs"


def test_an_input_in_words_or_given_as_a_limit_leaves_a_figure_open() -> None:
    parts = [figure("a", "12"), figure("b", "over 30", value="30", bound="above")]
    assert checked("sum", figure("t", "42"), {"parts": parts}).status == "underdetermined"
    words = {"a": figure("a", "many", "text"), "b": figure("b", "3")}
    assert checked("difference", figure("d", "7"), words).status == "underdetermined"


def test_a_paper_is_checked_in_every_way_that_it_names_in_its_order() -> None:
    total = figure("t", "5", check="sum", inputs={"parts": ("a", "a")}, also=(Derivation("same", {"other": "a"}),))
    outcome = check_all(Paper("made-up", "A made-up paper", "Nobody", (total, figure("a", "2"))))
    assert [(one.id, result.check, result.status) for one, result in outcome] == [
        ("t", "sum", "differs"),
        ("t", "same", "differs"),
    ]

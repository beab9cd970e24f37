"""Shares and means: fractions and percent alike, runs of every case, steps of any size, and the repairs suggested."""

from fractions import Fraction

import pytest
from msgspec import structs

from misstep_analysis.audit.checks import check_all
from misstep_analysis.audit.rounding_boxes import Checked
from misstep_analysis.audit.shares import check_mean, check_percentage
from misstep_analysis.published import Figure, Paper
from misstep_analysis.stats.printed.audit import counts_that_print, steps_that_print, value_prints_as
from misstep_analysis.tables import Unit


def figure(printed: str, unit: Unit = "count", name: str = "a", **more: object) -> Figure:
    return Figure(name, f"Table {name}", "A", "B", printed, unit, **more)  # type: ignore[arg-type]


def percentage(
    printed: str, n: str, count: str | None = None, unit: Unit = "share", runs: str | None = None
) -> Checked:
    given = [None if text is None else figure(text) for text in (count, n, runs)]
    return check_percentage(figure(printed, unit), *given)


@pytest.mark.parametrize(
    ("printed", "n", "status"),
    [("0.43", "7", "reproduced"), ("0.42", "7", "impossible"), ("0.42", "100", "underdetermined")],
)
def test_a_share_printed_as_a_fraction_is_judged_like_one_in_percent(printed: str, n: str, status: str) -> None:
    assert percentage(printed, n, unit="coefficient").status == status
    assert percentage(f"{100 * Fraction(printed)}%", n).status == status


def test_runs_of_an_approximate_number_of_cases_count_too() -> None:
    about = figure("about 200", value="200", approximate=True)
    result = check_percentage(figure("30%", "share"), figure("300"), about, figure("5"))
    assert result.status == "reproduced"
    assert result.sentence.startswith("300 / (about 200 x 5) is 30")
    assert check_percentage(figure("30%", "share"), figure("60"), about, figure("5")).status == "differs"


@pytest.mark.parametrize("n", ["0", "-3"])
def test_a_percentage_of_no_cases_is_left_open(n: str) -> None:
    assert percentage("0%", n, "0").status == "underdetermined"


@pytest.mark.parametrize(
    ("printed", "n", "count", "suggestion"),
    [
        ("18.85%", "226", "42", ""),
        ("18.5%", "226", "42", "the further digits are cut off instead of rounded"),
        ("18.42%", "226", "42", ""),
        ("36.920%", "539", "191", ""),
        ("36.7%", "128", "74", ""),
        ("71.4%", "7", "12", ""),
        ("59.52%", "251", None, ""),
        ("0.5%", "181", None, "the further digits are cut off instead of rounded"),
        ("12.50%", "37", None, ""),
        ("15.83%", "13", None, ""),
        ("97.7%", "118", None, ""),
        ("54.2%", "11", None, ""),
    ],
)
def test_a_repair_that_makes_a_percentage_fit_is_suggested(printed, n, count, suggestion) -> None:
    result = percentage(printed, n, count)
    assert result.status in ("differs", "impossible")
    assert suggestion in result.suggestion
    assert bool(suggestion) == bool(result.suggestion)
    assert (result.repair == "cut_off") == ("cut off" in suggestion)


@pytest.mark.parametrize(
    ("printed", "n", "step", "status"),
    [
        ("2.50", "4", "5", "reproduced"),
        ("3.00", "4", "5", "impossible"),
        ("0.30", "4", "0.4", "reproduced"),
        ("0.35", "4", "0.4", "impossible"),
        ("-1.67", "3", "1", "reproduced"),
        ("-1.60", "3", "1", "impossible"),
        ("3.19", "0", "1", "underdetermined"),
    ],
)
def test_answers_may_go_in_steps_of_any_size(printed: str, n: str, step: str, status: str) -> None:
    assert check_mean(figure(printed, "number"), figure(n), figure(step, "number"), None).status == status


@pytest.mark.parametrize(("n", "repeats", "count"), [("0", "1", "0"), ("9", "0", "3"), ("9", "1", "three")])
def test_nothing_is_suggested_for_shares_of_nothing_or_of_words(n: str, repeats: str, count: str) -> None:
    inputs: dict[str, str | tuple[str, ...]] = {"n": "n", "repeats": "r", "count": "c"}
    shares = [figure("12.34%", "share", f"s{place}", check="percentage", inputs=inputs) for place in range(2)]
    counted = figure(count, "count" if count.isdigit() else "text", "c")
    paper = Paper("made-up", "A made-up paper", "Nobody", (figure(n, name="n"), figure(repeats, name="r"), counted))
    result = check_all(structs.replace(paper, figure=(*paper.figure, *shares)))
    assert {(checked.status, checked.suggestion) for _, checked in result} == {("underdetermined", "")}


def test_an_impossible_mean_names_its_neighbours_and_a_cut_off() -> None:
    result = check_mean(figure("3.17", "number"), figure("28"), None, None)
    assert result.sentence == (
        "No total of 28 answers has a mean that prints as 3.17: 88 / 28 is 3.143 and 89 / 28 is 3.179."
    )
    assert result.suggestion == "89 / 28, and the further digits are cut off instead of rounded"
    in_percent = [check_mean(figure(text, "share"), figure("7"), None, None).status for text in ("42.9%", "42.8%")]
    assert in_percent == ["reproduced", "impossible"]


@pytest.mark.parametrize("printed", ["12.5", "13", "12", "-3", "0", "-0.5"])
@pytest.mark.parametrize("step", [Fraction(1, 8), Fraction(100, 16), Fraction(1, 3), Fraction(5)])
def test_the_steps_that_print_are_all_those_that_do(printed: str, step: Fraction) -> None:
    every = [k for k in range(-200, 201) if value_prints_as(k * step, printed)]
    assert list(steps_that_print(printed, step)) == every
    assert (counts_that_print("100", 7), counts_that_print("0", 7)) == (range(7, 8), range(1)), "within their cases"


@pytest.mark.parametrize(
    ("count", "n", "printed", "status"),
    [
        ("3", "4000", "0.08%", "reproduced"),
        ("3", "4000", "0.07%", "reproduced"),
        ("3", "4000", "0.06%", "impossible"),
        ("3", "8", "38%", "reproduced"),  # a binary number: up, or to even
        ("3", "8", "37%", "impossible"),
        ("115", "200", "58%", "reproduced"),
        ("115", "200", "57%", "reproduced"),
        ("115", "200", "56%", "differs"),
    ],
)
def test_a_tie_may_print_as_either_neighbour_unless_it_is_a_binary_number(count, n, printed, status) -> None:
    assert percentage(printed, n, count).status == status

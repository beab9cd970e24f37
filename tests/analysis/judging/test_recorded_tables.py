"""Recorded judges are compared with each other on the same items, and with saying the most frequent label always."""

from msgspec import structs

from misstep_analysis.judging.comparison import DIFFERENCE
from misstep_analysis.judging.recorded_tables import (
    compared,
    constant_judge,
    differences,
    pairs_table,
)
from misstep_analysis.tables import Row, Table
from tests.analysis.judging.recorded import alone

GOLD = ["yes"] * 10 + ["no"] * 30
GOOD = alone("good", [(label, label) for label in GOLD], "plants")
LAZY = alone("lazy", [(label, label if place % 2 else None) for place, label in enumerate(GOLD)], "plants")
ELSEWHERE = structs.replace(alone("other", [("yes", "yes")] * 6, "rocks"), dataset="rocks", source="rocks@1")


def row(table: Table, group: str, quantity: str) -> Row:
    (results,) = [one for one in table.rows if (one.group, one.quantity) == (group, quantity)]
    return results


def test_the_constant_judge_gives_the_most_frequent_gold_label_of_the_items_asked_to_each() -> None:
    constant = constant_judge(LAZY)
    assert constant.title == "always “no”"
    assert {verdict.label for verdict in constant.verdicts} == {"no"}
    assert len(constant.verdicts) == 40
    assert constant_judge(structs.replace(LAZY, gold=())) is None


def test_judges_of_the_same_items_meet_and_each_meets_the_constant_one() -> None:
    matches = compared([GOOD, LAZY, ELSEWHERE])
    assert [(match.pair.a, match.pair.b, match.between_judges) for match in matches] == [
        ("good on plants", "lazy on plants", True),
        ("good on plants", "always “no”", False),
        ("lazy on plants", "always “no”", False),
        ("other on rocks", "always “yes”", False),
    ]


def test_unanswered_items_are_wrong_in_the_difference_and_out_of_that_where_both_answered() -> None:
    pair = compared([GOOD, LAZY])[0].pair
    assert (pair.difference, pair.n) == (0.5, 40)
    assert (pair.answered.difference, pair.answered.n) == (0.0, 20)


def test_the_finding_says_who_beats_the_most_frequent_label_and_how_far_judges_are_apart() -> None:
    whole = [(label, label) for label in GOLD * 2]
    half = [(label, label if place % 2 else None) for place, (label, _) in enumerate(whole)]
    finding = pairs_table(compared([alone("lazy", half, "plants"), alone("good", whole, "plants")])).finding
    assert finding.startswith("Of 2 recorded judges, 1 give the gold label less often than always saying the most")
    assert ", and 1 more often, unanswered items counted as wrong" in finding
    assert "good on plants is +50.0 pp" in finding
    assert "ahead of lazy on plants" in finding
    assert pairs_table([]).finding == "No judge's recorded answers are available."


def test_the_figure_shows_each_difference_under_its_judges_by_what_was_judged() -> None:
    matches = compared([GOOD, LAZY])
    table, drawn = pairs_table(matches), differences(matches)
    assert [(one.group, one.quantity) for one in drawn] == [
        ("good against lazy", "plants"),
        ("good against always “no”", "plants"),
        ("lazy against always “no”", "plants"),
    ]
    assert drawn[0].value == row(table, "good on plants against lazy on plants", DIFFERENCE).value

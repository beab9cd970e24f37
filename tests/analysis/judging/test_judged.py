"""Tables of real judges: the finding is computed, the unanswered are shown."""

from collections.abc import Sequence

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.judged import (
    JudgedItems,
    JudgedMarks,
    ScoredItems,
    judges_table,
    marks_table,
    scored_items,
    scored_marks,
)
from misstep_analysis.tables import Row, Table
from misstep_harness.verdict import Verdict


def judged(title: str, cells: Sequence[tuple[str, str | None, int]]) -> ScoredItems:
    """A judge with so many items of each gold label and answer."""
    pairs = [(gold, answer) for gold, answer, times in cells for _ in range(times)]
    verdicts = [
        Verdict(str(item), title, answer, "answered" if answer else "unreadable")
        for item, (_, answer) in enumerate(pairs)
    ]
    gold = [GoldLabel(str(item), "people", label) for item, (label, _) in enumerate(pairs)]
    items = JudgedItems(title, "trail", "trail@0", tuple(verdicts), tuple(gold), {}, ("yes", "no"), "yes")
    return scored_items(items, resamples=200)


GOOD = judged("good", [("yes", "yes", 45), ("yes", "no", 5), ("no", "no", 45), ("no", "yes", 5)])
POOR = judged("poor", [("yes", "yes", 3), ("yes", "no", 7), ("no", "no", 60), ("no", "yes", 20), ("no", None, 10)])


def row(table: Table, group: str, quantity: str) -> Row:
    (results,) = [one for one in table.rows if (one.group, one.quantity) == (group, quantity)]
    return results


def test_the_finding_says_first_whether_any_judge_beats_the_most_frequent_label_then_worst_and_best() -> None:
    finding = judges_table([GOOD, POOR]).finding
    assert finding.index("(poor;") < finding.index("(good;")
    assert finding.startswith("1 of 2 judges beats always giving the most frequent label")
    assert judges_table([POOR]).finding.startswith("None of 1 judges beat always")


def test_a_judge_with_unanswered_items_has_its_accuracy_both_ways() -> None:
    table = judges_table([GOOD, POOR])
    assert row(table, "poor", "Accuracy").value == 63 / 90
    assert row(table, "poor", "Accuracy, unanswered counted as wrong").value == 63 / 100
    assert row(table, "poor", "Accuracy of always “no”").value == 90 / 100
    assert not [one for one in table.rows if one.group == "good" and "unanswered" in one.quantity]


def test_marks_have_a_row_for_each_way_to_meet_them_and_a_note_on_unknown_categories() -> None:
    people = {str(run): frozenset({("s1", "loop"), (f"s{run}", "slip")}) for run in range(2, 8)}
    judge = {run: (("s1", "loop"), ("s1", "weather")) if int(run) % 2 else None for run in people}
    marks = JudgedMarks("careless", "trail", "trail@0", people, judge)
    table = marks_table([scored_marks(marks, resamples=200)])
    assert row(table, "careless", "Runs answered").value == 0.5
    assert row(table, "careless", "Errors found by place and category").value == 0.25
    assert any("3 of the 6 errors" in note for note in table.notes)

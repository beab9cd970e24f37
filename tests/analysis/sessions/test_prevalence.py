"""Counts of verdicts to shares: the unjudged do not count as "no", and every share follows from the patterns."""

import pytest

from misstep_analysis.sessions.prevalence import (
    Labels,
    co_occurrence_table,
    count_patterns,
    counts_sentence,
    prevalence,
    prevalence_table,
)
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table
from misstep_harness.verdict import Verdict

CATEGORIES = ("loop", "drift")
PATTERNS: dict[Labels, int] = {("yes", "no"): 3, ("yes", "yes"): 2, ("no", "no"): 10, ("no", None): 4, (None, None): 1}


def _verdicts(patterns: dict[Labels, int], categories: tuple[str, ...] = CATEGORIES) -> list[Verdict]:
    return [
        Verdict(f"{labels}-{number}", category, label, "abstained" if label is None else "answered")
        for labels, count in patterns.items()
        for number in range(count)
        for category, label in zip(categories, labels, strict=True)
    ]


def _row(table: Table, quantity: str, group: str) -> Row:
    (row,) = [row for row in table.rows if row.quantity == quantity and group in row.group]
    return row


def test_a_share_is_over_the_trajectories_that_were_judged() -> None:
    loop, drift = prevalence(CATEGORIES, PATTERNS).categories
    assert (loop.count, loop.exclusive, loop.answered, loop.abstained) == (5, 3, 19, 1)
    assert (drift.count, drift.exclusive, drift.answered, drift.abstained) == (2, 0, 15, 5)
    assert loop.share == wilson(5, 19)
    assert drift.share == wilson(2, 15)


def test_any_is_over_those_judged_for_at_least_one_category() -> None:
    result = prevalence(CATEGORIES, PATTERNS)
    assert (result.n, result.any_count, result.any_share) == (20, 5, wilson(5, 19))


def test_patterns_are_counted_from_verdicts_in_any_order() -> None:
    verdicts = _verdicts(PATTERNS)
    assert count_patterns(verdicts) == (CATEGORIES, PATTERNS)
    by_category = sorted(verdicts, key=lambda verdict: verdict.judge != "loop")
    assert count_patterns(by_category) == (CATEGORIES, PATTERNS)


def test_the_table_has_a_row_a_category_one_for_any_and_the_exclusive_shares() -> None:
    table = prevalence_table(CATEGORIES, PATTERNS, source="made up")
    loop = _row(table, "loop", "problem only")
    assert (loop.value, loop.n, loop.unit, loop.evidence, loop.source) == (3 / 19, 19, "share", "real", "made up")
    assert [row.quantity for row in table.rows] == ["loop", "drift", "any", "loop", "drift"]
    assert table.finding.startswith("20 sessions, 19 checked, 5 went wrong: 26.3% (")
    assert "loop 1, drift 5 of 20 sessions" in table.notes[1]


@pytest.mark.parametrize(
    ("patterns", "sentence"),
    [
        ({("no", "no"): 20}, "20 sessions, none went wrong: 0.0% (0.0% to 16.1%)."),
        ({("no", "no"): 9}, "9 sessions, none went wrong: too few for a rate."),
        ({("yes", "no"): 1}, "1 session, 1 went wrong: too few for a rate. Only loops were found."),
        ({(None, None): 3}, "3 sessions, none could be checked."),
        (
            {("no", "no"): 15, ("yes", "no"): 4, ("no", "yes"): 3, ("yes", "yes"): 2},
            "24 sessions, 9 went wrong: 37.5% (21.2% to 57.3%). Loops were commonest (6).",
        ),
    ],
)
def test_the_first_sentence_has_counts_then_a_rate_if_there_are_enough(
    patterns: dict[Labels, int], sentence: str
) -> None:
    assert counts_sentence(prevalence(("infinite_loop", "tool_call_failure"), patterns)) == sentence


def test_the_longest_first_sentence_has_25_words_at_most() -> None:
    patterns: dict[Labels, int] = {("yes", "yes"): 900, ("yes", "no"): 100, ("no", "no"): 1000, (None, None): 70}
    rates = prevalence(("did_not_follow_instructions", "unrequested_changes"), patterns)
    assert len(counts_sentence(rates, "generated session").split()) <= 25


def test_co_occurrence_is_of_those_that_show_the_line_and_were_judged_for_the_column() -> None:
    table = co_occurrence_table(CATEGORIES, PATTERNS, source="made up")
    assert (_row(table, "drift", "loop").value, _row(table, "drift", "loop").n) == (2 / 5, 5)
    assert (_row(table, "loop", "drift").value, _row(table, "loop", "drift").n) == (1.0, 2)
    assert table.finding == "Cases of loop and cases of drift occur together most often: in 2 sessions."

"""Tables 1, 3 and 4 with measured figures beside the printed ones, each with its kind of evidence."""

import re

import pytest

from misstep_analysis.triage.comparison import ComparedCases, JudgedCases, compared
from misstep_analysis.triage.paper.triage import (
    error_direction_table,
    judge_errors_table,
    nine_judges_table,
    subcategory_table,
    taxonomy_table,
)
from tests.analysis.triage.made_up import judged_cases

GOLD = ["agent/timeout", "agent/logical_failure", "task/brittle_tests", "infrastructure/network_issue", "pass"] * 4
SAID = ["task/brittle_tests", "agent/timeout", "", "agent/timeout", "pass"] * 4


@pytest.fixture(scope="module")
def cases() -> JudgedCases:
    return judged_cases(GOLD, {"good": GOLD, "poor": SAID}, [f"f{n // 5}" for n in range(20)])


@pytest.fixture(scope="module")
def found(cases: JudgedCases) -> ComparedCases:
    return compared(cases, resamples=200)


def test_table_1_says_of_every_cell_what_was_planted_and_what_each_judge_found(cases: JudgedCases) -> None:
    rows = {(row.group, row.quantity): row for row in taxonomy_table(cases).rows}
    assert rows["Agent's fault: timeout", "Planted"].value == 4
    assert rows["Agent's fault: timeout", "Found by good"].value == 1.0
    assert rows["Agent's fault: timeout", "Found by poor"].value == 0.0
    assert rows["Agent's fault: logical failure", "Found by poor"].value == 1.0
    nothing = rows["Task's fault: ambiguous spec", "Found by good"]
    assert (nothing.value, nothing.reason) == (None, "no case of it was generated")
    assert {row.evidence for row in rows.values()} == {"generated"}


def test_table_3_has_printed_recomputed_and_generated_figures_apart(found: ComparedCases) -> None:
    table = nine_judges_table(found)
    assert {"published", "recomputed", "generated"} <= {row.evidence for row in table.rows}
    poor = {row.quantity: row.value for row in table.rows if row.group == "poor"}
    assert (poor["Agreement"], poor["Agreement, unanswered as wrong"]) == (0.5, 0.4)
    assert (poor["Cases asked"], poor["Cases answered"]) == (20, 16)
    assert re.match(r"good finds (\d+) of \1 defects? of tasks, with kappa 1", table.finding)
    assert "Of 2 judges good is ahead, but its lead over poor may be chance." in table.finding


def test_table_4_counts_every_answer_and_no_answer(found: ComparedCases) -> None:
    rows = [row for row in judge_errors_table(found).rows if row.group == "poor, Agent Err."]
    counts = {row.quantity: row.value for row in rows}
    assert (counts["Predicted Task"], counts["Predicted Agent"], counts["No answer"]) == (4, 4, 0)
    assert counts["Recall"] == 0.5


def test_subcategories_are_of_the_run_that_is_asked_for(found: ComparedCases) -> None:
    assert subcategory_table(found, "good").finding.startswith("good names the subcategory of 100.0%")


def test_the_direction_of_errors_has_the_counts_of_table_4(found: ComparedCases) -> None:
    rows = [row for row in error_direction_table(found).rows if row.source == "Table 4"]
    assert [(row.group, row.value, row.n) for row in rows if row.value is not None] == [
        ("Codex, read-only (table 4)", 1 / 9, 9),
        ("Sonnet, read-only (table 4)", 8 / 16, 16),
        ("Haiku, read-only (table 4)", 7 / 16, 16),
    ]

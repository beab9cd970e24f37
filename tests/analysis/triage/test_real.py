"""What is measured of whose fault failures are on public data: errors by fault, and what passes are worth."""

import pytest

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.judged import JudgedItems
from misstep_analysis.judging.scores import score
from misstep_analysis.passing.solve_rates import SolvedSet
from misstep_analysis.triage.paper.real import real_triage_table
from misstep_analysis.triage.real import (
    DefectiveTasks,
    TriagedSet,
    UnlabelledRuns,
    marked_faults,
    worth_of_passes,
)
from misstep_harness.fault_mappings import mapping_of
from misstep_harness.verdict import Verdict

LABELS = ("task", "agent", "infrastructure", "pass")


def defect(tasks: set[str], among: set[str]) -> DefectiveTasks:
    return DefectiveTasks(
        "Weak tests", "utboost", "made up", mapping_of("utboost", "weak_tests"), frozenset(tasks), frozenset(among)
    )


def solved(**systems: str) -> SolvedSet:
    """Systems by tasks a to e, + where solved."""
    cells = {
        name: {task: (1, int(mark == "+")) for task, mark in zip("abcde", marks, strict=True)}
        for name, marks in systems.items()
    }
    return SolvedSet("made_up", "made up", "made up", cells)


def test_a_pass_on_a_defective_task_is_a_share_of_the_passes_on_tasks_that_were_looked_at() -> None:
    result = worth_of_passes(solved(one="++--+", two="+-+-+"), defect({"a"}, set("abcd")), fewest=2)
    assert result.passes == 4
    assert result.of_passes.value == pytest.approx(2 / 4)
    assert (result.rate.value, result.other_rate.value) == (1.0, pytest.approx(2 / 6))
    assert result.difference.value == pytest.approx(1 - 2 / 6)
    assert (result.lowest.value, result.highest.value) == (0.5, 0.5)


def test_a_class_that_the_leaderboard_has_no_task_of_has_no_solve_rate_and_says_why() -> None:
    result = worth_of_passes(solved(one="++--+"), defect({"x", "y"}, {"a", "x", "y"}))
    assert result.rate.value is None
    assert result.rate.reason
    assert result.kept.value == 0
    assert result.other_kept.value == 1
    assert result.lowest.reason == "no system passed 50 of the tasks"


def test_errors_are_shared_out_by_whose_fault_their_category_says_they_are() -> None:
    runs = [
        [("1", "Formatting Errors"), ("2", "Service Errors")],
        [],
        [("1", "Timeout Issues"), ("2", "A category of its own")],
    ]
    result = marked_faults("trail", "somebody", runs)
    assert (result.runs, result.marks) == (2, 4)
    assert {fault: share.value for fault, share in result.shares.items()} == {
        "task": 0,
        "agent": 0.25,
        "infrastructure": 0.25,
        None: 0.5,
    }


def triaged(*text: str | None) -> TriagedSet:
    """A judge on runs whose gold labels are agent, agent, task."""
    gold = [GoldLabel(str(place), "people", label) for place, label in enumerate(("agent", "agent", "task"))]
    verdicts = tuple(
        Verdict(str(place), "made_up", label, "answered" if label else "abstained") for place, label in enumerate(text)
    )
    judged = JudgedItems("made_up", "agentrx", "made up", verdicts, tuple(gold), {}, LABELS, "task")
    return TriagedSet(judged, score(verdicts, gold, LABELS, resamples=200), unmapped=2, unaskable=0)


def test_an_abstention_is_left_out_of_one_accuracy_and_is_wrong_in_the_other() -> None:
    table = real_triage_table([triaged("agent", None, "agent")])
    figures = {row.quantity: row.value for row in table.rows}
    assert figures["Runs answered"] == pytest.approx(2 / 3)
    assert figures["Accuracy of the answered"] == pytest.approx(1 / 2)
    assert figures["Accuracy, unanswered counted as wrong"] == pytest.approx(1 / 3)
    assert figures["Recall of agent, unanswered as missed"] == pytest.approx(1 / 2)
    assert figures["task given to agent"] == 1
    assert figures["agent given to task"] == 0
    assert "Recall of infrastructure, of the answered" not in figures


def test_runs_without_a_labelled_cause_are_counted_and_not_scored() -> None:
    verdicts = (
        Verdict("1", "made_up", "agent"),
        Verdict("2", "made_up", None, "abstained"),
        Verdict("3", "made_up", "agent"),
    )
    table = real_triage_table([], [UnlabelledRuns("made_up", "codetracer_runs", "made up", "failed", verdicts)])
    assert [(row.quantity, row.value, row.n) for row in table.rows] == [("Says agent", 2, 3), ("Says abstained", 1, 3)]

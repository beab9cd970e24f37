"""The tables of breakers: which cases each gets right, and that the loop's own failures are named."""

import pytest

from misstep.analysis.measures.reflexive.reported import OUTCOMES, BreakerScore
from misstep.analysis.papers.reflexive.reported import (
    breakers_table,
    other_breakers_table,
    our_breakers_table,
    reported_cases_table,
)
from misstep.studies.reflexive.reported import not_asked, reported_scores

GOLDEN = {
    "no_file_change": (6, 0, 5, 5, 11),
    "error_word": (1, 0, 14, 11, 1),
    "output_decline": (0, 0, 15, 12, 0),
    "completion_words": (1, 0, 14, 11, 1),
    "similar_output": (1, 0, 14, 11, 1),
    "repeated_event": (0, 0, 15, 11, 1),
    "identical_calls_3": (3, 0, 12, 9, 3),
    "identical_calls_5": (1, 2, 12, 9, 3),
    "stuck_pattern": (5, 1, 9, 10, 2),
    "same_error": (2, 0, 13, 11, 1),
    "unchanged_results": (0, 4, 11, 10, 2),
    "mistakes_in_a_row": (2, 0, 13, 11, 1),
    "most_rounds": (0, 5, 9, 12, 1),
    "stop_rule": (5, 7, 3, 9, 3),
}
"""Breaker → how many cases are stopped rightly, late, missed, left alone rightly, stopped wrongly.

Plateau detectors are left out: their thresholds are calibrated elsewhere, and may be again.
"""


@pytest.fixture(scope="module")
def scores() -> list[BreakerScore]:
    return reported_scores()


def test_every_breaker_does_with_the_cases_what_it_did(scores: list[BreakerScore]) -> None:
    results = {score.breaker.name: tuple(len(score.having(name)) for name in OUTCOMES) for score in scores}
    assert {name: counts for name, counts in results.items() if not name.startswith("plateau_")} == GOLDEN


def test_breakers_fail_on_the_cases_that_were_reported_of_them(scores: list[BreakerScore]) -> None:
    outcomes = {(score.breaker.name, trial.case): trial.outcome for score in scores for trial in score.trials}
    for breaker, case in (
        ("no_file_change", "committed-each-round"),
        ("repeated_event", "three-tasks-one-word"),
        ("stuck_pattern", "waiting-as-told"),
        ("identical_calls_3", "polling-a-build"),
        ("same_error", "codes-that-had-expired"),
        ("unchanged_results", "empty-answers"),
        ("completion_words", "done-with-a-step"),
        ("error_word", "error-in-what-was-read"),
    ):
        assert outcomes[breaker, case] == "stopped wrongly"
    assert outcomes["identical_calls_3", "two-calls-in-turn"] == "missed"


def test_a_line_a_breaker_with_a_figure_an_outcome_all_generated_and_with_intervals(scores: list[BreakerScore]) -> None:
    table = breakers_table(scores)
    assert len(table.rows) == len(scores) * len(OUTCOMES)
    assert {row.evidence for row in table.rows} == {"generated"}
    assert all(row.low is not None and row.n for row in table.rows)
    assert table.made_by == "misstep.analysis.papers.reflexive.reported.breakers_table"


def test_the_finding_and_the_notes_say_what_the_loops_rule_gets_wrong(scores: list[BreakerScore]) -> None:
    table = breakers_table(scores)
    assert table.finding.startswith("Of 27 runs made up after reports the loop's rule judges 51.9% (95% interval 34.0%")
    assert "it stops 3 wrongly and 7 too late, and misses 3" in table.finding
    assert any("empty-answers" in note and "stopped wrongly" in note for note in table.notes)
    assert any("no run was observed" in note for note in table.notes)


def test_each_case_is_told_with_its_thread_and_its_right_verdict_and_why(scores: list[BreakerScore]) -> None:
    table = reported_cases_table(scores)
    assert table.finding == "15 of 27 runs made up after reports should be stopped, and 12 should go on."
    assert len(table.rows) == 3 * len(scores[0].trials)
    assert all(row.source.startswith("made up after ") and "#" in row.source for row in table.rows)
    values = {row.quantity: str(row.value) for row in table.rows if row.group == "one-topic-three-causes"}
    assert values["Right verdict"] == "go on"
    assert min(values["What was reported"].count(" "), 3 * values["Why"].count(" ")) > 25


def test_what_each_of_our_detectors_did_with_each_case_is_said(scores: list[BreakerScore]) -> None:
    table = our_breakers_table(scores, ("One was not asked.",))
    ours = {score.breaker.name: score for score in scores if score.breaker.ours}
    assert len(table.rows) == len(scores[0].trials) * len(ours)
    for row in table.rows:
        (trial,) = (one for one in ours[row.quantity].trials if row.group.startswith(f"{one.case} ("))
        assert str(row.value).partition(",")[0] == trial.outcome
    assert table.notes[-1] == "One was not asked."


def test_every_breaker_of_another_loop_stands_once_under_each_case(scores: list[BreakerScore]) -> None:
    rows = other_breakers_table(scores).rows
    others = sorted(score.breaker.name for score in scores if not score.breaker.ours)
    for case in dict.fromkeys(row.group for row in rows):
        cells = [str(row.value) for row in rows if row.group == case]
        named = [name.partition(" ")[0] for cell in cells if cell != "none" for name in cell.split(", ")]
        assert sorted(named) == others


def test_all_four_kinds_of_detector_are_asked_about_the_cases_or_said_to_be_missing(scores, monkeypatch) -> None:
    asked = {score.breaker.name for score in scores}
    assert {"plateau_exact", "plateau_keywords", "plateau_cosine"} <= asked
    assert ("plateau_embeddings" in asked) == (not_asked() == ())
    monkeypatch.setattr("misstep.harness.reflexive.plateau.vectors.find_spec", lambda _: None)
    (sentence,) = not_asked()
    assert sentence.startswith("The breaker plateau_embeddings could not be asked: the package")
    assert "plateau_embeddings" not in {score.breaker.name for score in reported_scores()}

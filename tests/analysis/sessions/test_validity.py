"""Rules against people's labels: what counts as positive, and what the table says of it."""

import json
from pathlib import Path

import pytest

from misstep_analysis.sessions import validity
from misstep_analysis.sessions.validity import JudgedSet, LabelMapping
from misstep_harness.verdict import Verdict

LOOP = LabelMapping("infinite_loop", "made_up", "gold", "made up", labels=("Repetition",), in_a_row=2)

MARKED = LabelMapping("tool_call_failure", "made_up", "errors", "made up", labels=("Bad call",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three labelled runs (a: two repetitions in a row; b: two apart; c: none), and one that nobody labelled."""
    relations = {"a": ["New", "Repetition", "Repetition"], "b": ["Repetition", "New", "Repetition"], "c": ["New"]}
    rows = [(f"{run}/{place}", run, label) for run, labels in relations.items() for place, label in enumerate(labels)]
    items = [{"id": item, "kind": "misbehaviour", "trajectory_id": run} for item, run, _ in rows]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    gold = "".join(f"{item},authors,{label}\n" for item, _, label in rows)
    (tmp_path / "gold.csv").write_text(f"item,rater,label\n{gold}")
    errors = [{"trajectory": "a", "label": "Bad call"}, {"trajectory": "b", "label": "Other"}]
    (tmp_path / "gold_errors.jsonl").write_text("".join(json.dumps(error) + "\n" for error in errors))
    return tmp_path


def _judged(category: str, **labels: str | None) -> JudgedSet:
    verdicts = tuple(
        Verdict(run, category, label, "answered" if label else "abstained", steps=(3,) if label == "yes" else ())
        for run, label in labels.items()
    )
    people = {category: {"a": True, "b": False, "c": False}}
    return JudgedSet(
        "made_up", "made_up@1", verdicts, dict.fromkeys(labels, 10), people=people, decisive={"a": 3, "b": 1}
    )


def test_a_run_is_positive_when_enough_labels_stand_in_a_row(folder: Path) -> None:
    assert validity.positives(LOOP, folder) == {"a": True, "b": False, "c": False}


def test_a_run_is_positive_when_people_marked_such_an_error_in_it(folder: Path) -> None:
    assert validity.positives(MARKED, folder) == {"a": True, "b": False, "c": False}


def test_only_labelled_runs_count_and_a_run_without_an_answer_counts_as_not_flagged() -> None:
    both = validity.validity(LOOP, _judged("infinite_loop", a="yes", b="yes", c=None, unlabelled="yes"))
    assert (both.table.tp, both.table.fp, both.table.fn, both.table.tn, both.unanswered) == (1, 1, 0, 1, 1)
    missed = validity.validity(LOOP, _judged("infinite_loop", a=None, b="no"))
    assert (missed.recall.value, missed.recall.n, missed.unanswered) == (0.0, 1, 1)


def test_recall_on_generated_runs_counts_what_was_not_answered_as_missed() -> None:
    verdicts = [Verdict("a", "infinite_loop", "yes"), Verdict("b", "infinite_loop", None, "abstained")]
    truth = {("a", "infinite_loop"): True, ("b", "infinite_loop"): True}
    rows = {row.quantity: row for row in validity.generated_table(verdicts, truth, seed=0, n=2).rows}
    assert (rows["Recall"].value, rows["Recall"].n) == (0.5, 2)


def test_evidence_is_held_against_the_decisive_step_and_against_chance() -> None:
    rows = validity._location_rows(_judged("infinite_loop", a="yes", b="yes", c="no"))
    results = {row.quantity: (row.value, row.n) for row in rows}
    assert results == {"Precision": (0.5, 2), "Precision of steps drawn at random": (0.1, 2), "Recall": (0.5, 2)}


def test_every_mapping_says_why_and_names_labels_or_the_decisive_step() -> None:
    mappings = validity.load_mappings()
    assert all(mapping.why and (bool(mapping.labels) != mapping.decisive) for mapping in mappings)
    assert {mapping.benchmark for mapping in mappings} == {"llm_agents_study", "trail", "agentrx", "whoandwhen"}


def test_generated_runs_are_called_generated() -> None:
    verdicts = [Verdict("1", "loop", "yes"), Verdict("2", "loop", "no")]
    table = validity.generated_table(verdicts, {("1", "loop"): True, ("2", "loop"): True}, seed=3, n=2)
    assert {row.evidence for row in table.rows} == {"generated"}
    assert {row.source for row in table.rows} == {"generated, seed 3, n 2"}
    assert {row.quantity: row.value for row in table.rows} == {"Precision": 1.0, "Recall": 0.5}


def test_without_any_set_the_table_says_so() -> None:
    assert validity.validity_table([]).finding == "No set with people's labels is available."

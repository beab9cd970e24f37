"""Figures that limits are set on: an item without an answer is wrong in each, and `.answered` leaves it out."""

import pytest

from misstep_analysis.judging.gate_figures import gate_figures, names_of_figures
from misstep_analysis.judging.gates import ANSWERED, decide, fail_under
from misstep_analysis.judging.scores import score
from tests.analysis.judging.samples import YES_NO, labels_of, verdicts

GOLD = ["yes", "no"] * 50
FEW = score(verdicts([label if n < 40 else None for n, label in enumerate(GOLD)]), labels_of({"a": GOLD}), YES_NO)
ALL = score(verdicts([label if n < 80 else "yes" for n, label in enumerate(GOLD)]), labels_of({"a": GOLD}), YES_NO)


def test_the_names_are_known_before_the_figures() -> None:
    assert sorted(names_of_figures(YES_NO)) == sorted(gate_figures(FEW))


@pytest.mark.parametrize("name", [one for one in names_of_figures(YES_NO) if not one.endswith((ANSWERED, "precision"))])
def test_a_judge_that_answers_few_items_all_rightly_does_not_pass(name: str) -> None:
    (outcome,) = decide([fail_under(f"{name}=0.8")], gate_figures(FEW))
    assert (outcome.decision, outcome.stops) == ("failed", True)
    assert "had no answer, which counts as wrong" in outcome.estimate.reason


@pytest.mark.parametrize("name", ["accuracy", "kappa", "yes.recall", "no.f1"])
def test_the_figure_over_the_answered_is_asked_for_by_name_and_says_what_it_leaves_out(name: str) -> None:
    (outcome,) = decide([fail_under(f"{name}.answered=0.99")], gate_figures(FEW))
    assert outcome.decision == "passed"
    assert "had no answer" in outcome.estimate.reason


def test_where_all_is_answered_both_are_one_and_nothing_is_remarked() -> None:
    figures = gate_figures(ALL)
    assert figures["accuracy"] == figures["accuracy.answered"] == figures["accuracy_all"] == ALL.accuracy
    assert not any("no answer" in one.reason for one in figures.values())

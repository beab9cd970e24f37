"""Public runs as the rules label them: what a row of the facts says, and which runs are shown as examples."""

import os

from misstep_analysis.reproduction.recorded import classified
from misstep_analysis.reproduction.recorded.classified import (
    GENERATED_SET,
    Classified,
    ClassifiedRun,
    classified_sets,
    example_sets,
)
from misstep_harness.verdict import Verdict

SAID = (
    Verdict("1", "infinite_loop", "yes", steps=(3, 5), rationale="asks 2 times"),
    Verdict("1", "tool_call_failure", "no", steps=(4,)),
    Verdict("1", "unrequested_changes", None, "abstained"),
    Verdict("1", "did_not_follow_instructions", None, "abstained"),
)
ROW = ClassifiedRun("1", 9, "yes 3 5", "no 4")


def test_a_row_has_labels_and_steps_of_a_run_and_gives_the_verdicts_back_without_the_sentences(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(classified, "classified", lambda *_: Classified(SAID, {"1": 9}))
    assert list(classified._classified_runs("taubench", tmp_path)) == [ROW]
    assert [classified._verdict(ROW, one.judge) for one in SAID] == [
        Verdict(one.item, one.judge, one.label, one.status, steps=one.steps) for one in SAID
    ]


def test_without_the_sets_runs_have_their_labels_and_examples_are_generated(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MISSTEP_DATA", os.fspath(tmp_path))
    monkeypatch.setattr(classified, "GENERATED", 5)
    (runs,) = classified_sets(("whoandwhen",))
    assert (len(runs.n_steps), len(runs.decisive), len(runs.verdicts)) == (126, 126, 4 * 126)
    (examples,) = example_sets()
    assert (examples.benchmark, examples.evidence) == (GENERATED_SET, "generated")

"""Recorded verdicts of triage given again: the same as they are recorded, or an error that names them."""

from pathlib import Path

import pytest

from misstep.harness.errors import MisstepError
from misstep.studies.recorded.triage_again import JudgedAgain, judged_again
from misstep.studies.triage_recording import recordings
from tests.analysis.measures.triage.made_up import verdict
from tests.harness.workspace.conftest import sandbox as sandbox


@pytest.mark.usefixtures("sandbox")
def test_the_first_recorded_cases_are_generated_and_judged_as_they_are_recorded() -> None:
    again = judged_again()
    again.check()
    assert len(again.pairs) >= 4
    assert {recorded.judge for recorded, _ in again.pairs} == {one.judge for _, one in again.pairs}


def test_a_verdict_that_comes_out_otherwise_is_named() -> None:
    pair = verdict("c0", "rules", "task/brittle_tests"), verdict("c0", "rules", "agent/timeout")
    with pytest.raises(MisstepError, match=r"rules on c0 \(task brittle_tests, now agent timeout\)"):
        JudgedAgain((pair,)).check()


def test_evidence_in_other_words_is_no_difference() -> None:
    pair = verdict("c0", "rules", "task", "text"), verdict("c0", "rules", "task", "sandbox")
    JudgedAgain((pair,)).check()


def test_where_nothing_is_recorded_a_sentence_says_so(tmp_path: Path) -> None:
    assert judged_again(tmp_path).absent == "No judge of triage is recorded."


def test_a_recording_is_kept_with_the_project() -> None:
    assert [folder.name for folder in recordings()] == ["scoring"]

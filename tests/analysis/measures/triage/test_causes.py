"""Whose fault runs are by a judge, without any gold label."""

from misstep.analysis.measures.triage.causes import causes, causes_sentence
from tests.analysis.measures.triage.made_up import verdict


def test_shares_are_of_the_answered_and_the_sentence_says_how_many_have_no_answer() -> None:
    texts = ["agent/timeout", "agent/timeout", "agent/logical_failure", "task/brittle_tests", ""]
    result = causes([verdict(f"c{place}", "rules", one) for place, one in enumerate(texts)])
    assert (result.n, result.answered) == (5, 4)
    assert result.shares["agent"].value == 0.75
    assert result.subcategories["agent"] == {"timeout": 2, "logical_failure": 1}
    sentence = causes_sentence(result)
    assert sentence.startswith("The agent is at fault in 75.0% (95% interval ")
    assert "of 4 runs, the task in 25.0% (" in sentence
    assert sentence.endswith("; 1 without an answer is left out.")


def test_runs_of_one_task_widen_the_interval() -> None:
    verdicts = [verdict(f"c{place}", "rules", "agent" if place < 4 else "task") for place in range(8)]
    alone, together = causes(verdicts), causes(verdicts, {f"c{place}": f"task {place // 4}" for place in range(8)})
    assert together.shares["agent"].low < alone.shares["agent"].low  # type: ignore[operator]  # both have intervals

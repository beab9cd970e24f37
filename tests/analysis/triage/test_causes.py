"""Whose fault runs are by a judge, without any gold label."""

from misstep_analysis.triage.comparison import causes, causes_sentence
from tests.analysis.triage.made_up import verdict


def test_shares_are_of_the_answered_and_the_sentence_says_how_many_have_no_answer() -> None:
    texts = ["agent/timeout", "agent/timeout", "agent/logical_failure", "task/brittle_tests", ""]
    result = causes([verdict(f"c{place}", "rules", one) for place, one in enumerate(texts)])
    assert (result.n, result.answered) == (5, 4)
    assert result.shares["agent"].value == 0.75
    assert result.subcategories["agent"] == {"timeout": 2, "logical_failure": 1}
    sentence = causes_sentence(result)
    assert sentence.startswith("The agent is at fault in 3 of 4 runs, 75.0% (95% interval ")
    assert ", the task in 1, 25.0% (" in sentence
    assert sentence.endswith("; 1 without an answer is left out.")


def test_runs_of_one_task_widen_the_interval() -> None:
    verdicts = [verdict(f"c{place}", "rules", "agent" if place < 10 else "task") for place in range(20)]
    alone, together = causes(verdicts), causes(verdicts, {f"c{place}": f"task {place // 4}" for place in range(20)})
    assert together.shares["agent"].low < alone.shares["agent"].low  # type: ignore[operator]  # both have intervals


def test_runs_of_two_tasks_are_counted_and_have_no_interval() -> None:
    verdicts = [verdict(f"c{place}", "rules", "agent" if place < 4 else "task") for place in range(7)]
    sentence = causes_sentence(causes(verdicts, {f"c{place}": f"cluster task {place // 4}" for place in range(7)}))
    assert sentence == (
        "The agent is at fault in 4 of 7 runs, 57.1% (no 95% interval: 2 tasks are too few), the task in 3, 42.9%."
    )

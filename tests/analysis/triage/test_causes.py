"""Whose fault runs are by a judge, without any gold label."""

import pytest

from misstep_analysis.triage.comparison import causes, causes_sentence
from misstep_harness.fault_mappings import next_step
from tests.analysis.triage.made_up import verdict

LABELS = ["agent/timeout", "agent/timeout", "agent/logical_failure", "task/brittle_tests", ""]


def sentence_of(labels: list[str], tasks: int | None = None) -> str:
    clusters = None if tasks is None else {f"c{place}": f"task {place % tasks}" for place in range(len(labels))}
    return causes_sentence(causes([verdict(f"c{place}", "rules", one) for place, one in enumerate(labels)], clusters))


def test_shares_are_of_the_answered() -> None:
    result = causes([verdict(f"c{place}", "rules", one) for place, one in enumerate(LABELS)])
    assert (result.n, result.answered) == (5, 4)
    assert result.shares["agent"].value == 0.75
    assert result.subcategories["agent"] == {"timeout": 2, "logical_failure": 1}


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (LABELS, "5 runs: 3 the agent's fault, 1 the task's fault, 1 undecided."),
        (
            ["agent"] * 4 + ["infrastructure"] * 2 + ["pass"],
            "7 runs: 4 the agent's fault, 2 infrastructure, 1 valid pass.",
        ),
        (["pass"] * 2, "2 runs: 2 valid passes."),
        (["", ""], "2 runs: 2 undecided."),
        ([], "No run was judged."),
    ],
)
def test_the_sentence_counts_things_the_most_frequent_first(labels: list[str], sentence: str) -> None:
    assert sentence_of(labels) == sentence


def test_from_ten_runs_on_the_sentence_has_the_first_share_with_its_interval() -> None:
    labels = ["agent"] * 6 + ["task"] * 3
    assert sentence_of(labels) == "9 runs: 6 the agent's fault, 3 the task's fault."
    assert sentence_of([*labels, "task"]).endswith(
        " Of all, 60.0% (95% interval 31.3% to 83.2%) are the agent's fault."
    )
    assert " Of the 10 decided, 60.0%" in sentence_of([*labels, "task", ""])
    assert "%" not in sentence_of([*labels, "task"], tasks=2), "2 tasks are too few for an interval"


@pytest.mark.parametrize(
    ("label", "subcategory", "step"),
    [
        ("agent", "timeout", "keep"),
        ("infrastructure", "", "run again"),
        ("task", "", "repair the task"),
        ("task", "brittle_tests", "repair the task"),
        ("task", "weak_tests", "leave out"),
        ("pass", "", "keep"),
        (None, "", "look at it"),
    ],
)
def test_what_to_do_follows_from_the_taxonomy(label: str | None, subcategory: str, step: str) -> None:
    assert next_step(label, subcategory) == step


def test_runs_of_one_task_widen_the_interval() -> None:
    verdicts = [verdict(f"c{place}", "rules", "agent" if place < 10 else "task") for place in range(20)]
    alone, together = causes(verdicts), causes(verdicts, {f"c{place}": f"task {place // 4}" for place in range(20)})
    assert together.shares["agent"].low < alone.shares["agent"].low  # type: ignore[operator]  # both have intervals

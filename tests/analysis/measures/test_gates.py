"""A gate fails beyond its limit, and is never passed by a figure that cannot be computed."""

import pytest

from misstep.analysis.measures.gates import decide, fail_on, fail_under
from misstep.analysis.stats.estimate import Estimate
from misstep.harness.errors import UsageError

SHARE = Estimate(0.071, 0.04, 0.12, 200)
FIGURES = {"tool_call_failure": SHARE, "nothing": Estimate(None, reason="no session could be checked")}


@pytest.mark.parametrize(
    ("condition", "decision"),
    [
        ("tool_call_failure>5%", "failed"),
        ("tool_call_failure > 0.071", "passed"),
        ("tool_call_failure>=7.1%", "failed"),
        ("tool_call_failure.lower>5%", "passed"),
        ("tool_call_failure.upper>5%", "failed"),
        ("tool_call_failure<10%", "failed"),
        ("tool_call_failure.lower<=4%", "failed"),
        ("nothing>5%", "undecided"),
        ("nothing.upper>5%", "undecided"),
    ],
)
def test_a_condition_is_decided_on_the_value_or_on_the_named_end(condition: str, decision: str) -> None:
    (outcome,) = decide([fail_on(condition)], FIGURES)
    assert (outcome.decision, outcome.gate.text) == (decision, condition)


def test_a_least_value_may_be_asked_of_the_lower_end() -> None:
    figures = {"accuracy": Estimate(0.9, 0.8, 0.95), "yes.recall": Estimate(0.9, 0.8, 0.95)}
    given_gates = [fail_under(f"{name}=85%") for name in ("accuracy", "accuracy.lower", "yes.recall.lower")]
    assert [one.decision for one in decide(given_gates, figures)] == ["passed", "failed", "failed"]


@pytest.mark.parametrize("text", ["", "any", "any>", ">5%", "any>lots", "any=5%", "any>5%%"])
def test_what_is_no_condition_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"tool_call_failure>5%"):
        fail_on(text)


def test_a_figure_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="Known: tool_call_failure, nothing"):
        decide([fail_on("loops>5%")], FIGURES)

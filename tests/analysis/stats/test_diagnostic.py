"""Precision, recall and their kin on 2 x 2 tables."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats import diagnostic
from analysis.stats.diagnostic import Confusion, count_confusion
from harness.errors import UsageError

CASES = [
    case
    for case in json.loads((Path(__file__).parents[2] / "reference/stats.json").read_text())
    if case["quantity"] == "binary_confusion_metrics"
]
FUNCTIONS = {
    "accuracy": diagnostic.accuracy,
    "precision": diagnostic.precision,
    "recall": diagnostic.recall,
    "f1": diagnostic.f1,
    "specificity": diagnostic.specificity,
    "npv": diagnostic.negative_predictive_value,
    "mcc": diagnostic.matthews_correlation,
    "balanced_accuracy": diagnostic.balanced_accuracy,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_it_meets_the_reference_values(case: dict[str, Any]) -> None:
    for name, expected in case["expected"].items():
        estimate = FUNCTIONS[name](Confusion(**case["input"]))
        if isinstance(expected, dict):
            assert (estimate.value, estimate.reason) == (None, expected["nan_reason"])
        else:
            assert estimate.value == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_the_counts_add_up_to_the_items(pairs: list[tuple[bool, bool]]) -> None:
    table = count_confusion([gold for gold, _ in pairs], [answer for _, answer in pairs])
    assert table.n == len(pairs)
    assert table.tp + table.fn == sum(gold for gold, _ in pairs)
    assert table.tp + table.fp == sum(answer for _, answer in pairs)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_what_is_defined_lies_within_its_interval(tp: int, fp: int, fn: int, tn: int) -> None:
    for share in (diagnostic.precision, diagnostic.recall, diagnostic.specificity, diagnostic.accuracy):
        estimate = share(Confusion(tp, fp, fn, tn))
        if estimate.value is None:
            assert estimate.reason
        else:
            assert estimate.low is not None
            assert estimate.high is not None
            assert estimate.low - 1e-12 <= estimate.value <= estimate.high + 1e-12


def test_a_missing_answer_is_refused_and_not_left_out_in_silence() -> None:
    with pytest.raises(UsageError, match="None where an answer is yes or no"):
        count_confusion([True, False], [True, None])
    with pytest.raises(UsageError, match="None where an answer is yes or no"):
        count_confusion(["bug", "ok"], ["bug", None], positive="bug")

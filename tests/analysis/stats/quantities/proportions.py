"""Proportions and the tables behind them: input of a reference case → the fields that it expects."""

from collections.abc import Callable
from typing import Any

from analysis.stats import diagnostic
from analysis.stats.proportions import wilson
from tests.analysis.stats.quantities import Undefined, value_or_reason


def proportion(given: dict[str, Any]) -> dict[str, Any]:
    share = wilson(given["x"], given["n"], given["conf"])
    return {
        "estimate": value_or_reason(share.value, share.reason),
        "wilson": Undefined(share.reason) if share.low is None else [share.low, share.high],
    }


def confusion(given: dict[str, Any]) -> dict[str, Any]:
    table = diagnostic.Confusion(**given)
    measures = {
        "accuracy": diagnostic.accuracy,
        "precision": diagnostic.precision,
        "recall": diagnostic.recall,
        "f1": diagnostic.f1,
        "specificity": diagnostic.specificity,
        "npv": diagnostic.negative_predictive_value,
        "mcc": diagnostic.matthews_correlation,
        "balanced_accuracy": diagnostic.balanced_accuracy,
    }
    found = {name: measure(table) for name, measure in measures.items()}
    return {name: value_or_reason(estimate.value, estimate.reason) for name, estimate in found.items()}


QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "single_proportion_ci": proportion,
    "binary_confusion_metrics": confusion,
}

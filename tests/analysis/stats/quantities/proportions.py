"""Proportions and the tables behind them: input of a reference case → the fields that it expects."""

from collections.abc import Callable
from typing import Any

from analysis.stats import diagnostic
from analysis.stats.proportions import clopper_pearson, jeffreys, wilson
from tests.analysis.stats.quantities import limits, value_or_reason


def proportion(given: dict[str, Any]) -> dict[str, Any]:
    counts = given["x"], given["n"], given["conf"]
    share = wilson(*counts)
    return {
        "estimate": value_or_reason(share.value, share.reason),
        "wilson": limits(share),
        "clopper_pearson": limits(clopper_pearson(*counts)),
        "jeffreys": limits(jeffreys(*counts)),
    }


def lower_bound(given: dict[str, Any]) -> dict[str, Any]:
    return {"lower": clopper_pearson(given["x"], given["n"], given["conf"], side="lower").low}


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
    "clopper_pearson_one_sided_lower": lower_bound,
    "binary_confusion_metrics": confusion,
}

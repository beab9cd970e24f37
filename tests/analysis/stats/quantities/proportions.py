"""Proportions and the tables behind them: input of a reference case → the fields that it expects."""

from collections.abc import Callable
from typing import Any

import numpy as np

from misstep_analysis.stats import diagnostic
from misstep_analysis.stats.correction import rogan_gladen
from misstep_analysis.stats.decisions.thresholds import precision_floor, smallest_flagged
from misstep_analysis.stats.proportions import clopper_pearson, wilson
from tests.analysis.stats.quantities import Undefined, limits, value_or_reason


def proportion(given: dict[str, Any]) -> dict[str, Any]:
    counts = given["x"], given["n"], given["conf"]
    share = wilson(*counts)
    return {
        "estimate": value_or_reason(share.value, share.reason),
        "wilson": limits(share),
        "clopper_pearson": limits(clopper_pearson(*counts)),
    }


def lower_bound(given: dict[str, Any]) -> dict[str, Any]:
    return {"lower": clopper_pearson(given["x"], given["n"], given["conf"], side="lower").low}


def confusion(given: dict[str, Any]) -> dict[str, Any]:
    table = diagnostic.Confusion(**given)
    # Seen from the other class, the share of negative answers that are right is a precision, and specificity a recall.
    other = diagnostic.Confusion(tp=table.tn, fp=table.fn, fn=table.fp, tn=table.tp)
    results = {
        "accuracy": wilson(table.tp + table.tn, table.n),
        "precision": diagnostic.precision(table),
        "recall": diagnostic.recall(table),
        "f1": diagnostic.f1(table),
        "specificity": diagnostic.recall(other),
        "npv": diagnostic.precision(other),
    }
    return {name: value_or_reason(estimate.value, estimate.reason) for name, estimate in results.items()}


def several_labels(given: dict[str, Any]) -> dict[str, Any]:
    """Each class against all others; an average over classes of which one is undefined is undefined."""
    cells = np.array(given["table_rows_truth"])
    tables = [
        diagnostic.Confusion(
            tp=int(cells[at, at]),
            fp=int(cells[:, at].sum() - cells[at, at]),
            fn=int(cells[at].sum() - cells[at, at]),
            tn=int(np.delete(np.delete(cells, at, 0), at, 1).sum()),
        )
        for at in range(len(cells))
    ]
    measures = {"precision": diagnostic.precision, "recall": diagnostic.recall, "f1": diagnostic.f1}
    by_class = {name: [measure(table) for table in tables] for name, measure in measures.items()}
    defined = [one.value for one in by_class["f1"] if one.value is not None]
    return {
        "accuracy": np.trace(cells) / cells.sum(),
        **{name: [value_or_reason(one.value, one.reason) for one in result] for name, result in by_class.items()},
        **{f"macro_{name}": mean_of_all([one.value for one in result]) for name, result in by_class.items()},
        "macro_f1_defined_only": np.mean(defined),
        "weighted_f1": np.average([one.value or 0.0 for one in by_class["f1"]], weights=cells.sum(axis=1)),
    }


def mean_of_all(values: list[float | None]) -> float | Undefined:
    known = [value for value in values if value is not None]
    undefined = len(values) - len(known)
    return Undefined(f"{undefined} of {len(values)} classes undefined") if undefined else sum(known) / len(known)


def corrected(given: dict[str, Any]) -> dict[str, Any]:
    found = rogan_gladen(
        (given["positives"], given["n"]), (given["se_tp"], given["se_n"]), (given["sp_tn"], given["sp_n"])
    )
    if found.estimate.reason.endswith("the judge tells nothing"):
        raise ValueError(found.estimate.reason)  # the reference has no figure either
    return {
        "apparent": found.apparent,
        "raw": found.raw,
        "estimate": value_or_reason(found.estimate.value, found.estimate.reason),
        "se_delta": found.se,
        "lang_reiczigel_ci": np.clip(found.untruncated, 0, 1).tolist() if found.untruncated else limits(found.estimate),
        "lang_reiczigel_ci_untruncated": found.untruncated,
    }


def fixed_sequence(given: dict[str, Any]) -> dict[str, Any]:
    blocks = given["blocks_score_n_positives"]
    scores = [score for score, n, _ in blocks for _ in range(n)]
    labels = [place < positives for _, n, positives in blocks for place in range(n)]
    result = precision_floor(scores, labels, given["grid_in_test_order"], given["precision_floor"], given["conf"])
    return {
        "rows": [
            {
                "threshold": step.threshold,
                "n_flagged": step.flagged,
                "true_positives": step.true_positives,
                "precision": value_or_reason(step.precision.value, step.precision.reason),
                "lower_bound": value_or_reason(step.precision.low, step.precision.reason),
                "passes": step.passes,
                "tested": step.tested,
            }
            for step in result.steps
        ],
        "selected_threshold": result.selected,
        "naive_lowest_passing": result.lowest_passing,
    }


def fewest(given: dict[str, Any]) -> dict[str, Any]:
    return {"min_n": [smallest_flagged(given["precision_floor"], errors, given["conf"]) for errors in given["errors"]]}


QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "single_proportion_ci": proportion,
    "clopper_pearson_one_sided_lower": lower_bound,
    "binary_confusion_metrics": confusion,
    "multiclass_confusion_metrics": several_labels,
    "rogan_gladen": corrected,
    "precision_floor_fixed_sequence": fixed_sequence,
    "precision_floor_min_n": fewest,
}

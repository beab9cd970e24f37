"""Agreement of raters: input of a reference case → the fields that it expects."""

from collections.abc import Callable
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
from msgspec import structs

from misstep_analysis.stats.printed.audit import possible_dissents
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.agreement import Coefficient, cohen_kappa, fleiss_kappa, gwet_ac
from misstep_analysis.stats.raters.coefficients import NO_DISAGREEMENT, Level
from misstep_analysis.stats.raters.patterns import MISSING, IntArray, category_counts, contingency_table
from misstep_analysis.stats.resampling import bootstrap, percentile_interval
from tests.analysis.stats.quantities import Undefined, value_or_reason

RESAMPLES = 10_000


def matrix(ratings: list[list[Any]], scale: list[Any]) -> IntArray:
    """Ratings, items x raters with `None` for missing, as codes on a scale."""
    place = {value: code for code, value in enumerate(scale)}
    return np.array([[MISSING if value is None else place[value] for value in row] for row in ratings], dtype=np.int64)


def table_of(given: dict[str, Any]) -> Any:
    if "table" in given:
        return given["table"]
    scale = given.get("scale") or sorted({*given["rater_a"], *given["rater_b"]})
    place = {value: code for code, value in enumerate(scale)}
    first, second = (
        np.array([place[value] for value in given[rater]], dtype=np.int64) for rater in ("rater_a", "rater_b")
    )
    return contingency_table(first, second, len(scale))


def cohen(given: dict[str, Any]) -> dict[str, Any]:
    table = table_of(given)
    kappa = cohen_kappa(table, given["weights"])
    used = np.asarray(table).sum(axis=0) + np.asarray(table).sum(axis=1) > 0
    return {
        "kappa": value_or_reason(kappa.value, kappa.reason),
        "p_observed": kappa.observed,
        "p_expected": kappa.expected,
        "se": kappa.se,
        "se_null": kappa.se_null,
        "ci": kappa.z_interval(),
        "kappa_if_unused_category_dropped": cohen_kappa(np.asarray(table)[used][:, used], given["weights"]).value,
    }


def fleiss(given: dict[str, Any]) -> dict[str, Any]:
    counts = given.get("counts")
    if counts is None:
        counts = category_counts(matrix(given["ratings"], given["categories"]), len(given["categories"]))
    kappa = fleiss_kappa(counts)
    return {
        "kappa": value_or_reason(kappa.overall.value, kappa.overall.reason),
        "p_bar": kappa.overall.observed,
        "p_a": kappa.overall.observed,
        "p_e": kappa.overall.expected,
        "se_null": kappa.overall.se_null,
        "se_sampling": kappa.overall.se,
        "z": kappa.z,
        "per_category_kappa": kappa.by_category,
        "per_category_se_null": kappa.by_category_se_null,
    }


def krippendorff_alpha(
    counts: IntArray, level: Level = "nominal", values: Any = None, items: IntArray | None = None
) -> Coefficient:
    """Alpha with its parts, as the report of agreement has it from `coefficients.disagreements`."""
    cells = np.asarray(counts)
    times = np.ones(len(cells)) if items is None else np.asarray(items, dtype=np.float64)
    numbers = np.arange(cells.shape[1], dtype=np.float64) if values is None else np.asarray(values, dtype=np.float64)
    observed, expected = (float(one[0]) for one in coefficients.disagreements(times[None, :], cells, level, numbers))
    ratings = cells.sum(axis=1)
    n = int((times * ratings)[ratings >= 2].sum())
    if not n:
        raise ValueError("no item has two ratings")
    if not expected:
        return Coefficient(None, observed, expected, n=n, reason=NO_DISAGREEMENT)
    return Coefficient(1 - observed / expected, observed, expected, n=n)


def alpha(given: dict[str, Any]) -> dict[str, Any]:
    values = given["values"]
    counts = category_counts(matrix(given["ratings"], values), len(values))
    result = krippendorff_alpha(counts, given["level"], values)
    return {
        "alpha": value_or_reason(result.value, result.reason),
        "D_observed": result.observed,
        "D_expected": result.expected,
        "n_pairable": result.n,
    }


def gwet(given: dict[str, Any]) -> dict[str, Any]:
    counts = given.get("counts")
    if counts is None:
        counts = category_counts(matrix(given["ratings"], given["categories"]), len(given["categories"]))
    return coefficient_fields(gwet_ac(counts, given.get("weights", "unweighted")))


def gwet_of_table(given: dict[str, Any]) -> dict[str, Any]:
    """The errors of two raters' coefficients divide by n, not by n - 1 (Gwet 2008)."""
    cells = np.array(given["table"])
    rows, columns = np.nonzero(cells)
    one_hot = np.eye(len(cells), dtype=np.int64)
    counts, items = one_hot[rows] + one_hot[columns], cells[rows, columns]
    by_n = sqrt((cells.sum() - 1) / cells.sum())
    result = gwet_ac(counts, items=items)
    return coefficient_fields(structs.replace(result, se=None if result.se is None else result.se * by_n))


def coefficient_fields(gwets: Coefficient) -> dict[str, Any]:
    return {
        "p_a": gwets.observed,
        "p_e": gwets.expected,
        "ac1": gwets.value,
        "ac2": gwets.value,
        "se": gwets.se,
        "ci_t": gwets.t_interval(),
    }


def pattern_arrays(given: dict[str, Any]) -> tuple[IntArray, IntArray, int]:
    codes = np.array([pattern["labels"] for pattern in given["patterns"]], dtype=np.int64)
    items = np.array([pattern["items"] for pattern in given["patterns"]], dtype=np.int64)
    return codes, items, int(codes.max()) + 1


def pairs_of(codes: IntArray) -> dict[str, tuple[int, int]]:
    return {f"A{a + 1}_A{b + 1}": (a, b) for a, b in combinations(range(codes.shape[1]), 2)}


def study(given: dict[str, Any]) -> dict[str, Any]:
    codes, items, categories = pattern_arrays(given)
    counts = category_counts(codes, categories)
    kappas = {
        name: cohen_kappa(contingency_table(codes[:, a], codes[:, b], categories, items))
        for name, (a, b) in pairs_of(codes).items()
    }
    kappa = fleiss_kappa(counts, items)
    return {
        "agreement": {name: kappa.observed for name, kappa in kappas.items()}
        | {
            "mean_pairwise": kappa.overall.observed,
            "all_three": items[counts.max(axis=1) == codes.shape[1]].sum() / items.sum(),
        },
        "cohen": {name: kappa.value for name, kappa in kappas.items()},
        "fleiss": kappa.overall.value,
        "krippendorff_nominal": krippendorff_alpha(counts, items=items).value,
        "gwet_ac1": gwet_ac(counts, items=items).value,
        "category_totals": (items @ counts).tolist(),
    }


def structure(given: dict[str, Any]) -> dict[str, Any]:
    n, disagreements = given["n_items"], given["pair_disagreements"]
    (only,) = possible_dissents(n, disagreements["A1_A2"], disagreements["A1_A3"], disagreements["A2_A3"])
    return {
        "unanimous_items": only.unanimous,
        "items_A1_alone": only.alone[0],
        "items_A2_alone": only.alone[1],
        "items_A3_alone": only.alone[2],
        "items_all_different": only.all_different,
        "raw_agreement_percent": [round(100 * (1 - count / n), 1) for count in disagreements.values()],
    }


def resampled(given: dict[str, Any]) -> dict[str, Any]:
    codes, items, categories = pattern_arrays(given)
    counts = category_counts(codes, categories)
    rng = np.random.default_rng(0)
    values = {"fleiss": bootstrap(lambda sets: coefficients.fleiss(sets, counts), items, RESAMPLES, rng)}
    for name, (a, b) in pairs_of(codes).items():
        first, second = codes[:, a], codes[:, b]
        values[f"cohen_{name}"] = bootstrap(
            lambda sets, first=first, second=second: coefficients.cohen(sets, first, second, categories),
            items,
            RESAMPLES,
            rng,
        )
    undefined = sum(int(np.isnan(drawn).sum()) for drawn in values.values())
    if undefined == RESAMPLES * len(values):
        return {"se": Undefined(f"undefined in all {RESAMPLES} resamples")}
    return {
        "se": {name: np.nanstd(drawn, ddof=1) for name, drawn in values.items()},
        "percentile_ci_95": {name: percentile_interval(drawn) for name, drawn in values.items()},
    }


def asymptotic(given: dict[str, Any]) -> dict[str, Any]:
    codes, items, categories = pattern_arrays(given)
    return {
        "cohen_se": {
            name: cohen_kappa(contingency_table(codes[:, a], codes[:, b], categories, items)).se
            for name, (a, b) in pairs_of(codes).items()
        }
    }


QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "cohen_kappa": cohen,
    "fleiss_kappa": fleiss,
    "fleiss_kappa_sampling_se": fleiss,
    "fleiss_kappa_missing": fleiss,
    "krippendorff_alpha": alpha,
    "gwet_ac1": gwet,
    "gwet_ac2": gwet,
    "gwet_ac1_counts": gwet,
    "gwet_ac1_table": gwet_of_table,
    "annotation_study_exemplar": study,
    "annotation_study_structure": structure,
    "bootstrap_kappa_multinomial": resampled,
    "asymptotic_kappa_se": asymptotic,
}

"""Comparisons of two samples and of several tests: input of a reference case → the fields that it expects."""

from collections.abc import Callable
from typing import Any

from misstep_analysis.stats.clusters import paired
from misstep_analysis.stats.clusters.paired import PairedTable
from misstep_analysis.stats.decisions.incidence import cumulative_incidence
from misstep_analysis.stats.printed import two_proportions
from misstep_analysis.stats.printed.usual_tests import unpooled_p_values, yates_p_values
from misstep_analysis.stats.significance import holm
from tests.analysis.stats.quantities import limits, value_or_reason


def two_samples(given: dict[str, Any]) -> dict[str, Any]:
    samples = given["x1"], given["n1"], given["x2"], given["n2"]
    newcombe, pooled = two_proportions.newcombe(*samples), two_proportions.pooled_z(*samples)
    unpooled, yates = (float(test(*samples)) for test in (unpooled_p_values, yates_p_values))
    return {
        "p1": given["x1"] / given["n1"],
        "p2": given["x2"] / given["n2"],
        "diff": newcombe.value,
        "z_pooled": value_or_reason(pooled.statistic, pooled.reason),
        "p_pooled": pooled.p_value,
        "p_unpooled": unpooled,
        "p_yates": yates,
        "newcombe_ci": limits(newcombe),
    }


def fisher(given: dict[str, Any]) -> dict[str, Any]:
    (a, b), (c, d) = given["table"]
    return {
        name.replace("-", "_"): two_proportions.fisher_exact(a, a + b, c, c + d, name).p_value
        for name in ("two-sided", "less", "greater")
    }


def mcnemar(given: dict[str, Any]) -> dict[str, Any]:
    (both, first), (second, neither) = given["table"]
    table = PairedTable(both, first, second, neither)
    return {
        "mid_p": paired.mcnemar_mid_p(table).p_value,
        "diff": paired.paired_difference(table).value,
        "se_diff": paired.paired_error(table),
    }


def several(given: dict[str, Any]) -> dict[str, Any]:
    p_values = holm(given["p"]).p_values
    return {
        "holm": [value_or_reason(p, "no p-value was given") for p in p_values],
        "rejected_holm": sum(p is not None and p <= given["alpha"] for p in p_values),
    }


def incidence(given: dict[str, Any]) -> dict[str, Any]:
    times, events = given.get("time"), given.get("status")
    if times is None:
        rest = given["rest"]
        times = given["time_first_9"] + [rest["time"]] * rest["n"]
        events = given["status_first_9"] + [rest["status"]] * rest["n"]
    result = cumulative_incidence(times, events, causes=2)
    return {
        "times": result.times.tolist(),
        "at_risk": result.at_risk.tolist(),
        "cif_1": result.incidence[0].tolist(),
        "cif_2": result.incidence[1].tolist(),
        "survival": result.event_free.tolist(),
        "one_minus_km_treating_cause2_as_censored": result.one_minus_kaplan_meier[-1:].sum(),
        "note": result.reason,
    }


QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "two_proportion_test": two_samples,
    "fisher_exact": fisher,
    "mcnemar": mcnemar,
    "multiplicity": several,
    "cumulative_incidence": incidence,
    "cumulative_incidence_published": incidence,
}

"""Comparisons of two samples and of several tests: input of a reference case → the fields that it expects."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower

from misstep.analysis.stats.clusters import paired
from misstep.analysis.stats.clusters.paired import PairedTable
from misstep.analysis.stats.decisions.incidence import cumulative_incidence
from misstep.analysis.stats.printed import two_proportions
from misstep.analysis.stats.significance import holm
from tests.analysis.stats.alternatives import differences
from tests.analysis.stats.alternatives.two_samples import cliffs_delta, mann_whitney, welch
from tests.analysis.stats.quantities import Undefined, limits, value_or_reason
from tests.analysis.stats.quantities.formulas import cohen_h, power_two_proportions, sample_size_two_proportions
from tests.analysis.stats.quantities.ideal_bootstrap import ideal_mean, resampled_sums


def two_samples(given: dict[str, Any]) -> dict[str, Any]:
    samples = given["x1"], given["n1"], given["x2"], given["n2"]
    newcombe, wald = two_proportions.newcombe(*samples), differences.wald(*samples)
    pooled, unpooled = two_proportions.pooled_z(*samples), differences.unpooled_z(*samples)
    chi2, yates = differences.chi_squared(*samples), differences.chi_squared(*samples, yates=True)
    return {
        "p1": given["x1"] / given["n1"],
        "p2": given["x2"] / given["n2"],
        "diff": newcombe.value,
        "z_pooled": value_or_reason(pooled.statistic, pooled.reason),
        "p_pooled": pooled.p_value,
        "z_unpooled": value_or_reason(unpooled.statistic, unpooled.reason),
        "p_unpooled": unpooled.p_value,
        "chi2": chi2.statistic,
        "chi2_yates": yates.statistic,
        "p_yates": yates.p_value,
        "newcombe_ci": limits(newcombe),
        "wald_ci": limits(wald),
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
    asymptotic = differences.mcnemar_asymptotic(table)
    return {
        "exact": differences.mcnemar_exact(table).p_value,
        "mid_p": paired.mcnemar_mid_p(table).p_value,
        "z": value_or_reason(asymptotic.statistic, asymptotic.reason),
        "asymptotic_p": asymptotic.p_value,
        "cc_p": differences.mcnemar_asymptotic(table, corrected=True).p_value,
        "diff": paired.paired_difference(table).value,
        "se_diff": paired.paired_error(table),
    }


def pairs(given: dict[str, Any]) -> dict[str, Any]:
    signs = {"plus": 1, "minus": -1, "zero": 0}
    differences = given.get("paired_differences") or [
        signs[sign] for sign, count in given["counts"].items() for _ in range(count)
    ]
    ideal = resampled_sums(np.array(differences)[:, None])
    n = len(differences)
    counts = ideal.probabilities * float(n) ** n
    mean, error = ideal.mean_and_error(ideal.sums[:, 0] / n)
    return {
        "mean": mean,
        "ideal_bootstrap_se": error,
        "P_star_le_0": float(ideal.probabilities[ideal.sums[:, 0] <= 0].sum()),
        "distribution": {
            str(Fraction(int(total), n)): count for total, count in zip(ideal.sums[:, 0], counts, strict=True)
        },
    }


def several(given: dict[str, Any]) -> dict[str, Any]:
    """Benjamini and Hochberg's adjustment is statsmodels': no page of Misstep shows it."""
    step_down, known = holm(given["p"]).p_values, [p for p in given["p"] if p is not None]
    of_known = iter(multipletests(known, method="fdr_bh")[1].tolist() if known else ())
    step_up = [None if p is None else next(of_known) for p in given["p"]]
    return {
        "holm": adjusted(step_down),
        "bh": adjusted(step_up),
        "rejected_holm": rejected(step_down, given["alpha"]),
        "rejected_bh": rejected(step_up, given["alpha"]),
    }


def adjusted(p_values: Sequence[float | None]) -> list[float | Undefined]:
    return [value_or_reason(p, "no p-value was given") for p in p_values]


def rejected(p_values: Sequence[float | None], alpha: float) -> int:
    return sum(p is not None and p <= alpha for p in p_values)


def mean_of_whole_numbers(given: dict[str, Any]) -> dict[str, Any]:
    found = ideal_mean(np.array(given["x"]), given["conf"])
    return {
        "mean": found.mean,
        "acceleration": found.acceleration,
        "z0_mid": found.bias_correction,
        "ideal_percentile_ci": list(found.percentile),
        "ideal_bca_ci": Undefined("no variance: the acceleration is 0/0") if found.bca is None else list(found.bca),
        "ideal_se": found.se,
    }


def means(given: dict[str, Any]) -> dict[str, Any]:
    found = welch(given["x"], given["y"])
    return {
        "t": value_or_reason(found.test.statistic, found.test.reason),
        "df": found.degrees,
        "p": found.test.p_value,
        "diff": found.difference.value,
        "ci": limits(found.difference),
    }


def ranks(given: dict[str, Any]) -> dict[str, Any]:
    found, delta = mann_whitney(given["x"], given["y"]), cliffs_delta(given["x"], given["y"]).value
    assert delta is not None
    asymptotic = value_or_reason(found.asymptotic.p_value, found.asymptotic.reason)
    return {
        "U_x": found.u,
        "p_exact_two_sided": found.two_sided.p_value,
        "p_exact_greater": found.greater.p_value,
        "p_exact_less": found.less.p_value,
        "cliffs_delta": delta,
        "prob_superiority": (delta + 1) / 2,
        "p_asymptotic_cc_two_sided": asymptotic,
        "p_asymptotic": asymptotic,
    }


def incidence(given: dict[str, Any]) -> dict[str, Any]:
    times, events = given.get("time"), given.get("status")
    if times is None:
        rest = given["rest"]
        times = given["time_first_9"] + [rest["time"]] * rest["n"]
        events = given["status_first_9"] + [rest["status"]] * rest["n"]
    found = cumulative_incidence(times, events, causes=2)
    return {
        "times": found.times.tolist(),
        "at_risk": found.at_risk.tolist(),
        "cif_1": found.incidence[0].tolist(),
        "cif_2": found.incidence[1].tolist(),
        "survival": found.event_free.tolist(),
        "one_minus_km_treating_cause2_as_censored": found.one_minus_kaplan_meier[-1:].sum(),
        "note": found.reason,
    }


def power(given: dict[str, Any]) -> dict[str, Any]:
    found = power_two_proportions(given["n_per_arm"], given["p1"], given["p2"], given["alpha"], given["sides"])
    return {"power": found}


def arcsine_power(given: dict[str, Any]) -> dict[str, Any]:
    alternative = "larger" if given["sides"] == 1 else "two-sided"
    test = NormalIndPower()
    return {"power": test.power(given["cohen_h"], given["n_per_arm"], given["alpha"], alternative=alternative)}


def effect(given: dict[str, Any]) -> dict[str, Any]:
    return {"h": cohen_h(given["p1"], given["p2"])}


def size(given: dict[str, Any]) -> dict[str, Any]:
    exact, whole = sample_size_two_proportions(given["p1"], given["p2"], given["power"], given["alpha"], given["sides"])
    return {"n_per_arm": exact, "n_per_arm_integer": whole}


QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "two_proportion_test": two_samples,
    "fisher_exact": fisher,
    "mcnemar": mcnemar,
    "paired_bootstrap": pairs,
    "multiplicity": several,
    "bootstrap_bca_mean": mean_of_whole_numbers,
    "welch_t": means,
    "mann_whitney": ranks,
    "cumulative_incidence": incidence,
    "cumulative_incidence_published": incidence,
    "power_two_proportions": power,
    "power_two_proportions_arcsine": arcsine_power,
    "cohen_h": effect,
    "sample_size_two_proportions": size,
}

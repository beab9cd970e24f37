"""Clusters, tasks and intraclass correlation: input of a reference case → the fields that it expects."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from misstep_analysis.stats.clusters.clustered import clustered_difference
from misstep_analysis.stats.decisions.power import design_effect, tolerated_design_effect, tolerated_icc
from misstep_analysis.stats.pass_at_k import mean_over_tasks, pass_at_k, pass_hat_k
from misstep_analysis.stats.printed.two_proportions import pooled_z
from tests.analysis.stats.quantities import limits, value_or_reason


def two_arms(given: dict[str, Any]) -> dict[str, Any]:
    """The cases take arm 1 less arm 0, which is our first less our second."""
    rows = np.array(given["rows_arm_cluster_successes_trials"])
    control, treated = (rows[rows[:, 0] == arm][:, 2:] for arm in (0, 1))
    result = clustered_difference(treated, control, 1 - given["alpha"])
    naive = pooled_z(*treated.sum(axis=0).tolist(), *control.sum(axis=0).tolist())
    return {
        "p0": result.shares[1],
        "p1": result.shares[0],
        "diff": result.difference.value,
        "se_cluster": value_or_reason(result.se, result.difference.reason),
        "z_cluster": result.test.statistic,
        "p_cluster": result.test.p_value,
        "ci": limits(result.difference),
        "design_effect_arm0": result.design_effects[1],
        "design_effect_arm1": result.design_effects[0],
        "clusters": list(result.clusters[::-1]),
        "se_cluster_small_sample_corrected": result.se_regression,
        "z_naive_pooled": naive.statistic,
    }


def sensitivity(given: dict[str, Any]) -> dict[str, Any]:
    z = pooled_z(given["x1"], given["n1"], given["x2"], given["n2"]).statistic
    assert z is not None
    size = (given["n1"] + given["n2"]) / (given["clusters1"] + given["clusters2"])
    return {
        "mean_cluster_size": size,
        "deff_at_which_p_equals_alpha": [tolerated_design_effect(z, alpha) for alpha in given["alphas"]],
        "icc_at_which_p_equals_alpha": [tolerated_icc(z, alpha, size) for alpha in given["alphas"]],
        "adjusted_z_at_icc": {icc: abs(z) / sqrt(design_effect(size, float(icc))) for icc in ("0.05", "0.20")},
    }


def one_task(given: dict[str, Any]) -> dict[str, Any]:
    some, every = (function(given["n"], given["c"], given["k"]) for function in (pass_at_k, pass_hat_k))
    return {
        "pass_at_k": float(some),
        "pass_at_k_fraction": f"{some.numerator}/{some.denominator}",
        "pass_hat_k": float(every),
        "pass_hat_k_fraction": f"{every.numerator}/{every.denominator}",
    }


def tasks(given: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    some = mean_over_tasks(given["tasks_n_c"], given["k"], rng)
    every = mean_over_tasks(given["tasks_n_c"], given["k"], rng, "pass^k")
    return {
        "mean_pass_at_k": some.mean.value,
        "mean_pass_hat_k": every.mean.value,
        "ideal_bootstrap_se_over_tasks": some.se,
    }


QUANTITIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "cluster_robust_two_proportion": two_arms,
    "design_effect_sensitivity": sensitivity,
    "pass_at_k": one_task,
    "pass_at_k_mean": tasks,
}

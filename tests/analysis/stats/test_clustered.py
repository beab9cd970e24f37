"""Resampling whole clusters."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.stats.clustered import cluster_bootstrap

CASES = [
    case
    for case in json.loads((Path(__file__).parents[2] / "reference/stats.json").read_text())
    if case["quantity"] == "cluster_bootstrap" and "clusters_successes_trials" in case["input"]
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_mean_and_error_of_a_ratio_of_sums_meet_the_full_enumeration(case: dict[str, Any]) -> None:
    clusters = np.array(case["input"]["clusters_successes_trials"])
    rng = np.random.default_rng(0)
    drawn = cluster_bootstrap(lambda sums: sums[:, 0] / sums[:, 1], clusters, case["tolerance"]["mc_B"], rng)
    expected = case["expected"]
    assert drawn.std() == pytest.approx(expected["ideal_cluster_bootstrap_se"], rel=case["tolerance"]["mc_rel_se"])


def test_one_cluster_gives_the_same_value_each_time() -> None:
    drawn = cluster_bootstrap(lambda sums: sums[:, 0], np.array([[3, 4]]), 50, np.random.default_rng(0))
    assert set(drawn) == {3.0}


def test_the_same_seed_draws_the_same_resamples() -> None:
    clusters = np.arange(12).reshape(6, 2)
    one, other = (cluster_bootstrap(lambda sums: sums[:, 0], clusters, 100, np.random.default_rng(4)) for _ in range(2))
    assert (one == other).all()

"""Strengths of systems: closed forms, logistic regression of another library, and what has no finite answer."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from misstep_analysis.stats.bradley_terry import SPLIT, Comparisons, bradley_terry, clustered_strengths
from misstep_analysis.stats.clusters.clustered import ONE_CLUSTER


def test_of_two_systems_the_strengths_are_the_log_odds_of_their_wins() -> None:
    first, second = bradley_terry(np.array([[[0, 30], [12, 0]]]))[0]
    assert first - second == pytest.approx(np.log(30 / 12))
    assert first + second == pytest.approx(0)


def test_systems_that_cannot_be_compared_with_finite_strengths_have_none() -> None:
    never_beaten = [[0, 2, 2], [0, 0, 1], [0, 1, 0]]
    never_met = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    in_a_circle = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    result = bradley_terry(np.array([never_beaten, never_met, in_a_circle], dtype=np.float64))
    assert np.isnan(result[:2]).all()
    assert result[2] == pytest.approx([0, 0, 0])


@settings(deadline=None)
@given(arrays(np.int64, (4, 4), elements=st.integers(0, 40)), st.permutations(range(4)))
def test_each_system_has_the_points_that_the_model_expects_whatever_the_order(wins, order) -> None:
    wins = (wins + 0.5) * (1 - np.eye(4))
    (strengths,) = bradley_terry(wins[None])
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    assert wins.sum(axis=1) == pytest.approx(((wins + wins.T) * chance * (1 - np.eye(4))).sum(axis=1), abs=1e-6)
    (turned,) = bradley_terry(wins[np.ix_(order, order)][None])
    assert turned == pytest.approx(strengths[list(order)], abs=1e-7)


def compared(systems: int, tasks: int, seed: int) -> Comparisons:
    rng = np.random.default_rng(seed)
    sides = np.array([pair for _ in range(tasks) for pair in combinations(range(systems), 2)])
    points = rng.choice([0.0, 0.5, 1.0], len(sides), p=[0.3, 0.1, 0.6])
    return Comparisons(sides[:, 0], sides[:, 1], points, np.repeat(np.arange(tasks), len(sides) // tasks), systems)


def test_strengths_and_their_errors_are_those_of_a_logistic_regression_with_clustered_errors() -> None:
    import statsmodels.api as sm

    data = compared(4, 25, 3)
    result = clustered_strengths(data)
    design = np.eye(4)[data.first] - np.eye(4)[data.second]
    model = sm.GLM(data.points, design[:, 1:], family=sm.families.Binomial())
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": data.clusters, "use_correction": False})
    assert result.values - result.values[0] == pytest.approx([0, *fit.params], abs=1e-6)
    estimate, test = result.difference(2, 0)
    error = fit.bse[1] * np.sqrt(25 / 24)
    assert test.statistic == pytest.approx(fit.params[1] / error)
    assert ((estimate.high or 0) - (estimate.low or 0)) / 2 == pytest.approx(2.0638985616 * error)


def test_without_a_spread_over_clusters_there_is_no_interval() -> None:
    data = compared(3, 1, 0)
    one = clustered_strengths(Comparisons(data.first[:2], data.second[:2], np.array([0.5, 0.5]), data.clusters[:2], 3))
    assert one.of(0).reason == ONE_CLUSTER
    split = clustered_strengths(Comparisons(data.first[:2], data.second[:2], np.ones(2), data.clusters[:2], 3))
    assert (split.of(0).value, split.of(0).reason) == (None, SPLIT)

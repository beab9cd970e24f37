"""What is sampled: items, or the clusters by which they hang together."""

import numpy as np
import pytest
from scipy.stats import t as student

from misstep_analysis.judging.units import JudgedUnits, drawn_totals, resampled_estimate, units_of
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.proportions import clopper_pearson, wilson
from misstep_analysis.tables.wording import with_interval

ITEMS = ["a", "b", "c", "d", "e"]
CLUSTERS = {"a": "run 1", "b": "run 1", "c": "run 2", "d": "run 2"}


def test_clusters_are_the_units_where_two_items_share_one() -> None:
    units = units_of(ITEMS, CLUSTERS)
    assert (units.of_item.tolist(), units.count, units.clustered, units.name) == (
        [0, 0, 1, 1, 2],
        3,
        True,
        "3 clusters",
    )
    alone = units_of(ITEMS, {item: f"run {item}" for item in ITEMS})
    assert (alone.count, alone.clustered, alone.name) == (5, False, "items")


def test_some_of_the_items_keep_their_units_and_empty_ones_go() -> None:
    some = units_of(ITEMS, CLUSTERS).only(np.array([False, False, True, True, True]))
    assert (some.of_item.tolist(), some.count, some.clustered) == ([0, 0, 1], 2, True)


def test_totals_add_up_by_unit() -> None:
    units = units_of(ITEMS, CLUSTERS)
    assert units.totals([1, 2, 3, 4, 5]).tolist() == [3, 7, 5]
    assert units.totals(np.array([[1, 0], [2, 1], [3, 0], [4, 0], [5, 1]])).tolist() == [[3, 1], [7, 0], [5, 1]]


def test_a_share_is_wilsons_over_items_and_korn_and_graubards_over_clusters() -> None:
    part, whole = np.array([1, 0, 1, 1, 1], dtype=bool), np.array([1, 1, 1, 1, 0], dtype=bool)
    assert units_of(ITEMS).share(part, whole, "none") == wilson(3, 4)
    many = {f"{item}{copy}": f"run {copy}" for item in ITEMS for copy in range(5)}
    of_runs = units_of(list(many), many).share(np.repeat(part, 5), np.repeat(whole, 5), "none")
    assert of_runs == korn_graubard([[3, 4]] * 5)
    nothing = units_of(ITEMS).share(part, np.zeros(5, dtype=bool), "no items")
    assert (nothing.value, nothing.reason) == (None, "no items")


def test_clusters_that_are_all_alike_count_as_one_observation_each() -> None:
    everything = np.ones(10, dtype=bool)
    items = {f"{item}{copy}": f"x{copy}" for item in "ab" for copy in range(5)}
    share = units_of(list(items), items).share(everything, everything, "")
    assert (share.value, share.low, share.n) == (1.0, clopper_pearson(5, 5).low, 10)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["task p", "task q"], "2 tasks are too few"),
        (["cluster task p", "cluster task q"], "2 tasks are too few"),
        (["run p"], "1 run is too few"),
        (["p", "run q", "task r", "s"], "4 clusters are too few"),
    ],
)
def test_fewer_than_five_clusters_have_figures_and_no_interval(names: list[str], reason: str) -> None:
    items = {f"{name} {place}": name for name in names for place in range(4)}
    units, values = units_of(list(items), items), np.arange(float(len(items)))
    part = values % 2 == 0
    share, mean = units.share(part, None, ""), units.mean(values, "")
    [again] = units.resampled(lambda sums: sums[:, :1] / len(items), values[:, None], [""], 50)
    for one in (share, mean, again):
        assert (one.low, one.high, one.reason) == (None, None, reason)
        assert one.value is not None
    assert with_interval(share, "share") == f"50.0% (no 95% interval: {reason})"


def test_items_of_few_clusters_have_no_interval_though_all_together_have_one() -> None:
    items = {f"{run} {place}": f"run {run}" for run in range(6) for place in range(4)}
    units, few = units_of(list(items), items), np.array([name < "3" for name in items])
    assert units.share(np.arange(24) % 3 == 0, None, "").low is not None
    assert units.share(np.arange(24) % 3 == 0, few, "").reason == "3 runs are too few"


def test_a_mean_carries_students_interval() -> None:
    values = np.array([1.0, 4.0, 2.0, 8.0, 5.0])
    mean = units_of(ITEMS).mean(values, "none")
    half = student.ppf(0.975, 4) * values.std(ddof=1) / np.sqrt(5)
    assert (mean.value, mean.low, mean.high) == (4.0, pytest.approx(4 - half), pytest.approx(4 + half))
    assert units_of([]).mean(np.array([]), "none").reason == "none"


def test_items_said_again_in_their_cluster_do_not_narrow_a_mean() -> None:
    values = np.array([1.0, 4.0, 2.0, 8.0, 5.0])
    once = units_of(ITEMS).mean(values, "none")
    twice = JudgedUnits(np.tile(np.arange(5), 2), 5, True).mean(np.tile(values, 2), "none")
    assert (twice.low, twice.n) == (pytest.approx(once.low), 10)


@pytest.mark.parametrize("different", [True, False])
def test_resamples_spread_as_a_mean_does_whether_units_are_alike_or_not(different: bool) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=400) if different else rng.integers(3, size=400).astype(float)
    drawn = drawn_totals(lambda sums: sums / 400, values[:, None], 4_000, np.random.default_rng(2))
    assert drawn.shape == (4_000, 1)
    assert drawn.mean() == pytest.approx(values.mean(), abs=0.01)
    assert drawn.std() == pytest.approx(values.std() / 20, rel=0.05)


def test_many_units_get_fewer_resamples_and_the_method_says_how_many() -> None:
    units = units_of([f"i{place}" for place in range(12_000)])
    values = np.random.default_rng(3).normal(size=(12_000, 1))
    (mean,) = units.resampled(lambda sums: sums / 12_000, values, ["none"])
    assert mean.method == "percentile bootstrap, 833 resamples of items"


def test_resamples_that_are_all_alike_give_a_value_without_an_interval_and_say_why() -> None:
    alike = resampled_estimate(0.5, np.full(100, 0.5), 7, "3 clusters")
    assert (alike.value, alike.low, alike.high, alike.n) == (0.5, None, None, 7)
    assert "says nothing of the uncertainty" in alike.reason
    assert alike.method == "percentile bootstrap, 100 resamples of 3 clusters"
    apart = resampled_estimate(0.5, np.array([0.4, 0.6]), 7, "items")
    assert None not in (apart.low, apart.high)

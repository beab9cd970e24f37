"""The simulation of shadow mode: arms of the printed sizes, a known correlation, tests that behave as they should."""

import numpy as np
import pytest

from misstep.analysis.papers.wink import simulation as wink_simulation
from misstep.analysis.papers.wink.simulation import CLUSTERED, NAIVE, Arm, Spread, draw_arm, rejections

ARM = Arm(items=600, clusters=120, chance=0.2)


@pytest.mark.parametrize("spread", ["equal", "unequal"])
@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_an_arm_has_its_items_and_clusters_and_no_empty_cluster(spread: Spread, correlation: float) -> None:
    drawn = draw_arm(ARM, correlation, spread, np.random.default_rng(1), samples=7)
    assert drawn.shape == (7, ARM.clusters, 2)
    assert (drawn[..., 1].sum(axis=1) == ARM.items).all()
    assert (drawn[..., 1] >= 1).all()
    assert (drawn[..., 0] <= drawn[..., 1]).all()


def test_items_of_a_cluster_correlate_as_asked() -> None:
    (drawn,) = draw_arm(Arm(40_000, 4_000, 0.3), 0.25, "equal", np.random.default_rng(2), samples=1)
    shares, size = drawn[:, 0] / drawn[:, 1], drawn[:, 1].mean()
    between, within = size * shares.var(ddof=1), (size * shares * (1 - shares)).mean() / (size - 1)
    # The standard error of the correlation of so many clusters is about 0.01.
    assert (between - within) / (between + (size - 1) * within) == pytest.approx(0.25, abs=0.02)


def test_the_naive_test_is_too_eager_where_items_hang_together_and_the_clustered_one_is_not() -> None:
    result = rejections((ARM, ARM), 0.5, "unequal", np.random.default_rng(3), samples=400)
    assert result[NAIVE] > 80
    assert 4 <= result[CLUSTERED] <= 40


def test_independent_items_make_both_tests_sound() -> None:
    result = rejections((ARM, ARM), 0.0, "equal", np.random.default_rng(4), samples=400)
    assert all(4 <= count <= 40 for count in result.values())


def test_the_finding_names_the_spread_of_the_worst_setting() -> None:
    table = wink_simulation.false_alarm_table(5, samples=60)
    worst = max((row for row in table.rows if NAIVE in row.group), key=lambda row: float(row.value or 0))
    assert f"trajectories of {worst.group.removeprefix(f'{NAIVE}, ')}" in table.finding


def test_the_tables_say_seed_and_n_and_come_out_the_same_again() -> None:
    table = wink_simulation.false_alarm_table(5, samples=20)
    assert table == wink_simulation.false_alarm_table(5, samples=20)
    assert {row.evidence for row in table.rows} == {"generated"}
    assert {row.source for row in table.rows} == {"generated, seed 5, n 20"}
    assert {row.quantity for row in table.rows} == set(wink_simulation.places())
    power = wink_simulation.power_table(5, samples=20)
    assert len(power.rows) == len(wink_simulation.CORRELATIONS)

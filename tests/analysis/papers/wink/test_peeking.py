"""Looking every day: what it does to errors, and what an always-valid rule costs."""

import numpy as np
import pytest

from misstep.analysis.papers.wink import peeking


def test_a_look_gives_the_difference_of_means_and_its_error() -> None:
    differences, errors = peeking.looks(-0.2, np.random.default_rng(0), samples=300)
    assert differences.shape == errors.shape == (300, 15)
    expected = -0.2 * np.exp(peeking.SIGMA**2 / 2)
    assert differences[:, -1].mean() == pytest.approx(expected, abs=0.01)
    assert differences[:, -1].std() == pytest.approx(errors[:, -1].mean(), rel=0.1)


def test_a_rule_stops_at_its_first_day() -> None:
    differences = np.array([[0.0, 5.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
    result = peeking.stopped(differences, np.ones((3, 3)))
    assert result[peeking.PEEKING].tolist() == [2, np.inf, 3]
    assert result[peeking.FIXED].tolist() == [np.inf, np.inf, 3]
    assert result[peeking.ALWAYS].tolist() == [2, np.inf, 3]


def test_peeking_errs_far_above_the_level_and_the_other_rules_do_not() -> None:
    shares = peeking.stops(0.0, seed=1, samples=400).shares
    assert shares[peeking.PEEKING].low > 0.12
    assert shares[peeking.FIXED].low < 0.05 < shares[peeking.FIXED].high
    assert shares[peeking.ALWAYS].low < 0.05


def test_the_planned_change_is_found_at_the_fixed_end_as_often_as_planned() -> None:
    result = peeking.stops(peeking.planned_change(), seed=2, samples=400)
    assert result.shares[peeking.FIXED].low < 0.8 < result.shares[peeking.FIXED].high
    assert result.shares[peeking.ALWAYS].value < result.shares[peeking.FIXED].value
    assert result.days[peeking.ALWAYS] < 15


def test_the_table_says_seed_and_n_and_comes_out_the_same_again() -> None:
    table = peeking.peeking_table(3, samples=50)
    assert table == peeking.peeking_table(3, samples=50)
    assert {row.source for row in table.rows} == {"generated, seed 3, n 50"}
    assert len(table.rows) == 9

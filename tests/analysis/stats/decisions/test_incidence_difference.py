"""Recovery by a time in two arms, where others end without."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.analysis.stats.clusters.clustered import clustered_difference
from misstep.analysis.stats.decisions.incidence import (
    ALL_ALIKE,
    ONE_UNIT,
    Followed,
    cumulative_incidence,
    incidence_difference,
)
from misstep.harness.errors import UsageError

SUBJECTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3), st.sampled_from("abcdef")), min_size=1, max_size=25)


def followed(subjects: list[tuple[int, int, str]]) -> Followed:
    return Followed(*zip(*subjects, strict=True))


@settings(deadline=None)
@given(SUBJECTS, SUBJECTS, st.integers(0, 6), st.integers(1, 2))
def test_each_arm_has_the_incidence_of_the_library(first: list, second: list, at: int, cause: int) -> None:
    found = incidence_difference(followed(first), followed(second), at, np.random.default_rng(0), cause, resamples=20)
    for share, arm in zip(found.shares, (first, second), strict=True):
        times, events, _ = zip(*arm, strict=True)
        expected = cumulative_incidence(times, events, causes=3)
        place = np.searchsorted(expected.times, at, side="right") - 1
        assert share.value == pytest.approx(expected.incidence[cause - 1, place] if place >= 0 else 0.0, abs=1e-12)
    assert found.difference.value == pytest.approx(found.shares[0].value - found.shares[1].value)


def test_without_censoring_the_interval_is_near_that_of_a_clustered_difference_of_shares() -> None:
    rng = np.random.default_rng(1)
    arms, tables = [], []
    for chance in (0.7, 0.5):
        events = rng.random((80, 3)) < np.clip(rng.normal(chance, 0.2, (80, 1)), 0, 1)
        units = [f"unit {unit}" for unit in range(80) for _ in range(3)]
        arms.append(Followed([4] * 240, np.where(events, 1, 2).ravel().tolist(), units))
        tables.append(np.column_stack([events.sum(axis=1), np.full(80, 3)]))
    found = incidence_difference(*arms, 5, rng, resamples=5_000)
    expected = clustered_difference(*tables)
    assert found.difference.value == pytest.approx(expected.difference.value)
    assert found.difference.low == pytest.approx(expected.difference.low, abs=0.012)
    assert found.difference.high == pytest.approx(expected.difference.high, abs=0.012)
    assert found.test.statistic == pytest.approx(expected.test.statistic, rel=0.05)


def test_units_are_resampled_whole_so_that_doubling_what_each_brings_says_nothing_more() -> None:
    arm = followed([(time % 5, 1 + time % 2, f"u{time}") for time in range(30)])
    other = followed([(time % 4, 1 + (time % 3 > 0), f"v{time}") for time in range(30)])
    doubled = [Followed(one.times * 2, one.events * 2, one.units * 2) for one in (arm, other)]
    once = incidence_difference(arm, other, 3, np.random.default_rng(2))
    twice = incidence_difference(*doubled, 3, np.random.default_rng(2))
    assert twice.difference.low == pytest.approx(once.difference.low)
    assert twice.difference.high == pytest.approx(once.difference.high)


def test_arms_that_do_not_differ_are_rejected_about_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(200):
        arms = [
            Followed(
                rng.integers(1, 20, 60).tolist(),
                rng.integers(0, 3, 60).tolist(),
                [str(unit // 2) for unit in range(60)],
            )
            for _ in range(2)
        ]
        rejected += incidence_difference(*arms, 15, rng, resamples=200).test.p_value < 0.05
    assert rejected / 200 == pytest.approx(0.06, abs=0.045)


def test_what_has_no_spread_says_so() -> None:
    lone, pair = followed([(1, 1, "a"), (2, 2, "a")]), followed([(1, 1, "a"), (1, 1, "b")])
    assert incidence_difference(lone, pair, 3, np.random.default_rng(0)).difference.reason == ONE_UNIT
    alike = incidence_difference(pair, pair, 3, np.random.default_rng(0))
    assert (alike.difference.value, alike.difference.low, alike.test.reason) == (0, None, ALL_ALIKE)


@pytest.mark.parametrize(
    "arm", [Followed([], [], []), Followed([1], [1, 2], ["a"]), Followed([-1], [1], ["a"]), Followed([1], [1.5], ["a"])]
)
def test_arms_that_cannot_be_are_refused(arm: Followed) -> None:
    with pytest.raises(UsageError):
        incidence_difference(arm, followed([(1, 1, "a")]), 3, np.random.default_rng(0))

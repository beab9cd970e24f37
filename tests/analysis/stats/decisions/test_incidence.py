"""Recovery over time where others end without."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep_analysis.stats.decisions.incidence import (
    ALL_ALIKE,
    ONE_UNIT,
    Followed,
    cumulative_incidence,
    incidence_difference,
)

SUBJECTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=25)


@settings(deadline=None)
@given(SUBJECTS)
def test_at_every_time_the_shares_sum_to_one_and_kaplan_meier_says_more(subjects: list[tuple[int, int]]) -> None:
    times, events = zip(*subjects, strict=True)
    result = cumulative_incidence(times, events)
    assert result.incidence.sum(axis=0) + result.event_free == pytest.approx(np.ones(len(result.times)))
    assert (result.one_minus_kaplan_meier >= result.incidence[0] - 1e-12).all()
    assert (np.diff(result.incidence, axis=1) >= -1e-12).all()


@given(st.lists(st.integers(1, 2), min_size=1, max_size=12))
def test_without_censoring_it_is_the_share_that_recovered_by_then(events: list[int]) -> None:
    result = cumulative_incidence(range(len(events)), events)
    shares = np.cumsum(np.array(events) == 1) / len(events)
    assert result.incidence[0] == pytest.approx(shares)
    assert result.at(2.5).value == pytest.approx(sum(event == 1 for event in events[:3]) / len(events))


def test_the_interval_holds_the_share_and_stays_within_its_bounds() -> None:
    result = cumulative_incidence([1, 2, 2, 3, 4, 5, 6, 7], [1, 2, 1, 0, 1, 0, 2, 0])
    share = result.at(4)
    assert 0 < share.low < share.value < share.high < 1


def test_an_event_of_one_cause_leaves_the_other_at_zero() -> None:
    result = cumulative_incidence([1, 2, 3], [3, 3, 0])
    assert result.incidence[:2].tolist() == [[0, 0], [0, 0]]
    assert result.at(2, cause=1).value == 0


def test_before_the_first_event_nobody_has_recovered_and_after_the_last_look_nothing_is_known() -> None:
    result = cumulative_incidence([1, 2, 3], [1, 0, 0])
    assert result.at(0.5).value == 0
    assert result.at(3).value == pytest.approx(1 / 3)
    assert result.at(3.1).value is None
    assert "followed" in result.at(3.1).reason
    assert cumulative_incidence([1, 2], [1, 2]).at(99).value == 0.5  # everybody has ended


def test_without_events_the_curve_is_empty_and_says_why() -> None:
    result = cumulative_incidence([1, 2], [0, 0])
    assert result.times.tolist() == []
    assert result.reason
    assert result.at(1).value == 0


FOLLOWED = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3), st.sampled_from("abcdef")), min_size=1, max_size=25)


def followed(subjects: list[tuple[int, int, str]]) -> Followed:
    return Followed(*zip(*subjects, strict=True))


@settings(deadline=None)
@given(FOLLOWED, FOLLOWED, st.integers(0, 6), st.integers(1, 2))
def test_each_arm_has_the_incidence_of_the_library(first: list, second: list, at: int, cause: int) -> None:
    result = incidence_difference(followed(first), followed(second), at, np.random.default_rng(0), cause, resamples=20)
    for share, arm in zip(result.shares, (first, second), strict=True):
        times, events, _ = zip(*arm, strict=True)
        expected = cumulative_incidence(times, events, causes=3)
        place = np.searchsorted(expected.times, at, side="right") - 1
        assert share.value == pytest.approx(expected.incidence[cause - 1, place] if place >= 0 else 0.0, abs=1e-12)
    assert result.difference.value == pytest.approx(result.shares[0].value - result.shares[1].value)


def test_units_are_resampled_whole_so_that_doubling_what_each_brings_says_nothing_more() -> None:
    arm = followed([(time % 5, 1 + time % 2, f"u{time}") for time in range(30)])
    other = followed([(time % 4, 1 + (time % 3 > 0), f"v{time}") for time in range(30)])
    doubled = [Followed(one.times * 2, one.events * 2, one.units * 2) for one in (arm, other)]
    once = incidence_difference(arm, other, 3, np.random.default_rng(2))
    twice = incidence_difference(*doubled, 3, np.random.default_rng(2))
    assert twice.difference.low == pytest.approx(once.difference.low)
    assert twice.difference.high == pytest.approx(once.difference.high)


def test_what_has_no_spread_says_so() -> None:
    lone, pair = followed([(1, 1, "a"), (2, 2, "a")]), followed([(1, 1, "a"), (1, 1, "b")])
    assert incidence_difference(lone, pair, 3, np.random.default_rng(0)).difference.reason == ONE_UNIT
    alike = incidence_difference(pair, pair, 3, np.random.default_rng(0))
    assert (alike.difference.value, alike.difference.low, alike.test.reason) == (0, None, ALL_ALIKE)

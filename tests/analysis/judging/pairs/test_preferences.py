"""What a judge of pairs prefers: a planted bias for a place is found, and systems are ranked by decided pairs alone."""

from itertools import combinations

import numpy as np
import pytest

from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.judging.pairs.preferences import (
    Preferences,
    position_bias,
    position_finding,
    position_table,
    preferences,
    systems_finding,
    systems_of,
    systems_table,
)
from misstep_analysis.tables.text import table_text
from misstep_harness.verdict import OrderAnswer, PairVerdict, Verdict


def verdict(item: int, with_a_first: str, with_b_first: str) -> PairVerdict:
    orders = (OrderAnswer("a", with_a_first), OrderAnswer("b", with_b_first))
    label = with_a_first if with_a_first == with_b_first else None
    return PairVerdict(str(item), "judge", label, "answered" if label else "abstained", orders=orders)


def test_a_planted_preference_for_a_place_is_found_and_none_where_there_is_none() -> None:
    fair = [verdict(n, "ab"[n % 2], "ab"[n % 2]) for n in range(40)]
    leaning = [*fair, *(verdict(n, "a", "b") for n in range(40, 60))]
    results, none = position_bias(leaning), position_bias(fair)
    assert (results.n, results.always_first, results.always_second) == (60, 20, 0)
    assert (results.first.value, results.consistent.value) == (80 / 120, 40 / 60)
    assert (results.p_value or 1) < 0.001
    assert "judge prefers the first place" in position_finding("judge", results)
    assert (none.first.value, none.p_value) == (0.5, 1.0)
    assert "No preference for a place shows" in position_finding("judge", none)


def test_the_second_place_is_named_if_it_is_preferred() -> None:
    assert "prefers the second place" in position_finding(
        "judge", position_bias([verdict(n, "b", "a") for n in range(9)])
    )


def test_pairs_of_one_task_count_as_one_for_the_test() -> None:
    leaning = [verdict(n, "a", "b") for n in range(8)]
    assert (position_bias(leaning, {str(n): "t" for n in range(8)}).p_value or 0) > 0.3


def test_ties_and_missing_answers_prefer_no_place() -> None:
    ties = [verdict(n, "tie", "tie") for n in range(3)]
    failed = PairVerdict("9", "judge", None, "failed", orders=(OrderAnswer("a", "a"), OrderAnswer("b", None, "failed")))
    result = position_bias([*ties, failed])
    assert (result.n, result.first.value, result.p_value) == (3, None, None)
    assert "cannot be told" in position_finding("judge", result)


SYSTEMS = {str(n): pair for n, pair in enumerate([*combinations("xyz", 2)] * 12)}
TASKS = {item: str(int(item) // 3) for item in SYSTEMS}
ODD = {3: ("b", "b"), 7: ("b", "b"), 11: ("b", "b"), 14: ("tie", "tie"), 20: ("a", "b"), 22: ("b", "b")}


def judged() -> Preferences:
    return preferences([verdict(n, *ODD.get(n, ("a", "a"))) for n in range(36)], SYSTEMS, TASKS)


def test_systems_are_ranked_by_decided_pairs_and_undecided_ones_are_no_ties() -> None:
    found = judged()
    assert (found.decided, found.undecided, found.unanswered) == (35, 1, 0)
    assert [one.system for one in found.systems] == ["x", "y", "z"]
    x, y, z = found.systems
    assert (x.n, x.points.value) == (24, pytest.approx(21 / 24))
    assert (y.n, z.n, z.points.value) == (23, 23, pytest.approx(3.5 / 23))
    assert (x.behind.value, y.p_adjusted is not None) == (None, True)
    assert "puts x first of 3 systems" in systems_finding("judge", found)
    text = table_text(systems_table("judge", found, "pairs")) + table_text(position_table("judge", found.position, "p"))
    assert "Pairs left out: 1 undecided." in text


def test_pairs_without_two_systems_are_left_out_with_a_reason() -> None:
    result = preferences([verdict(0, "a", "a")], {"0": ("x", "x")})
    assert (result.systems, result.without_system) == ((), 1)
    assert "ranks no systems" in systems_finding("judge", result)
    items = [BenchmarkItem("0", extra={"model_a": "x", "model_b": 2}), BenchmarkItem("1")]
    assert systems_of(items, "model") == {"0": ("x", "2")}


def test_planted_strengths_are_within_their_intervals() -> None:
    rng = np.random.default_rng(5)
    true = {"x": 0.8, "y": 0.0, "z": -0.8}
    systems = {str(n): pair for n, pair in enumerate([*combinations("xyz", 2)] * 200)}
    chances = {item: 1 / (1 + np.exp(true[b] - true[a])) for item, (a, b) in systems.items()}
    given = [Verdict(item, "judge", "a" if rng.random() < chance else "b") for item, chance in chances.items()]
    for one in preferences(given, systems).systems:
        assert (one.strength.low or 0) < true[one.system] < (one.strength.high or 0)

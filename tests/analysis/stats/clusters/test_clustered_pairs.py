"""Two systems on the same items, in clusters."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.stats.clusters.clustered import NO_SPREAD, ONE_CLUSTER
from misstep_analysis.stats.clusters.clustered_pairs import (
    ALL_ALIKE,
    NO_LEANING,
    PairedCounts,
    PairedItems,
    clustered_paired_difference,
    paired_design_effect,
    paired_rates,
    resampled_pairs,
    sign_flip_mcnemar,
)
from misstep_analysis.stats.clusters.paired import (
    NO_DISCORDANT,
    PairedTable,
    mcnemar_mid_p,
    paired_score_interval,
)

DIFFERENCES = st.lists(st.integers(-4, 4), min_size=1, max_size=9)
CLUSTERS = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(-n, n), st.just(n))), min_size=2, max_size=8
)


def test_flags_of_items_are_compared_by_items_or_by_their_clusters() -> None:
    first, second = [1, 1, 1, 0, 0, 1], [1, 0, 0, 0, 1, 0]
    alone, together = (PairedItems.of(first, second, list(names)) for names in ("abcdef", "aabbcc"))
    assert alone.table == together.table == PairedTable(1, 3, 1, 1)
    assert (alone.difference, alone.test) == (paired_score_interval(alone.table), mcnemar_mid_p(alone.table))
    assert together.difference == clustered_paired_difference([1, 1, 0], [2, 2, 2])
    assert together.test == sign_flip_mcnemar([1, 1, 0])


@given(first=st.integers(0, 30), second=st.integers(0, 30), ties=st.integers(1, 5))
def test_with_one_item_a_cluster_the_test_is_mcnemars(first: int, second: int, ties: int) -> None:
    result = sign_flip_mcnemar([1] * first + [-1] * second + [0] * ties)
    assert result.p_value == pytest.approx(mcnemar_mid_p(PairedTable(ties, first, second, 0)).p_value)


@given(DIFFERENCES)
def test_the_p_value_is_that_of_all_signs_written_out(differences: list[int]) -> None:
    sizes = [abs(each) for each in differences]
    sums = [
        abs(sum(s * size for s, size in zip(signs, sizes, strict=True)))
        for signs in product((-1, 1), repeat=len(sizes))
    ]
    total = abs(sum(differences))
    expected = (sum(each > total for each in sums) + sum(each == total for each in sums) / 2) / len(sums)
    result = sign_flip_mcnemar(differences)
    assert result.p_value == pytest.approx(expected if any(sizes) else 1.0)
    assert (result.reason == NO_LEANING) == (not any(sizes))


def test_the_p_value_of_an_outcome_however_rare_is_right_to_its_last_digits() -> None:
    sizes = np.repeat([3, 7, 20, 41], 40)
    assert sign_flip_mcnemar(sizes).p_value == pytest.approx(2.0**-160, rel=1e-9, abs=0)
    one_against = sign_flip_mcnemar(np.concatenate([sizes, [-2]]))
    assert one_against.p_value == pytest.approx(2 * 2.0**-161 * (1 + 1 / 2), rel=1e-9, abs=0)


def test_few_clusters_and_skewed_ones_come_with_a_word_on_false_alarms() -> None:
    rng = np.random.default_rng(2)
    assert "only 30 clusters" in sign_flip_mcnemar([1, -1] * 15).reason
    assert "only 1 cluster " in sign_flip_mcnemar([3]).reason
    assert sign_flip_mcnemar(rng.choice([-2, -1, 1, 2], size=200)).reason == ""
    assert "skewed" in sign_flip_mcnemar([9] * 6 + [-1] * 54).reason


@given(st.lists(st.integers(-1, 1), min_size=2, max_size=30))
def test_with_one_item_a_cluster_the_design_effect_is_that_of_one_degree_of_freedom(differences: list[int]) -> None:
    n = len(differences)
    effect = paired_design_effect(differences, [1] * n, sum(map(abs, differences)))
    if len(set(differences)) == 1:
        assert effect is None
    else:
        assert effect == pytest.approx(n / (n - 1))


def test_clusters_that_are_all_alike_count_as_one_pair_each() -> None:
    level, won = clustered_paired_difference([0] * 12, [4] * 12), clustered_paired_difference([-4] * 12, [4] * 12)
    pairs = paired_score_interval(PairedTable(12, 0, 0, 0))
    assert (level.value, level.low, level.high) == (0, pairs.low, pairs.high)
    assert (won.value, won.high) == (-1, paired_score_interval(PairedTable(0, 0, 12, 0)).high)
    half = clustered_paired_difference([2] * 12, [4] * 12)
    assert (half.low, half.reason) == (None, NO_SPREAD)


def test_one_cluster_has_no_interval_and_says_so() -> None:
    result = clustered_paired_difference([2], [5])
    assert (result.value, result.low, result.reason) == (0.4, None, ONE_CLUSTER)
    assert paired_design_effect([2], [5], 2) is None


@given(CLUSTERS, st.booleans())
def test_naming_the_other_system_first_turns_the_sign_of_the_bootstrap_and_nothing_else(clusters, alone) -> None:
    differences = [np.sign(each) if alone else each for each, _ in clusters]
    sizes = [1 if alone else n for _, n in clusters]
    one = resampled_pairs(differences, sizes, np.random.default_rng(0), 300)
    other = resampled_pairs([-each for each in differences], sizes, np.random.default_rng(0), 300)
    assert one.test.p_value == other.test.p_value
    if sum(differences):
        assert (one.difference.low, one.difference.high) == tuple(
            None if end is None else -end for end in (other.difference.high, other.difference.low)
        )


def test_a_bootstrap_never_gives_a_p_value_of_0_and_none_where_nothing_varies() -> None:
    clear = resampled_pairs([1] * 60 + [0], [1] * 61, np.random.default_rng(0), 1_000)
    assert clear.test.p_value == pytest.approx(2 / 1_001)
    alike = resampled_pairs([1] * 60, [1] * 60, np.random.default_rng(0), 1_000)
    assert (alike.test.p_value, alike.test.reason, alike.difference.low) == (None, ALL_ALIKE, None)
    level = resampled_pairs([0] * 60, [1] * 60, np.random.default_rng(0), 1_000)
    assert (level.test.p_value, level.test.reason) == (1.0, NO_DISCORDANT)


@st.composite
def counts_of_a_task(draw: st.DrawFn) -> PairedCounts:
    tried, others = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    return tried, draw(st.integers(0, tried)), others, draw(st.integers(0, others))


def test_with_one_attempt_a_task_it_is_mcnemars_test_with_tangos_interval() -> None:
    result = paired_rates([(1, 1, 1, 0)] * 5 + [(1, 0, 1, 1)] * 2 + [(1, 1, 1, 1)])
    table = PairedTable(1, 5, 2, 0)
    assert (result.difference, result.test) == (paired_score_interval(table), mcnemar_mid_p(table))
    assert (result.ahead, result.behind, result.level) == (5, 2, 1)


def test_with_several_attempts_a_task_goes_either_way_as_a_whole() -> None:
    result = paired_rates([(3, 2, 3, 1), (3, 3, 3, 0), (3, 0, 3, 1)])
    assert result.test == sign_flip_mcnemar([1, 3, -1])
    assert result.difference.low == clustered_paired_difference([1, 3, -1], [3, 3, 3]).low
    assert result.difference.n == 3


@given(st.lists(counts_of_a_task(), min_size=1, max_size=12))
def test_a_task_weighs_the_same_however_often_it_was_tried(tasks: list[PairedCounts]) -> None:
    exact = sum((Fraction(c, n) - Fraction(d, m) for n, c, m, d in tasks), Fraction(0)) / len(tasks)
    assert paired_rates(tasks).difference.value == pytest.approx(float(exact), abs=1e-12)


def test_numbers_of_attempts_without_a_small_common_multiple_are_rounded_and_said() -> None:
    result = paired_rates([(n, n // 2, n + 1, n // 3) for n in range(1, 60)])
    exact = sum(n // 2 / n - n // 3 / (n + 1) for n in range(1, 60)) / 59
    assert result.difference.value == pytest.approx(exact, abs=1e-5)
    assert "rounded to 1/27,720" in result.difference.method
    assert "rounded to 1/27,720" in result.test.test

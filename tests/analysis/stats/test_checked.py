"""Input that cannot be what it is taken for is refused by every statistic, and the value is named."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from misstep_analysis.judging.comparison import compare_judges
from misstep_analysis.stats import diagnostic, pass_at_k, ranking
from misstep_analysis.stats.checked import counts, finite, whole_numbers, yes_or_no
from misstep_analysis.stats.clusters.clustered import clustered_difference
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.clusters.clustered_pairs import (
    clustered_paired_difference,
    paired_rates,
    resampled_pairs,
    sign_flip_mcnemar,
)
from misstep_analysis.stats.clusters.paired import PairedTable
from misstep_analysis.stats.correction import rogan_gladen
from misstep_analysis.stats.decisions.incidence import Followed, cumulative_incidence, incidence_difference
from misstep_analysis.stats.decisions.power import (
    design_effect,
    sample_size_paired,
    smallest_change,
    tolerated_design_effect,
    tolerated_icc,
    units_an_arm,
)
from misstep_analysis.stats.decisions.relative_change import compare_ratios, implied_change, ratio_of_sums
from misstep_analysis.stats.decisions.sequential import always_valid, sample_ratio
from misstep_analysis.stats.decisions.thresholds import precision_floor, smallest_flagged
from misstep_analysis.stats.diagnostic import count_confusion
from misstep_analysis.stats.pass_at_k import each_task
from misstep_analysis.stats.printed import two_proportions
from misstep_analysis.stats.printed.audit import counts_that_print, possible_dissents
from misstep_analysis.stats.ranking import average_precision
from misstep_analysis.stats.raters.agreement import cohen_kappa, fleiss_kappa, gwet_ac
from misstep_analysis.stats.raters.coefficients import distances
from misstep_analysis.stats.raters.marginal_homogeneity import (
    clustered_shares,
    pearson_shares,
    stuart_maxwell,
    zero_mean,
)
from misstep_analysis.stats.raters.patterns import contingency_table
from misstep_analysis.stats.resampling import bca
from misstep_analysis.stats.significance import holm
from misstep_harness.errors import UsageError

RNG = np.random.default_rng(0)

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a status that is none of the causes": (lambda: cumulative_incidence([1, 2, 3], [1, 7, 0], causes=2), "7"),
    "a status below 0": (lambda: cumulative_incidence([1, 2], [1, -1]), "-1"),
    "a status between two": (lambda: cumulative_incidence([1, 2], [1, 1.5]), "1.5"),
    "a status that is a word": (lambda: cumulative_incidence([1, 2], ["lost", 1]), "'lost'"),
    "a status that is missing": (lambda: cumulative_incidence([1, 2], [None, 1]), "None"),
    "an endless time": (lambda: cumulative_incidence([1, inf], [1, 0]), "inf"),
    "half an item in a cluster": (lambda: korn_graubard([(1, 2.5), (1, 3)]), "2.5"),
    "a missing count in a cluster": (lambda: korn_graubard([(1, nan), (1, 3)]), "nan"),
    "a side that does not exist": (lambda: korn_graubard([(1, 2), (1, 3)], side="above"), "'above'"),
    "half a difference": (lambda: sign_flip_mcnemar([0.5, 1]), "0.5"),
    "half an item of a pair": (lambda: clustered_paired_difference([1, 0], [1.5, 2]), "1.5"),
    "a count below 0 in a table of kappa": (lambda: cohen_kappa([[3, -1], [0, 4]]), "-1"),
    "half an item in a table of kappa": (lambda: cohen_kappa([[3, 1.5], [0, 4]]), "1.5"),
    "a weighting that does not exist": (lambda: cohen_kappa([[3, 1], [0, 4]], "squared"), "'squared'"),  # type: ignore[arg-type]
    "a weighting of AC2 that does not exist": (lambda: gwet_ac([[2, 0], [1, 1]], "square"), "'square'"),  # type: ignore[arg-type]
    "a level that does not exist": (lambda: distances("metric", np.arange(2.0)), "'metric'"),  # type: ignore[arg-type]
    "a rating below 0": (lambda: fleiss_kappa([[2, 0], [3, -1]]), "-1"),
    "a missing score": (lambda: ranking.area_under_curve([0.1, nan], [True, False]), "missing"),
    "a gold label that is a word": (lambda: ranking.area_under_curve([0.1, 0.2], ["yes", "no"]), "'yes'"),
    "a gold label that is neither": (lambda: precision_floor([0.1, 0.2], [2, 0], [0.1], 0.5), "2"),
    "a cluster of no known size": (lambda: design_effect(nan, 0.1), "nan"),
    "more found than there are": (lambda: pearson_shares([3, 1], [2, 4], RNG), "outside"),
    "an outcome that is neither": (lambda: clustered_shares(np.array([0, 1]), [0.5, 1], np.array([0, 1])), "0.5"),
    "a count below 0 of margins": (lambda: stuart_maxwell([[1, -2], [3, 4]]), "-2"),
    "a missing contribution": (lambda: zero_mean([[1.0, nan], [0.0, 1.0]]), "missing"),
    "a count below 0 of pairs": (lambda: PairedTable(3, -1, 0, 2), "-1"),
    "half a pair": (lambda: PairedTable(3, 1.5, 0, 2), "1.5"),  # type: ignore[arg-type]
    "an endless part of a ratio": (lambda: ratio_of_sums([1, inf], [1, 1]), "inf"),
    "a denominator below 0": (lambda: ratio_of_sums([1, 1], [1, -4]), "-4"),
    "an endless value": (lambda: bca([1, inf], RNG), "inf"),
    "rows of unequal length": (lambda: cohen_kappa([[1, 2], [2]]), "unequal"),
    "half a solved attempt": (lambda: pass_at_k.each_task([(5, 1.5)], 2), "1.5"),
    "a kind that does not exist": (lambda: pass_at_k.each_task([(5, 1)], 2, "pass@K"), "'pass@K'"),  # type: ignore[arg-type]
    "half a success": (lambda: two_proportions.pooled_z(1.5, 3, 1, 3), "1.5"),  # type: ignore[arg-type]
    "an alternative that does not exist": (lambda: two_proportions.fisher_exact(1, 3, 2, 3, "more"), "'more'"),  # type: ignore[arg-type]
    "an answer that is neither": (lambda: diagnostic.count_confusion([True], ["no"]), "'no'"),  # type: ignore[list-item]
    "a confusion below 0": (lambda: diagnostic.Confusion(1, -2, 0, 0), "-2"),
    "a test of judges that does not exist": (lambda: compare_judges({}, [], test="t"), "'t'"),  # type: ignore[arg-type]
    "no cluster of an arm": (lambda: clustered_difference([], [(1, 2), (1, 3)]), "no clusters with items"),
    "clusters of an arm without items": (
        lambda: clustered_difference([(0, 0)], [(1, 2), (1, 3)]),
        "no clusters with items",
    ),
    "more successes than items in a cluster": (
        lambda: clustered_difference([(3, 2)], [(1, 2), (1, 3)]),
        "a cluster with 3 successes in",
    ),
    "successes below 0 in a cluster": (
        lambda: clustered_difference([(-1, 2)], [(1, 2), (1, 3)]),
        "a cluster with -1 successes in",
    ),
    "numbers instead of clusters": (lambda: clustered_difference([1, 2], [(1, 2), (1, 3)]), "no clusters with items"),
    "clusters without items": (lambda: korn_graubard([(0, 0)]), "no clusters with items"),
    "no clusters of pairs": (lambda: clustered_paired_difference([], []), "0 differences of 0 clusters"),
    "differences of other clusters": (lambda: clustered_paired_difference([1], [1, 1]), "1 differences of 2 clusters"),
    "a difference greater than its cluster": (
        lambda: clustered_paired_difference([2], [1]),
        "a cluster without items, or with",
    ),
    "a cluster without pairs": (lambda: clustered_paired_difference([0], [0]), "a cluster without items, or with"),
    "differences of other clusters to resample": (
        lambda: resampled_pairs([1], [1, 1], RNG),
        "1 differences of 2 clusters",
    ),
    "no tasks": (lambda: paired_rates([]), "a task that one of the"),
    "a task that the first did not attempt": (lambda: paired_rates([(0, 0, 1, 1)]), "a task that one of the"),
    "a task that the second did not attempt": (lambda: paired_rates([(1, 1, 0, 0)]), "a task that one of the"),
    "no pairs": (lambda: PairedTable(0, 0, 0, 0), "a paired table needs items"),
    "no figure printed": (lambda: counts_that_print("", 10), "no number: ''"),
    "words beside a figure": (lambda: counts_that_print("about 5", 10), "no number: 'about 5'"),
    "a figure that is not a number": (lambda: counts_that_print("NaN", 10), "no finite number: 'NaN'"),
    "an endless figure": (lambda: counts_that_print("Infinity", 10), "no finite number: 'Infinity'"),
    "pass@k of no tasks": (lambda: each_task([], 2), "no tasks"),
    "a task with fewer attempts than k": (lambda: each_task([[4, 1], [1, 1]], 2), "1 of 2 tasks have fewer"),
    "more solved than attempted": (lambda: each_task([[4, 5]], 2), "5 of 4 attempts solved the"),
    "fewer than 0 solved": (lambda: each_task([[4, -1]], 2), "a count of -1"),
    "counts instead of tasks": (lambda: each_task([4, 2], 2), "no tasks"),
    "tasks that are short of attempts": (
        lambda: each_task([[3, 1], [2, 1], [5, 0], [9, 9], [1, 0]], 3),
        "2 of 5 tasks have fewer",
    ),
    "labels and weights of other scores": (
        lambda: average_precision([0.1, 0.2], [True], [[1, 1]]),
        "2 scores but 1 labels and",
    ),
    "a missing answer": (lambda: count_confusion([True, False], [True, None]), "None where an answer is yes"),  # type: ignore[list-item]
    "flags of no items": (lambda: rogan_gladen((5, 0), (1, 2), (2, 2)), "a count outside its total: 5"),
    "more flags than items": (lambda: rogan_gladen((5, 4), (1, 2), (2, 2)), "a count outside its total: 5"),
    "fewer than 0 disagreements": (lambda: possible_dissents(10, -1, 0, 0), "a count of items below 0"),
    "a table of kappa that is no square": (
        lambda: cohen_kappa([[1, 2, 3], [4, 5, 6]]),
        "a contingency table has as many",
    ),
    "a table of kappa without items": (lambda: cohen_kappa([[0, 0], [0, 0]]), "no item was rated by both"),
    "codes of other items": (
        lambda: contingency_table(np.array([0, 1]), np.array([0]), 2),
        "one rater has 2 entries and",
    ),
    "ratings without items": (lambda: fleiss_kappa([]), "no item has two ratings"),
    "one rating an item": (lambda: fleiss_kappa([[1, 0], [0, 1]]), "no item has two ratings"),
    "one rating in all": (lambda: gwet_ac([[1, 0], [0, 0]]), "no item has two ratings"),
    "no times": (lambda: cumulative_incidence([], []), "no subjects"),
    "a time below 0": (lambda: cumulative_incidence([-1, 2], [1, 1]), "a time of -1"),
    "a missing time": (lambda: cumulative_incidence([1, nan], [1, 1]), "a missing value where a time"),
    "statuses of other times": (lambda: cumulative_incidence([1, 2], [1]), "2 times but 1 events"),
    "a cause that does not exist": (
        lambda: cumulative_incidence([1, 2], [1, 1]).at(1, cause=2),
        "no cause 2: there are 1",
    ),
    "an arm that nobody followed": (
        lambda: incidence_difference(Followed([], [], []), Followed([1], [1], ["a"]), 3, RNG),
        "nothing was followed in an arm",
    ),
    "statuses of another arm": (
        lambda: incidence_difference(Followed([1], [1, 2], ["a"]), Followed([1], [1], ["a"]), 3, RNG),
        "1 times, 2 events and 1",
    ),
    "a status between two in an arm": (
        lambda: incidence_difference(Followed([1], [1.5], ["a"]), Followed([1], [1], ["a"]), 3, RNG),
        "an event of 1.5",
    ),
    "items for no difference": (lambda: sample_size_paired(0.1, 0), "no difference to detect: the sample"),
    "a difference greater than its discordance": (
        lambda: sample_size_paired(0.1, 0.2),
        "a difference of 0.2 with only",
    ),
    "a power below the level": (lambda: sample_size_paired(0.1, 0.05, power=0.01), "a power of 0.01 with a"),
    "a level of 1": (lambda: sample_size_paired(0.1, 0.05, alpha=1), "a level outside 0 to 1"),
    "more than all pairs discordant": (lambda: sample_size_paired(1.1, 0.05), "a proportion outside 0 to 1"),
    "units for no change": (lambda: units_an_arm(1, 0), "a relative change of 0"),
    "units for a change to nothing": (lambda: units_an_arm(1, -1), "a relative change of -1"),
    "units without variation": (lambda: units_an_arm(0, 0.1), "a variation of 0 with a"),
    "a power of units below the level": (lambda: units_an_arm(1, 0.1, power=0.01), "a power of 0.01 with a"),
    "a design effect of 0": (lambda: units_an_arm(1, 0.1, design_effect=0), "a variation of 1 with a"),
    "an arm of no units": (lambda: smallest_change((1, 1), (0, 5)), "an arm of 0 units"),
    "an endless variation": (lambda: smallest_change((1, inf), (5, 5)), "a variation of inf with a"),
    "a cluster of half an item": (lambda: design_effect(0.5, 0.1), "clusters of 0.5 items with a"),
    "a correlation within clusters of one": (
        lambda: tolerated_icc(3.0, 0.05, 1),
        "clusters of 1 items: no correlation",
    ),
    "a level of 0": (lambda: tolerated_design_effect(3.0, 0), "a level outside 0 to 1"),
    "no unit of an arm": (lambda: compare_ratios([], [(1, 2), (2, 3)]), "no arm of units"),
    "numbers instead of units": (lambda: compare_ratios([1, 2], [(1, 2), (2, 3)]), "no arm of units"),
    "a missing part of a unit": (lambda: compare_ratios([(1, nan)], [(1, 2), (2, 3)]), "a missing value where a value"),
    "a denominator below 0 in an arm": (
        lambda: compare_ratios([(1, -1), (1, 1)], [(1, 2), (2, 3)]),
        "a denominator of -1",
    ),
    "a change to less than nothing": (lambda: implied_change(-1, 0.1), "a relative change of -1"),
    "a p-value of 0": (lambda: implied_change(0.1, 0), "a p-value outside 0 to 1"),
    "a p-value above 1": (lambda: implied_change(0.1, 1.1), "a p-value outside 0 to 1"),
    "a missing change": (lambda: implied_change(nan, 0.1), "a relative change of nan"),
    "a ratio of no units": (lambda: ratio_of_sums([], []), "0 numerators and 0 denominators"),
    "numerators of other units": (lambda: ratio_of_sums([1, 2], [1]), "2 numerators and 1 denominators"),
    "an error of 0": (lambda: always_valid(0.1, 0, 1), "a standard error of 0"),
    "a planned difference of 0": (lambda: always_valid(0.1, 1, 0), "a standard error of 0"),
    "an endless planned difference": (lambda: always_valid(0.1, 1, inf), "a standard error of inf"),
    "a confidence of 1": (lambda: always_valid(0.1, 1, 1, confidence=1), "a confidence outside 0 to 1"),
    "one arm": (lambda: sample_ratio([5], [1]), "1 arms and 1 shares"),
    "arms without a share": (lambda: sample_ratio([5, 5], [1]), "2 arms and 1 shares"),
    "a share of 0": (lambda: sample_ratio([5, 5], [1, 0]), "a share of 0"),
    "an arm of fewer than 0": (lambda: sample_ratio([5, -1], [1, 1]), "a count of -1"),
    "labels of other scores": (lambda: precision_floor([0.5], [True, False], [0.5], 0.8), "1 scores but 2 labels"),
    "no thresholds": (lambda: precision_floor([0.5], [True], [], 0.8), "no thresholds to test"),
    "a floor of 1": (lambda: precision_floor([0.5], [True], [0.5], 1.0), "a precision floor of 1"),
    "fewer than 0 errors": (lambda: smallest_flagged(0.8, -1), "-1 errors"),
    "a p-value below 0": (lambda: holm([0.2, -0.1]), "a p-value outside 0 to 1"),
    "a p-value that is above 1": (lambda: holm([0.2, 1.1]), "a p-value outside 0 to 1"),
    "an endless p-value": (lambda: holm([0.2, inf]), "a p-value outside 0 to 1"),
    "more found than its total": (lambda: pearson_shares([3, 9], [4, 8], RNG), "a count outside its total"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_by_name(case: str) -> None:
    statistic, named = REFUSED[case]
    with pytest.raises(UsageError) as refused:
        statistic()
    assert named in str(refused.value)


@pytest.mark.parametrize("value", [[1, 2], [1.0, 2.0], np.array([1, 2], dtype=np.uint8), [True, False]])
def test_whole_numbers_are_taken_however_they_are_held(value: Any) -> None:
    assert whole_numbers(value, "a count").tolist() == [int(one) for one in value]


@pytest.mark.parametrize("value", [[True, False], [1, 0], [1.0, 0.0], np.array([True, False])])
def test_yes_and_no_are_taken_however_they_are_held(value: Any) -> None:
    assert yes_or_no(value, "an answer").tolist() == [True, False]


@pytest.mark.parametrize("check", [whole_numbers, counts, finite, yes_or_no])
def test_nothing_is_wrong_with_nothing(check: Callable[..., Any]) -> None:
    assert check([], "a count").tolist() == []

"""Input that cannot be what it is taken for is refused by every statistic, and the value is named."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from misstep.analysis.measures.judging.pairs.comparison import compare_judges
from misstep.analysis.stats import diagnostic, pass_at_k, ranking
from misstep.analysis.stats.checked import counts, finite, whole_numbers, yes_or_no
from misstep.analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep.analysis.stats.clusters.clustered_pairs import clustered_paired_difference, sign_flip_mcnemar
from misstep.analysis.stats.clusters.paired import PairedTable
from misstep.analysis.stats.decisions.incidence import cumulative_incidence
from misstep.analysis.stats.decisions.power import design_effect
from misstep.analysis.stats.decisions.relative_change import ratio_of_sums
from misstep.analysis.stats.decisions.thresholds import precision_floor
from misstep.analysis.stats.printed import two_proportions
from misstep.analysis.stats.raters.agreement import cohen_kappa, fleiss_kappa, gwet_ac
from misstep.analysis.stats.raters.coefficients import distances
from misstep.analysis.stats.raters.marginal_homogeneity import (
    clustered_shares,
    pearson_shares,
    stuart_maxwell,
    zero_mean,
)
from misstep.analysis.stats.resampling import bca
from misstep.harness.errors import UsageError

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

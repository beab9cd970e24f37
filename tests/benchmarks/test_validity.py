"""Intervals hold the truth and tests reject about as often as they say: a quick form of `benchmarks.validity`.

The bounds are wide enough for a few hundred samples and narrow enough that a wrong formula is seen: a standard error
off by a quarter moves coverage from 95% to 88% or 99%.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pytest

from benchmarks.validity import agreement, clusters, experiments, judges, pairs, probes, proportions
from benchmarks.validity.__main__ import page
from benchmarks.validity.rates import Rate, coverage, rejections
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.significance import Significance

SAMPLES = 300


def generator() -> np.random.Generator:
    return np.random.default_rng(20)


def rates(message: Iterable[Rate], method: str, setting: str = "", what: str = "") -> list[float]:
    chosen = [rate.rate for rate in message if rate.method == method and setting in rate.setting and what in rate.what]
    assert chosen, f"no rate of {method} {setting}"
    return chosen


Bound = tuple[str, str, str, float, float]
"""A method, its setting and what it is a rate of, with the least and the greatest rate."""

COVERED, ERROR = "coverage", "type I error"
KAPPAS = ("Cohen's kappa, asymptotic", "Cohen's kappa, bootstrap")
OF_THREE = ("Fleiss' kappa, asymptotic", "Gwet's AC1, asymptotic", "Krippendorff's alpha, bootstrap")

BOUNDS: dict[str, tuple[Callable[[], Iterator[Rate]], list[Bound]]] = {
    "a share, on average and at worst": (
        lambda: proportions.one_share((5, 20, 50)),
        [
            ("Wilson", "mean", COVERED, 0.94, 0.96),
            ("Wilson", "worst", COVERED, 0.83, 1),
            ("Clopper-Pearson", "mean", COVERED, 0.95, 0.995),
            ("Clopper-Pearson", "worst", COVERED, 0.95, 1),
        ],
    ),
    "a difference": (
        lambda: proportions.difference(((10, 10), (8, 30))),
        [("Newcombe", "", COVERED, 0.92, 1), ("Newcombe", "shares 0.5 and 0.5", COVERED, 0, 0.975)],
    ),
    "exact tests never reject too often, the pooled z about as often as it says": (
        lambda: proportions.equal_shares(((10, 10), (30, 30))),
        [
            ("Fisher's exact", "", ERROR, 0, 0.05),
            ("two-proportion z, pooled", "30, both shares 0.5", ERROR, 0.03, 0.07),
        ],
    ),
    "a relative change of few skewed units": (
        lambda: experiments.skewed_sums(200, generator(), draws=300, sizes=((10, 10),)),
        [
            ("relative change, Fieller", "", COVERED, 0.92, 1),
            ("means over units, studentised permutation", "", ERROR, 0, 0.09),
        ],
    ),
    "a relative change of a rate": (
        lambda: experiments.failed_calls(SAMPLES, generator()),
        [("relative change of a rate, Fieller", "", COVERED, 0.91, 1)],
    ),
    "clusters of both arms": (
        lambda: clusters.shared_arms(SAMPLES, generator()),
        [("cluster sandwich over shared clusters, t", "12 clusters of both arms", ERROR, 0.02, 0.09)],
    ),
    "strengths of systems over tasks": (
        lambda: pairs.strengths(200, generator()),
        [("Bradley-Terry over tasks, t", "", COVERED, 0.91, 1), ("Bradley-Terry over tasks, Holm", "", ERROR, 0, 0.09)],
    ),
    "places that a judge of pairs prefers": (
        lambda: pairs.positions(60, generator()),
        [
            ("first place, Korn-Graubard", "", COVERED, 0.88, 1),
            ("place, sign flips over tasks", "", ERROR, 0, 0.15),
            ("place, sign flips over tasks", "both orders", "power", 0.9, 1),
        ],
    ),
    "paired shares": (lambda: proportions.pairs((60,)), [("McNemar, mid-p", "40%", ERROR, 0.04, 0.06)]),
    "kappa where items are many or balanced": (
        lambda: agreement.two_raters(SAMPLES, generator(), resamples=300),
        [
            *((method, "n = 118", COVERED, 0.89, 0.985) for method in KAPPAS),
            *((method, "n = 50, prevalence 0.5", COVERED, 0.88, 0.985) for method in KAPPAS),
        ],
    ),
    "coefficients of three raters": (
        lambda: agreement.three_raters(SAMPLES, generator(), resamples=300),
        [(method, "n = 118", COVERED, 0.89, 0.985) for method in OF_THREE],
    ),
    "a share of clustered items": (
        lambda: clusters.one_arm(SAMPLES, generator(), resamples=300),
        [
            ("cluster bootstrap", "30 clusters", COVERED, 0.87, 0.98),
            ("clustered share, Korn-Graubard", "", COVERED, 0.885, 1),
        ],
    ),
    "the sandwich, with many clusters and by t with few": (
        lambda: clusters.two_arms(3 * SAMPLES, generator()),
        [
            ("cluster sandwich, z", "40 and 40", ERROR, 0.03, 0.085),
            ("cluster sandwich, t", "4 and 4", ERROR, 0.01, 0.075),
            ("cluster sandwich, z", "4 and 4", ERROR, 0.1, 1),
        ],
    ),
    "sign flips, unless few clusters are skewed": (
        lambda: clusters.sign_flips(2 * SAMPLES, generator()),
        [
            ("McNemar over clusters, sign flips", "as far either way", ERROR, 0.01, 0.08),
            ("McNemar over clusters, sign flips", "30 clusters, skewed, 9 to 1", ERROR, 0.08, 1),
            ("McNemar over clusters, sign flips", "300 clusters, skewed, 9 to 1", ERROR, 0, 0.09),
        ],
    ),
    "differences over clusters": (
        lambda: clusters.paired_clusters(SAMPLES, generator()),
        [("clustered pairs, t", "", COVERED, 0.89, 1)],
    ),
    "pass@k over tasks": (
        lambda: clusters.attempts(SAMPLES, generator(), resamples=300),
        [(f"{kind} over tasks, bootstrap", "100 tasks", COVERED, 0.89, 0.98) for kind in ("pass@k", "pass^k")],
    ),
    "prevalence corrected for a judge": (
        lambda: judges.corrected(3 * SAMPLES, generator()),
        [
            ("Rogan-Gladen, Lang-Reiczigel", "", COVERED, 0.92, 1),
            ("Rogan-Gladen, Lang-Reiczigel", "0.4, 100", COVERED, 0, 0.985),
        ],
    ),
    "prediction-powered means": (
        lambda: judges.prediction_powered(SAMPLES, generator()),
        [("prediction-powered mean", "", COVERED, 0.93, 1)],
    ),
    "thresholds of judges above the floor, and of those below it": (
        lambda: judges.thresholds(SAMPLES, generator()),
        [
            ("precision threshold, 80%", "600 answers", "power", 0.9, 1),
            ("precision threshold, 80%", "", ERROR, 0, 0.05 + 3 * 0.028),
        ],
    ),
    "probes of a biased judge, and of a fair one": (
        lambda: probes.probes(SAMPLES, generator(), ((60, 1, 0.0), (60, 2, 0.6))),
        [(probes.METHOD, "", ERROR, 0, 0.06 + 3 * 0.044), (probes.METHOD, "", "power", 0.9, 1)],
    ),
    "incidence": (
        lambda: judges.recovery(SAMPLES, generator()),
        [("Aalen-Johansen, log(-log)", "", COVERED, 0.9, 0.99)],
    ),
}


@pytest.mark.parametrize("what", BOUNDS)
def test_intervals_hold_the_truth_and_tests_reject_about_as_often_as_they_say(what: str) -> None:
    drawn, bounds = BOUNDS[what]
    every = list(drawn())
    for method, setting, kind, low, high in bounds:
        result = rates(every, method, setting, kind)
        assert low <= min(result) <= max(result) <= high, (method, setting, result)


def test_an_interval_that_is_too_short_is_found_out() -> None:
    rng = generator()
    shares = [wilson(int(x), 40) for x in rng.binomial(40, 0.3, SAMPLES)]
    halved = [Estimate(one.value, (one.value + one.low) / 2, (one.value + one.high) / 2, one.n) for one in shares]
    assert coverage("Wilson", "", 0.3, shares).verdict == "nominal"
    assert coverage("halved", "", 0.3, halved).verdict == "too short"


def test_a_missing_interval_is_neither_right_nor_wrong_and_a_missing_p_value_rejects_nothing() -> None:
    result = coverage("", "", 0.5, [Estimate(0.5, 0.4, 0.6), Estimate(0.5), Estimate(0.1, 0.0, 0.2)])
    assert (result.rate, result.undefined, result.samples) == (0.5, pytest.approx(1 / 3), 3)
    test = rejections("", "", [Significance(None, None), Significance(3.0, 0.01)])
    assert (test.rate, test.undefined) == (0.5, 0.5)


def test_the_page_says_how_many_rates_are_nominal_and_lists_each() -> None:
    exact = Rate("coverage", "Wilson", "n = 5", 0.95, width=0.4)
    drawn = Rate("type I error", "sandwich", "4 clusters", 0.2, samples=400)
    content = page([exact, drawn], 400, 0)
    assert "1 of 2 rates are nominal" in content
    assert "| Wilson | n = 5 | 95.0% | exact |  | 0.400 | nominal |" in content
    assert "| sandwich | 4 clusters | 20.0% | ± 2.0% |  |  | too eager |" in content

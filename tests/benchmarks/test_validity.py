"""Intervals hold the truth and tests reject about as often as they say: a quick form of `benchmarks.validity`.

The bounds are wide enough for a few hundred samples and narrow enough that a wrong formula is seen: a standard error
off by a quarter moves coverage from 95% to 88% or 99%.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.validity import agreement, clusters, experiments, judges, proportions
from benchmarks.validity.__main__ import page
from benchmarks.validity.rates import Rate, coverage, rejections
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.stats.significance import Significance

SAMPLES = 300


def generator() -> np.random.Generator:
    return np.random.default_rng(20)


def rates(found: Iterator[Rate], method: str, setting: str = "", what: str = "") -> list[float]:
    chosen = [rate.rate for rate in found if rate.method == method and setting in rate.setting and what in rate.what]
    assert chosen, f"no rate of {method} {setting}"
    return chosen


@pytest.mark.parametrize(
    ("method", "mean", "worst"), [("Wilson", (0.94, 0.96), 0.83), ("Clopper-Pearson", (0.95, 0.995), 0.95)]
)
def test_intervals_of_a_share_cover_it_on_average_and_at_worst(
    method: str, mean: tuple[float, float], worst: float
) -> None:
    found = list(proportions.one_share((5, 20, 50)))
    assert all(mean[0] <= rate <= mean[1] for rate in rates(found, method, "mean"))
    assert all(rate >= worst for rate in rates(found, method, "worst"))


def test_newcombe_covers_a_difference() -> None:
    found = list(proportions.difference(((10, 10), (8, 30))))
    assert all(rate >= 0.92 for rate in rates(found, "Newcombe"))
    assert all(rate <= 0.975 for rate in rates(found, "Newcombe", "shares 0.5 and 0.5"))


def test_exact_tests_never_reject_too_often_and_the_pooled_z_about_as_often_as_it_says() -> None:
    found = list(proportions.equal_shares(((10, 10), (30, 30))))
    assert all(rate <= 0.05 for rate in rates(found, "Fisher's exact"))
    assert all(0.03 <= rate <= 0.07 for rate in rates(found, "two-proportion z, pooled", "30, both shares 0.5"))


def test_with_few_skewed_units_fiellers_interval_covers_a_relative_change_and_the_bootstrap_falls_short() -> None:
    found = list(experiments.skewed_sums(200, generator(), draws=300, sizes=((10, 10),)))
    assert rates(found, "relative change, Fieller")[0] >= 0.92
    assert rates(found, "means over units, studentised permutation")[0] <= 0.09


def test_calls_of_engineers_are_not_independent_and_a_clustered_change_knows_it() -> None:
    found = list(experiments.failed_calls(SAMPLES, generator()))
    assert min(rates(found, "calls taken as independent")) > 0.15
    assert min(rates(found, "relative change of a rate, Fieller")) >= 0.91


def test_clusters_of_both_arms_are_rejected_as_often_as_said_only_where_they_are_one_cluster() -> None:
    found = list(clusters.shared_arms(SAMPLES, generator()))
    twelve = "12 clusters of both arms"
    (once,) = rates(found, "cluster sandwich over shared clusters, t", twelve, "type I")
    (twice,) = rates(found, "shared clusters as two, t", twelve, "type I")
    assert 0.02 <= once <= 0.09
    assert twice <= 0.02


def test_mid_p_rejects_about_as_often_as_it_says() -> None:
    found = list(proportions.pairs((60,)))
    (mid_p,) = rates(found, "McNemar, mid-p", "40%")
    assert 0.04 <= mid_p <= 0.06


def test_intervals_of_kappa_cover_it_where_items_are_many_or_balanced() -> None:
    found = list(agreement.two_raters(SAMPLES, generator(), resamples=300))
    for method in ("Cohen's kappa, asymptotic", "Cohen's kappa, bootstrap"):
        assert all(0.89 <= rate <= 0.985 for rate in rates(found, method, "n = 118"))
        assert all(0.88 <= rate <= 0.985 for rate in rates(found, method, "n = 50, prevalence 0.5"))


def test_intervals_of_three_raters_cover_the_coefficients() -> None:
    found = list(agreement.three_raters(SAMPLES, generator(), resamples=300))
    for method in ("Fleiss' kappa, asymptotic", "Gwet's AC1, asymptotic", "Krippendorff's alpha, bootstrap"):
        assert all(0.89 <= rate <= 0.985 for rate in rates(found, method, "n = 118"))


def test_intervals_over_clusters_cover_the_share_and_those_that_ignore_clusters_do_not() -> None:
    found = list(clusters.one_arm(SAMPLES, generator(), resamples=300))
    assert all(0.87 <= rate <= 0.98 for rate in rates(found, "cluster bootstrap", "30 clusters"))
    assert all(rate >= 0.885 for rate in rates(found, "clustered share, Korn-Graubard"))
    assert all(rate < 0.82 for rate in rates(found, "Wilson, clusters ignored"))


def test_the_sandwich_rejects_about_as_often_as_it_says_with_many_clusters_and_by_t_with_few() -> None:
    found = list(clusters.two_arms(3 * SAMPLES, generator()))
    what = "type I error"
    assert all(0.03 <= rate <= 0.085 for rate in rates(found, "cluster sandwich, z", "40 and 40", what))
    assert all(0.02 <= rate <= 0.075 for rate in rates(found, "cluster sandwich, t", "4 and 4", what))
    assert all(rate > 0.1 for rate in rates(found, "cluster sandwich, z", "4 and 4", what))
    assert all(rate > 0.2 for rate in rates(found, "two-proportion z, clusters ignored"))


def test_sign_flips_keep_their_level_unless_few_clusters_are_skewed() -> None:
    found = list(clusters.sign_flips(2 * SAMPLES, generator()))
    method, what = "McNemar over clusters, sign flips", "type I error"
    assert all(0.01 <= rate <= 0.08 for rate in rates(found, method, "as far either way", what))
    assert min(rates(found, method, "30 clusters, skewed, 9 to 1", what)) > 0.08
    assert max(rates(found, method, "300 clusters, skewed, 9 to 1", what)) < 0.09


def test_differences_over_clusters_are_covered_where_either_system_may_be_ahead() -> None:
    found = list(clusters.paired_clusters(SAMPLES, generator()))
    assert all(rate >= 0.89 for rate in rates(found, "clustered pairs, t"))


def test_intervals_over_tasks_cover_pass_at_k() -> None:
    found = list(clusters.attempts(SAMPLES, generator(), resamples=300))
    assert all(0.89 <= rate <= 0.98 for rate in rates(found, "pass@k over tasks, bootstrap", "100 tasks"))
    assert all(0.89 <= rate <= 0.98 for rate in rates(found, "pass^k over tasks, bootstrap", "100 tasks"))


def test_corrected_prevalence_is_covered_whether_the_judge_is_measured_or_known() -> None:
    found = list(judges.corrected(3 * SAMPLES, generator()))
    assert all(rate >= 0.92 for rate in rates(found, "Rogan-Gladen, Lang-Reiczigel"))
    assert all(rate <= 0.985 for rate in rates(found, "Rogan-Gladen, Lang-Reiczigel", "0.4, 100"))


def test_prediction_powered_means_are_covered() -> None:
    found = list(judges.prediction_powered(SAMPLES, generator()))
    assert all(rate >= 0.93 for rate in rates(found, "prediction-powered mean"))


def test_a_threshold_is_found_for_judges_above_the_floor_and_for_those_below_it_no_more_often_than_said() -> None:
    found = list(judges.thresholds(SAMPLES, generator()))
    method = "precision threshold, 80%"
    assert all(rate >= 0.9 for rate in rates(found, method, "600 answers", "power"))
    assert all(rate <= 0.05 + 3 * 0.028 for rate in rates(found, method, what="type I error"))
    assert np.mean(rates(found, method, what="type I error")) <= 0.06


def test_incidence_is_covered() -> None:
    assert all(
        0.9 <= rate <= 0.99 for rate in rates(judges.recovery(SAMPLES, generator()), "Aalen-Johansen, log(-log)")
    )


def test_an_interval_that_is_too_short_is_found_out() -> None:
    rng = generator()
    shares = [wilson(int(x), 40) for x in rng.binomial(40, 0.3, SAMPLES)]
    halved = [Estimate(one.value, (one.value + one.low) / 2, (one.value + one.high) / 2, one.n) for one in shares]
    assert coverage("Wilson", "", 0.3, shares).verdict == "nominal"
    assert coverage("halved", "", 0.3, halved).verdict == "too short"


def test_a_missing_interval_is_neither_right_nor_wrong_and_a_missing_p_value_rejects_nothing() -> None:
    found = coverage("", "", 0.5, [Estimate(0.5, 0.4, 0.6), Estimate(0.5), Estimate(0.1, 0.0, 0.2)])
    assert (found.rate, found.undefined, found.samples) == (0.5, pytest.approx(1 / 3), 3)
    test = rejections("", "", [Significance(None, None), Significance(3.0, 0.01)])
    assert (test.rate, test.undefined) == (0.5, 0.5)


def test_the_page_says_how_many_rates_are_nominal_and_lists_each() -> None:
    exact = Rate("coverage", "Wilson", "n = 5", 0.95, width=0.4)
    drawn = Rate("type I error", "sandwich", "4 clusters", 0.2, samples=400)
    written = page([exact, drawn], 400, 0)
    assert "1 of 2 rates are nominal" in written
    assert "| Wilson | n = 5 | 95.0% | exact |  | 0.400 | nominal |" in written
    assert "| sandwich | 4 clusters | 20.0% | ± 2.0% |  |  | too eager |" in written

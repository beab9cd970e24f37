"""Agreement of raters on items drawn from a population whose coefficients are known.

An item has a true label; each rater gives it with a chance of their own and errs otherwise, independently. The chance
of each pattern of labels follows, and from it the population's coefficients.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np

from benchmarks.validity.rates import Rate, coverage, of_distinct
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.agreement import ONE_CATEGORY, cohen_kappa, fleiss_kappa, gwet_ac
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray, category_counts
from misstep_analysis.stats.resampling import bootstrap, bootstrapped

_LARGE = 1e9
"""Items of a sample that stands for the population."""


def two_raters(samples: int, rng: np.random.Generator, resamples: int = 1_000) -> Iterator[Rate]:
    """Coverage of Cohen's kappa by formula and by bootstrap."""
    codes = _patterns(2)

    def kappa(sets: FloatArray) -> FloatArray:
        return coefficients.cohen(sets, codes[:, 0], codes[:, 1], 2)

    resampled = partial(_resampled, kappa, resamples, int(rng.integers(2**32)))
    for n in (20, 50, 118):
        for prevalence in (0.5, 0.1):
            chances = _chances(codes, prevalence, (0.9, 0.85))
            truth = float(kappa(chances[None, :] * _LARGE)[0])
            setting = f"n = {n}, prevalence {prevalence:g}, kappa {truth:.2f}"
            drawn = rng.multinomial(n, chances, size=samples)
            yield coverage("Cohen's kappa, asymptotic", setting, truth, of_distinct(drawn, _cohen))
            yield coverage("Cohen's kappa, bootstrap", setting, truth, of_distinct(drawn, resampled))


def three_raters(samples: int, rng: np.random.Generator, resamples: int = 1_000) -> Iterator[Rate]:
    """Coverage of Fleiss' kappa and AC1 by formula, and of Krippendorff's alpha by bootstrap."""
    codes = _patterns(3)
    counts = category_counts(codes, 2)

    def alpha(sets: FloatArray) -> FloatArray:
        return coefficients.alpha(sets, counts, "nominal", np.arange(2.0))

    intervals: dict[str, tuple[Callable[[FloatArray], FloatArray], Callable[..., Estimate]]] = {
        "Fleiss' kappa, asymptotic": (partial(coefficients.fleiss, counts=counts), partial(_fleiss, counts)),
        "Gwet's AC1, asymptotic": (partial(coefficients.gwet, counts=counts), partial(_ac1, counts)),
        "Krippendorff's alpha, bootstrap": (alpha, partial(_resampled, alpha, resamples, int(rng.integers(2**32)))),
    }
    for n in (20, 118):
        for prevalence in (0.5, 0.1):
            chances = _chances(codes, prevalence, (0.9, 0.9, 0.8))
            drawn = rng.multinomial(n, chances, size=samples)
            for method, (coefficient, interval) in intervals.items():
                truth = float(coefficient(chances[None, :] * _LARGE)[0])
                setting = f"n = {n}, 3 raters, prevalence {prevalence:g}, truth {truth:.2f}"
                yield coverage(method, setting, truth, of_distinct(drawn, interval))


def _resampled(statistic: Callable[[FloatArray], FloatArray], resamples: int, seed: int, *items: int) -> Estimate:
    """Return the bootstrap interval; each sample has its own seed, so that no order of samples matters."""
    once = np.array(items)
    drawn = bootstrap(statistic, once, resamples, np.random.default_rng([seed, *items]))
    return bootstrapped(float(statistic(once[None, :].astype(np.float64))[0]), drawn, int(once.sum()), ONE_CATEGORY)


def _fleiss(counts: IntArray, *items: int) -> Estimate:
    estimate = fleiss_kappa(counts, np.array(items)).overall
    return estimate.estimate(estimate.t_interval(), "t")


def _ac1(counts: IntArray, *items: int) -> Estimate:
    estimate = gwet_ac(counts, items=np.array(items))
    return estimate.estimate(estimate.t_interval(), "t")


def _cohen(*items: int) -> Estimate:
    estimate = cohen_kappa(np.array(items).reshape(2, 2))
    return estimate.estimate(estimate.z_interval(), "asymptotic")


def _patterns(raters: int) -> IntArray:
    """Return every pattern of two labels; for two raters in the order of a contingency table's cells."""
    return np.array(list(product(range(2), repeat=raters)))


def _chances(codes: IntArray, prevalence: float, right: tuple[float, ...]) -> FloatArray:
    by_label = [np.prod(np.where(codes == label, right, 1 - np.array(right)), axis=1) for label in (0, 1)]
    return np.asarray((1 - prevalence) * by_label[0] + prevalence * by_label[1])

"""Arms of an experiment: skewed sessions of engineers, and recoveries where others end without."""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.validity.clusters import draw_clusters
from benchmarks.validity.rates import Rate, coverage, rejections
from misstep_analysis.stats.decisions.incidence import Followed, incidence_difference
from misstep_analysis.stats.decisions.relative_change import compare_ratios, compare_skewed
from misstep_analysis.stats.raters.patterns import FloatArray

SIZES = ((10, 10), (10, 30), (30, 30), (100, 100))

MOST_SESSIONS = 5
BETWEEN, WITHIN = 0.5, 1.0

CHANGE = -0.2


def skewed_sums(
    samples: int, rng: np.random.Generator, draws: int = 500, sizes: Sequence[tuple[int, int]] = SIZES
) -> Iterator[Rate]:
    """Coverage of a relative change of mean session sizes, and type I error without a change."""
    for counts in sizes:
        setting = f"{counts[0]} and {counts[1]} engineers of 1 to {MOST_SESSIONS} lognormal sessions"
        treated, control = (draw_sums(samples, count, rng) for count in counts)
        null = [compare_ratios(*pair) for pair in zip(treated, control, strict=True)]
        drawn = [compare_skewed(*pair, rng, draws) for pair in zip(treated, control, strict=True)]
        yield rejections("means over units, delta method and t", setting, [one.test for one in null])
        yield rejections("means over units, studentised permutation", setting, [one.test for one in drawn])
        changed = treated * np.array([1 + CHANGE, 1])
        comparisons = [compare_ratios(*pair) for pair in zip(changed, control, strict=True)]
        yield coverage("relative change, Fieller", setting, CHANGE, [one.relative for one in comparisons])


def failed_calls(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Coverage of a relative change of failure rates without a change."""
    for counts in SIZES:
        setting = f"{counts[0]} and {counts[1]} engineers, calls fail alike"
        arms = [draw_clusters(samples, count, rng) for count in counts]
        comparisons = [compare_ratios(*pair) for pair in zip(*arms, strict=True)]
        yield coverage("relative change of a rate, Fieller", setting, 0.0, [one.relative for one in comparisons])


def incidences(samples: int, rng: np.random.Generator, resamples: int = 500) -> Iterator[Rate]:
    """Type I error and coverage of a difference of recoveries by step 15, where sessions end without."""
    for counts in SIZES:
        setting = f"{counts[0]} and {counts[1]} units of 1 to 3 problems"
        comparisons = [
            incidence_difference(*(draw_followed(count, rng) for count in counts), 15, rng, resamples=resamples)
            for _ in range(samples)
        ]
        yield rejections("recovery by a time, z over resampled units", setting, [one.test for one in comparisons])
        yield coverage("recovery by a time, percentiles", setting, 0.0, [one.difference for one in comparisons])


def draw_sums(samples: int, engineers: int, rng: np.random.Generator) -> FloatArray:
    """Samples x engineers x (sum of sizes, sessions)."""
    sessions = rng.integers(1, MOST_SESSIONS + 1, (samples, engineers))
    own = rng.normal(0, BETWEEN, (samples, engineers, 1))
    sizes = np.exp(own + rng.normal(0, WITHIN, (samples, engineers, MOST_SESSIONS)))
    had = np.arange(MOST_SESSIONS) < sessions[..., None]
    return np.stack([(sizes * had).sum(axis=2), sessions], axis=-1)


def draw_followed(units: int, rng: np.random.Generator) -> Followed:
    """Problems of units, each of which recovers at its own pace; half of all sessions end within 30 steps."""
    owner = np.repeat(np.arange(units), rng.integers(1, 4, units))
    recovers = rng.exponential(12 * np.exp(rng.normal(0, 0.5, units))[owner])
    ends = rng.exponential(30 / np.log(2), len(owner))
    times = np.ceil(np.minimum(recovers, ends))
    return Followed(times.tolist(), np.where(recovers <= ends, 1, 2).tolist(), [str(unit) for unit in owner])

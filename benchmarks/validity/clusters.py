"""Shares of clustered items, and attempts at tasks: clusters with their own chance of success, drawn from a beta."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.validity.rates import Rate, coverage, rejections
from misstep_analysis.stats.clusters.clustered import cluster_bootstrap, clustered_difference
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.clusters.clustered_pairs import clustered_paired_difference, sign_flip_mcnemar
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.pass_at_k import Kind, mean_over_tasks
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.stats.resampling import bootstrapped

SHARE, CORRELATION = 0.2, 0.3
LARGEST_CLUSTER = 12


def one_arm(samples: int, rng: np.random.Generator, resamples: int = 1_000) -> Iterator[Rate]:
    """Coverage of a clustered share, by bounds and by bootstrap."""
    for count in (5, 10, 30, 100):
        for share in (SHARE, 0.01, 0.05, 0.95, 0.99):
            setting = f"{count} clusters of 1 to {LARGEST_CLUSTER}, share {share:g}, icc {CORRELATION:g}"
            drawn = draw_clusters(samples, count, rng, share)
            yield coverage("clustered share, Korn-Graubard", setting, share, [korn_graubard(each) for each in drawn])
            if share == SHARE and count < 100:
                resampled = [_resampled(each, resamples, rng) for each in drawn]
                yield coverage("cluster bootstrap", setting, share, resampled)


UNEQUAL: dict[str, Callable[[int, np.random.Generator], IntArray]] = {
    "equal": lambda count, _: np.full(count, 8),
    "lognormal": lambda count, rng: np.maximum(1, np.exp(rng.normal(1, 1.5, count)).round()).astype(np.int64),
    "one with half of the items": lambda count, _: np.array([4 * (count - 1), *[4] * (count - 1)]),
    "Zipf's": lambda count, _: np.maximum(1, (60 / np.arange(1, count + 1)).round()).astype(np.int64),
}
"""Sizes of so many clusters."""


def unequal(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Type I error of lower bounds, and coverage of intervals, where a few clusters have many of the items."""
    for count in (10, 40, 100):
        for name, sizes_of in UNEQUAL.items():
            for share, correlation in ((0.5, 0.3), (0.8, 0.1), (0.8, 0.6), (0.9, 0.3), (0.95, 0.6)):
                strength = 1 / correlation - 1
                drawn = []
                for _ in range(samples):
                    sizes = sizes_of(count, rng)
                    chances = rng.beta(share * strength, (1 - share) * strength, count)
                    drawn.append(np.column_stack([rng.binomial(sizes, chances), sizes]))
                setting = f"{count} clusters, sizes {name}, share {share:g}, icc {correlation:g}"
                bounds = [korn_graubard(each, side="lower") for each in drawn]
                missed = float(np.mean([(one.low or 0.0) > share for one in bounds]))
                yield Rate("type I error", "clustered share, lower bound", setting, missed, samples)
                both = [korn_graubard(each) for each in drawn]
                yield coverage("clustered share, Korn-Graubard, unequal sizes", setting, share, both)


def two_arms(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Type I error and coverage of a clustered difference."""
    for counts in ((4, 4), (5, 15), (12, 12), (40, 40)):
        setting = f"{counts[0]} and {counts[1]} clusters, share {SHARE:g}, icc {CORRELATION:g}"
        arms = [draw_clusters(samples, count, rng) for count in counts]
        comparisons = [clustered_difference(first, second) for first, second in zip(*arms, strict=True)]
        yield rejections("cluster sandwich, z", setting, [each.test for each in comparisons])
        yield rejections("cluster sandwich, t", setting, [each.small_sample_test for each in comparisons])
        yield coverage("cluster sandwich, z", setting, 0.0, [each.difference for each in comparisons])
        yield coverage("cluster sandwich, t", setting, 0.0, [each.small_sample for each in comparisons])


def shared_arms(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Type I error and coverage where clusters are in both arms."""
    for shared, first, second in ((4, 0, 0), (12, 0, 0), (4, 4, 4), (10, 10, 10), (4, 0, 8)):
        setting = f"{shared} clusters of both arms, {first} and {second} of one, share {SHARE:g}, icc {CORRELATION:g}"
        chances = _chances(samples, shared + first + second, rng, SHARE)
        arms = [
            _drawn(np.concatenate([chances[:, :shared], own], axis=1), rng)
            for own in (chances[:, shared : shared + first], chances[:, shared + first :])
        ]
        name = "cluster sandwich over shared clusters, t"
        comparisons = [clustered_difference(*pair, shared=shared) for pair in zip(*arms, strict=True)]
        yield rejections(name, setting, [each.small_sample_test for each in comparisons])
        yield coverage(name, setting, 0.0, [each.small_sample for each in comparisons])


def attempts(samples: int, rng: np.random.Generator, resamples: int = 1_000) -> Iterator[Rate]:
    """Coverage of mean pass@k and pass^k over tasks, five attempts each, whose chances follow a U-shaped beta."""
    a = b = 0.5
    for tasks in (10, 30, 100):
        chances = rng.beta(a, b, size=(samples, tasks))
        solved = rng.binomial(5, chances)
        measures: tuple[tuple[Kind, int], ...] = (("pass@k", 1), ("pass@k", 3), ("pass^k", 3))
        for kind, k in measures:
            # The mean of (1 - p)^k, and by symmetry of p^k, is a product of (1/2 + i) / (1 + i).
            power = float(np.prod([(b + step) / (a + b + step) for step in range(k)]))
            truth = 1 - power if kind == "pass@k" else power
            intervals = [
                mean_over_tasks(np.column_stack([np.full(tasks, 5), each]), k, rng, kind, resamples).mean
                for each in solved
            ]
            yield coverage(f"{kind} over tasks, bootstrap", f"{tasks} tasks x 5 attempts, k = {k}", truth, intervals)


def sign_flips(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Type I error of McNemar's test by sign flips, where clusters lean alike either way and where they do not."""
    shapes = {"as far either way": ((-3, -1, 1, 3), (0.25, 0.25, 0.25, 0.25)), "skewed, 4 to 1": ((4, -1), (0.2, 0.8))}
    shapes["skewed, 9 to 1"] = ((9, -1), (0.1, 0.9))
    for count in (10, 30, 100, 300):
        for name, (differences, chances) in shapes.items():
            drawn = rng.choice(differences, p=chances, size=(samples, count))
            tests = [sign_flip_mcnemar(each) for each in drawn]
            yield rejections("McNemar over clusters, sign flips", f"{count} clusters, {name}", tests)


def paired_clusters(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Coverage of the difference of two equally good systems over clusters, where they differ often and seldom."""
    for count in (10, 30, 100):
        for discordant in (0.3, 0.05, 0.01):
            setting = f"{count} clusters of 6, {discordant:.0%} discordant, leaning by cluster"
            leaning = rng.random((samples, count))
            first = rng.binomial(6, discordant * leaning)
            second = rng.binomial(6 - first, discordant * (1 - leaning) / (1 - discordant * leaning))
            comparisons = [clustered_paired_difference(each, np.full(count, 6)) for each in first - second]
            yield coverage("clustered pairs, t", setting, 0.0, comparisons)


def draw_clusters(samples: int, count: int, rng: np.random.Generator, share: float = SHARE) -> IntArray:
    """Samples x clusters x (successes, trials): sizes uniform, chances from a beta with the wanted correlation."""
    return _drawn(_chances(samples, count, rng, share), rng)


def _chances(samples: int, count: int, rng: np.random.Generator, share: float) -> FloatArray:
    strength = 1 / CORRELATION - 1
    return rng.beta(share * strength, (1 - share) * strength, size=(samples, count))


def _drawn(chances: FloatArray, rng: np.random.Generator) -> IntArray:
    sizes = rng.integers(1, LARGEST_CLUSTER + 1, size=chances.shape)
    return np.stack([rng.binomial(sizes, chances), sizes], axis=-1)


def _resampled(clusters: IntArray, resamples: int, rng: np.random.Generator) -> Estimate:
    drawn = cluster_bootstrap(lambda sums: sums[:, 0] / sums[:, 1], clusters, resamples, rng)
    x, n = clusters.sum(axis=0)
    return bootstrapped(x / n, drawn, int(n))

"""Tests of two samples of numbers, and Cliff's delta: samples without a difference, of unequal size and spread."""

from collections.abc import Iterator

import numpy as np

from benchmarks.validity.alternatives.two_samples import cliffs_delta, mann_whitney, welch
from benchmarks.validity.rates import Rate, coverage, rejections
from misstep.analysis.stats.raters.patterns import FloatArray

SIZES = ((5, 5), (6, 20), (25, 25))


def means(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Type I error and coverage of Welch's test: equal and unequal spread, and skewed values."""
    for m, n in SIZES:
        for shape, spread in (("normal", 1.0), ("normal", 3.0), ("exponential", 1.0)):
            first, second = _draw(shape, spread, (samples, m), rng), _draw(shape, 1.0, (samples, n), rng)
            found = [welch(x, y) for x, y in zip(first, second, strict=True)]
            setting = f"n = {m} and {n}, {shape}, spreads {spread:g} and 1"
            yield rejections("Welch", setting, [each.test for each in found])
            yield coverage("Welch", setting, 0.0, [each.difference for each in found])


def ranks(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Type I error of Mann-Whitney, exact and asymptotic, and coverage of Cliff's delta, with and without ties."""
    for m, n in SIZES:
        for shape in ("normal", "five points"):
            first, second = _draw(shape, 1.0, (samples, m), rng), _draw(shape, 1.0, (samples, n), rng)
            found = [mann_whitney(x, y) for x, y in zip(first, second, strict=True)]
            setting = f"n = {m} and {n}, {shape}"
            yield rejections("Mann-Whitney, exact", setting, [each.two_sided for each in found])
            yield rejections("Mann-Whitney, asymptotic", setting, [each.asymptotic for each in found])
            deltas = [cliffs_delta(x, y) for x, y in zip(first, second, strict=True)]
            yield coverage("Cliff's delta", setting, 0.0, deltas)


def _draw(shape: str, spread: float, size: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    if shape == "normal":
        return np.asarray(rng.normal(0, spread, size))
    if shape == "exponential":
        return np.asarray(rng.exponential(spread, size))
    return rng.choice(5, size, p=[0.1, 0.2, 0.4, 0.2, 0.1]).astype(np.float64)

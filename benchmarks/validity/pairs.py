"""Judges of pairs: strengths of systems over tasks of known quality, and places that a judge prefers or does not."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.validity.rates import Rate, coverage, rejections
from misstep_analysis.judging.pairs.preferences import position_bias
from misstep_analysis.stats.bradley_terry import Comparisons, Strengths, bradley_terry, clustered_strengths
from misstep_analysis.stats.significance import Significance, holm
from misstep_harness.verdict import OrderAnswer, PairVerdict

Array = npt.NDArray[np.float64]
_TIES = 0.1
_QUALITY = 1.0
"""How far the quality of a system's outputs differs from task to task, as log-odds."""


def strengths(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Coverage of strengths over tasks, and how often two of several equal systems are told apart."""
    for true, tasks in (
        ((0.4, -0.4), 40),
        ((0.5, 0.0, -0.5), 20),
        ((0.5, 0.0, -0.5), 100),
        ((1, 0.3, 0, -0.3, -1), 40),
    ):
        points = _drawn(true, 400_000, rng).sum(axis=0)
        truth = bradley_terry(points[None])[0]
        results = [_strengths(_drawn(true, tasks, rng)) for _ in range(samples)]
        setting = f"{len(true)} systems, all pairs on each of {tasks} tasks"
        for system, where in ((0, "strongest"), (len(true) - 1, "weakest")):
            intervals = [one.of(system) for one in results]
            yield coverage("Bradley-Terry over tasks, t", f"{setting}, {where}", float(truth[system]), intervals)
    for systems, tasks in ((2, 40), (4, 20), (4, 100)):
        tests = [_least(_strengths(_drawn((0.0,) * systems, tasks, rng))) for _ in range(samples)]
        yield rejections("Bradley-Terry over tasks, Holm", f"{systems} equal systems, {tasks} tasks", tests)


def _drawn(true: tuple[float, ...], tasks: int, rng: np.random.Generator) -> Array:
    """Return tasks x systems x systems: the points of the first; each output has a quality of its own."""
    quality = np.array(true) + rng.normal(0, _QUALITY, (tasks, len(true)))
    chance = 1 / (1 + np.exp(quality[:, None, :] - quality[:, :, None]))
    won = np.where(rng.random(chance.shape) < _TIES, 0.5, rng.random(chance.shape) < chance)
    upper = np.triu(won, 1)
    return np.asarray(upper + np.tril(1 - won.transpose(0, 2, 1), -1))


def _strengths(points: Array) -> Strengths:
    tasks, systems = points.shape[:2]
    first, second = np.triu_indices(systems, 1)
    clusters = np.repeat(np.arange(tasks), len(first))
    scores = points[:, first, second].ravel()
    return clustered_strengths(Comparisons(np.tile(first, tasks), np.tile(second, tasks), scores, clusters, systems))


def _least(strengths: Strengths) -> Significance:
    """Return the least of the p-values of every two systems, adjusted: whether any two are told apart."""
    first, second = np.triu_indices(len(strengths.values), 1)
    tests = [strengths.difference(int(a), int(b))[1].p_value for a, b in zip(first, second, strict=True)]
    known = [p for p in holm(tests).p_values if p is not None]
    return Significance(None, min(known, default=None))


def positions(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Coverage of the share of the first place, and how often a preference is found, planted or not."""
    for pairs, tasks in ((30, 30), (100, 100), (120, 40)):
        for orders in (2, 1):
            for leaning in (0.0, 0.8):
                truth = _first_share(leaning)
                results = [position_bias(*_judged(pairs, tasks, orders, leaning, rng)) for _ in range(samples)]
                where = f"{pairs} pairs of {tasks} tasks in {'both orders' if orders == 2 else 'a random order'}"
                setting = f"{where}, first place {truth:.0%}"
                yield coverage("first place, Korn-Graubard", setting, truth, [one.first for one in results])
                tests = [Significance(None, one.p_value) for one in results]
                if not leaning:
                    yield rejections("place, sign flips over tasks", setting, tests)
                elif pairs >= 100:
                    rate = float(np.mean([one.p_value is not None and one.p_value <= 0.05 for one in results]))
                    yield Rate("power", "place, sign flips over tasks", setting, rate, samples)


def _first_share(leaning: float) -> float:
    """Return the chance of the first place, over pairs whose outputs differ in quality."""
    apart = np.random.default_rng(0).normal(0, np.sqrt(2) * _QUALITY, 1_000_000)
    return float((1 / (1 + np.exp(-apart - leaning))).mean())


def _judged(
    pairs: int, tasks: int, orders: int, leaning: float, rng: np.random.Generator
) -> tuple[list[PairVerdict], dict[str, str]]:
    verdicts = []
    for pair, apart in enumerate(rng.normal(0, np.sqrt(2) * _QUALITY, pairs)):
        firsts = ("a", "b") if orders == 2 else (("a", "b")[rng.integers(2)],)
        answers = tuple(_answer(first, apart, leaning, rng) for first in firsts)
        labels = {one.label for one in answers}
        label = labels.pop() if len(labels) == 1 else None
        status = "abstained" if label is None else "answered"
        verdicts.append(PairVerdict(str(pair), "judge", label, status, orders=answers))
    return verdicts, {str(pair): str(pair % tasks) for pair in range(pairs)}


def _answer(first: str, apart: float, leaning: float, rng: np.random.Generator) -> OrderAnswer:
    better = apart if first == "a" else -apart
    other = "b" if first == "a" else "a"
    prefers = first if rng.random() < 1 / (1 + np.exp(-better - leaning)) else other
    return OrderAnswer(first, "tie" if rng.random() < _TIES else prefers)

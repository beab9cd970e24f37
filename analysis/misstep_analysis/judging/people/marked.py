"""Judges that mark errors in runs, against the errors that people marked: by category, by place, by both together.

By category, F1 is the mean over categories, weighted by how many runs have one; by place, and by both, it is the mean
over runs of the share of people's marks found. After TRAIL (Deshpande and others 2025, arXiv:2505.08638).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.judging.units import resampled_estimate
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.coefficients import ratio
from misstep_analysis.stats.raters.patterns import FloatArray
from misstep_analysis.stats.resampling import bca, bootstrap

Mark = tuple[str, str]

NO_RUNS = "no run was judged"
NO_MARKS = "people marked nothing in the runs judged"


class MarkedScores(Struct, frozen=True):
    """How the judge's marks meet people's; `outside` counts marks of a category that people used nowhere."""

    n: int
    answered: int
    unmarked: int
    marks: int
    outside: int
    weighted_f1: Estimate
    location: Estimate
    joint: Estimate


def marked_scores(
    people: Mapping[str, Set[Mark]],
    judge: Mapping[str, Iterable[Mark] | None],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> MarkedScores:
    """Return the scores of a judge's marks, with bootstrap intervals over runs."""
    runs = [run for run in judge if run in people]
    named = {run: list(judge[run] or ()) for run in runs}
    categories = sorted({category for marks in people.values() for _, category in marks})
    pairs = [(set(people[run]), set(named[run])) for run in runs]
    places = [({place for place, _ in truth}, {place for place, _ in flags}) for truth, flags in pairs]
    rng = np.random.default_rng(seed)
    return MarkedScores(
        n=len(runs),
        answered=sum(judge[run] is not None for run in runs),
        unmarked=sum(not truth for truth, _ in pairs),
        marks=sum(map(len, named.values())),
        outside=sum(category not in categories for marks in named.values() for _, category in marks),
        weighted_f1=_weighted_f1(pairs, categories, resamples, rng),
        location=_mean_share(places, resamples, rng),
        joint=_mean_share(pairs, resamples, rng),
    )


def _weighted_f1(
    pairs: list[tuple[set[Mark], set[Mark]]], categories: list[str], resamples: int, rng: np.random.Generator
) -> Estimate:
    if not pairs:
        return Estimate(None, n=0, reason=NO_RUNS)
    truth, flags = (_present([pair[side] for pair in pairs], categories) for side in (0, 1))
    statistic = partial(_f1_of_sets, truth=truth, flags=flags)
    once_each = np.ones(len(pairs), dtype=np.int64)
    value = float(statistic(once_each[None, :].astype(np.float64))[0])
    drawn = bootstrap(statistic, once_each, resamples, rng)
    return resampled_estimate(value, drawn, len(pairs), "runs", NO_MARKS)


def _present(marks: list[set[Mark]], categories: list[str]) -> FloatArray:
    categories_of = [{category for _, category in run} for run in marks]
    rows = [[float(category in run) for category in categories] for run in categories_of]
    return np.array(rows, dtype=np.float64).reshape(len(marks), len(categories))


def _f1_of_sets(sets: FloatArray, truth: FloatArray, flags: FloatArray) -> FloatArray:
    support, named, right = sets @ truth, sets @ flags, sets @ (truth * flags)
    # A category without any mark of people weighs nothing, whether its own F1 is defined or not.
    f1 = np.nan_to_num(ratio(2 * right, support + named))
    return ratio((support * f1).sum(axis=1), support.sum(axis=1))


def _mean_share(pairs: Sequence[tuple[Set[object], Set[object]]], resamples: int, rng: np.random.Generator) -> Estimate:
    shares = [len(truth & flags) / len(truth) for truth, flags in pairs if truth]
    if not shares:
        return Estimate(None, n=0, reason=NO_MARKS if pairs else NO_RUNS)
    estimate = bca(np.array(shares), rng, resamples=resamples)
    return structs.replace(estimate, method=estimate.method.replace("of items", "of runs"))

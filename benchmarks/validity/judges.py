"""Prevalence under a judge that errs, and recovery over time: populations whose prevalence is known."""

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.stats.correction import rogan_gladen
from analysis.stats.estimate import Estimate
from analysis.stats.incidence import cumulative_incidence
from benchmarks.validity.alternatives.prediction_powered import PredictionPowered, prediction_powered_mean
from benchmarks.validity.alternatives.shares import rogan_gladen_known
from benchmarks.validity.rates import Rate, coverage, of_distinct


def corrected(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Coverage of the corrected prevalence, with measured and with known sensitivity and specificity."""
    n, sensitivity, specificity = 300, 0.85, 0.9
    for prevalence in (0.02, 0.1, 0.4):
        flagged_share = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
        for validated in (20, 100):
            drawn = np.column_stack(
                [
                    rng.binomial(n, flagged_share, samples),
                    rng.binomial(validated, sensitivity, samples),
                    rng.binomial(validated, specificity, samples),
                ]
            )
            # A judge whose validation says that it tells nothing is refused: no interval.
            informative = drawn[drawn[:, 1] + drawn[:, 2] > validated]
            setting = f"n = {n}, prevalence {prevalence:g}, {validated} + {validated} validation items"
            intervals = of_distinct(
                informative,
                lambda x, found, alone, size=validated: rogan_gladen((x, n), (found, size), (alone, size)).estimate,
            )
            yield coverage("Rogan-Gladen, Lang-Reiczigel", setting, prevalence, intervals)
        known = of_distinct(
            rng.binomial(n, flagged_share, (samples, 1)),
            lambda x: rogan_gladen_known((x, n), sensitivity, specificity).estimate,
        )
        yield coverage("Rogan-Gladen, known rates", f"n = {n}, prevalence {prevalence:g}", prevalence, known)


def prediction_powered(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Coverage of the prediction-powered mean, by our bounds and by the paper's, and of the labelled items alone.

    A judge that is nearly always right often shows no error on few labels: these samples are counted apart, too.
    """
    others = 1_000
    for prevalence in (0.1, 0.4):
        for labelled in (20, 40, 150):
            for accuracy in (0.85, 0.97, 1.0):
                found, errors = [], []
                for _ in range(samples):
                    gold = rng.random(labelled + others) < prevalence
                    judged = np.where(rng.random(gold.shape) < accuracy, gold, ~gold)
                    found.append(prediction_powered_mean(gold[:labelled], judged[:labelled], judged[labelled:]))
                    errors.append(np.count_nonzero(gold[:labelled] != judged[:labelled]))
                setting = f"{labelled} labelled + {others} judged items, prevalence {prevalence:g}, judge {accuracy:g}"
                yield from _powered(setting, prevalence, found)
                without = [each for each, wrong in zip(found, errors, strict=True) if not wrong]
                if samples / 20 < len(without) < samples:
                    yield from _powered(f"{setting}, no error seen", prevalence, without)


def _powered(setting: str, truth: float, found: Sequence[PredictionPowered]) -> Iterator[Rate]:
    normal = [Estimate(each.powered.value, *(each.normal or (None, None))) for each in found]
    yield coverage("prediction-powered mean", setting, truth, [each.powered for each in found])
    yield coverage("prediction-powered mean, limits of the paper", setting, truth, normal)
    yield coverage("labelled items alone, Wald", setting, truth, [each.classical for each in found])


def recovery(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Coverage of cumulative incidence at one time, with competing ends and censoring, all exponential."""
    recovers, ends, censors, time = 0.1, 0.05, 0.03, 6.0
    both = recovers + ends
    truth = recovers / both * (1 - np.exp(-both * time))
    for n in (20, 80):
        intervals = []
        for _ in range(samples):
            event = rng.exponential(1 / both, n)
            censored = rng.exponential(1 / censors, n)
            kind = np.where(rng.random(n) < recovers / both, 1, 2)
            curve = cumulative_incidence(np.minimum(event, censored), np.where(event <= censored, kind, 0))
            intervals.append(curve.at(time))
        yield coverage("Aalen-Johansen, log(-log)", f"n = {n}, incidence {truth:.2f}", float(truth), intervals)

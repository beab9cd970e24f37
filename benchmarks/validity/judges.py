"""Prevalence under a judge that errs, recovery over time, thresholds, two judges: all of known truth."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from benchmarks.validity.rates import Rate, coverage, of_distinct
from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.drift import FigureDrift, JudgedText, drift
from misstep_analysis.judging.precision_threshold import precision_threshold
from misstep_analysis.stats.correction import powered_share, rogan_gladen
from misstep_analysis.stats.decisions.incidence import cumulative_incidence
from misstep_analysis.stats.estimate import Estimate
from misstep_harness.verdict import Verdict

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Scored = Callable[[np.random.Generator, int], tuple[Array, Array]]
"""Scores of so many answers, and the chance of each to be right."""

FLOOR = 0.8


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
                lambda x, detected, alone, size=validated: (
                    rogan_gladen((x, n), (detected, size), (alone, size)).estimate
                ),
            )
            yield coverage("Rogan-Gladen, Lang-Reiczigel", setting, prevalence, intervals)


def prediction_powered(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Coverage of the prediction-powered mean, by our bounds."""
    others = 1_000
    for prevalence in (0.1, 0.4):
        for labelled in (20, 40, 150):
            for accuracy in (0.85, 0.97, 1.0):
                intervals, errors = [], []
                for _ in range(samples):
                    gold = rng.random(labelled + others) < prevalence
                    judged = np.where(rng.random(gold.shape) < accuracy, gold, ~gold)
                    intervals.append(_powered_share(gold[:labelled], judged[:labelled], judged[labelled:]))
                    errors.append(np.count_nonzero(gold[:labelled] != judged[:labelled]))
                setting = f"{labelled} labelled + {others} judged items, prevalence {prevalence:g}, judge {accuracy:g}"
                yield coverage("prediction-powered mean", setting, prevalence, intervals)
                without = [each for each, wrong in zip(intervals, errors, strict=True) if not wrong]
                if samples / 20 < len(without) < samples:
                    yield coverage("prediction-powered mean", f"{setting}, no error seen", prevalence, without)


def _powered_share(gold: Array, judged: Array, others: Array) -> Estimate:
    flagged, missed, wrong = (
        np.column_stack([counted, np.ones(len(counted))]) for counted in (others, gold & ~judged, judged & ~gold)
    )
    return powered_share(flagged, missed, wrong)


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


def _alike(precision: float, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    return rng.random(n), np.full(n, precision)


def _without(precision: float, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    return np.zeros(n) * rng.random(n), np.full(n, precision)


def _votes(precisions: tuple[float, float, float], rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    drawn = rng.choice(3, n, p=[0.2, 0.3, 0.5])
    return np.array([0.6, 0.8, 1.0])[drawn], np.array(precisions)[drawn]


def _ties(precisions: tuple[float, float], rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    tied = rng.random(n) < 0.9
    return np.where(tied, 0.9, rng.random(n)), np.where(tied, *precisions)


def _rising(low: float, high: float, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    scores = rng.random(n)
    return scores, low + (high - low) * scores


ABOVE: dict[str, tuple[Scored, tuple[int, ...]]] = {
    "93% right, scores say nothing": (partial(_alike, 0.93), (600, 200, 100)),
    "93% right, no scores": (partial(_without, 0.93), (600, 200, 100)),
    "60, 85 and 97% right by votes": (partial(_votes, (0.6, 0.85, 0.97)), (600, 200)),
    "94% right, nine tenths of the scores tied": (partial(_ties, (0.94, 0.7)), (600, 200)),
    "50 to 100% right, rising with the score": (partial(_rising, 0.5, 1.0), (1_200, 600)),
    "surest answers worst, 95 down to 85% right": (partial(_rising, 0.95, 0.85), (600, 200)),
}
"""Judges that have a threshold above the floor, with numbers of answers."""

BELOW: dict[str, tuple[Scored, tuple[int, ...]]] = {
    "80% right, scores say nothing": (partial(_alike, 0.7999), (600, 100)),
    "80% right, no scores": (partial(_without, 0.7999), (600, 100)),
    "70 to 80% right, rising with the score": (partial(_rising, 0.7, 0.7999), (600,)),
    "80% right by most votes": (partial(_votes, (0.6, 0.7, 0.7999)), (600,)),
    "80% right, nine tenths of the scores tied": (partial(_ties, (0.7999, 0.7)), (600,)),
    "half above the floor: 60 to 100% right, rising with the score": (partial(_rising, 0.6, 1.0), (600,)),
}
"""Judges none of whose thresholds keeps the floor, or some do not."""


def thresholds(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Return how often a threshold is given out: one that keeps the floor (power), and one that does not (error)."""
    method, drawn = f"precision threshold, {FLOOR:.0%}", max(1, samples // 5)
    for name, (scored, sizes) in ABOVE.items():
        for n in sizes:
            has_label = [one is not None for one in _given_out(scored, n, drawn, rng)]
            yield Rate("power", method, f"{name}, {n} answers", float(np.mean(has_label)), drawn)
    for name, (scored, sizes) in BELOW.items():
        scores, chances = scored(np.random.default_rng(0), 200_000)
        for n in sizes:
            chosen = _given_out(scored, n, drawn, rng)
            wrong = [one is not None and float(chances[scores >= one].mean()) < FLOOR - 1e-5 for one in chosen]
            yield Rate("type I error", method, f"{name}, {n} answers", float(np.mean(wrong)), drawn)


def _given_out(scored: Scored, n: int, samples: int, rng: np.random.Generator) -> Iterator[float | None]:
    for _ in range(samples):
        scores, chances = scored(rng, n)
        right = rng.random(n) < chances
        verdicts = [Verdict(str(place), "judge", "yes", score=float(score)) for place, score in enumerate(scores)]
        gold = [GoldLabel(str(place), "truth", "yes" if one else "no") for place, one in enumerate(right)]
        yield precision_threshold(verdicts, gold, "yes", FLOOR, seed=int(rng.integers(1 << 30))).threshold


class _TwoRuns(Struct, frozen=True):
    """Two runs of judging: how many items, how many anchors, what shows, and how the judge changed.

    With `controls` the anchors are old items put into the new run; else the system did the same again.
    """

    items: int
    anchors: int
    shares: tuple[float, float]
    gained: float
    lost: float
    controls: bool
    size: int = 1

    @property
    def setting(self) -> str:
        clusters = f" in clusters of {self.size}" if self.size > 1 else ""
        kind = "controls" if self.controls else "repeated"
        shares = f"share {self.shares[0]:g} to {self.shares[1]:g}"
        changed = f"gained {self.gained:g}, lost {self.lost:g}"
        return f"{self.items} + {self.items} items{clusters}, {self.anchors} {kind}, {shares}, {changed}"

    def truth(self) -> dict[str, float]:
        """Return the parts of the change in the long run."""
        before, after = self.shares
        part = 0.0 if self.controls else self.anchors / self.items
        again, new = (
            one * (1 - self.lost) + (1 - one) * self.gained for one in (before, part * before + (1 - part) * after)
        )
        return {"total": new - before, "judge": again - before, "system": new - again}

    def drawn(self, rng: np.random.Generator) -> FigureDrift:
        old, added = self._shows(self.shares[0], self.items, rng), self._shows(self.shares[1], self.items, rng)
        picked = rng.choice(self.items, self.anchors, replace=False) if self.controls else np.arange(self.anchors)
        first = self._texts("old", np.arange(self.items), old)
        again = self._texts("old", picked, self._again(old[picked], rng))
        fresh = np.arange(0 if self.controls else self.anchors, self.items)
        new = self._texts("new", fresh, self._again(added[fresh], rng))
        return drift(first, again + new, {one.text for one in again} if self.controls else ())

    def _shows(self, share: float, n: int, rng: np.random.Generator) -> Bools:
        if self.size == 1:
            return np.asarray(rng.random(n) < share)
        # An intraclass correlation of 0.3, as in the other settings over clusters.
        of_cluster = rng.beta(share * 7 / 3, (1 - share) * 7 / 3, n // self.size)
        return np.asarray(rng.random(n) < np.repeat(of_cluster, self.size))

    def _again(self, shows: Bools, rng: np.random.Generator) -> Bools:
        chance = rng.random(len(shows))
        return np.asarray(np.where(shows, chance >= self.lost, chance < self.gained))

    def _texts(self, run: str, places: npt.NDArray[np.int64], shows: Bools) -> list[JudgedText]:
        pairs = zip(places.tolist(), shows.tolist(), strict=True)
        return [JudgedText(f"{run} {place}", one, f"{run} {place // self.size}") for place, one in pairs]


DRIFTS = (
    _TwoRuns(200, 40, (0.2, 0.2), 0.0, 0.0, controls=True),
    _TwoRuns(200, 40, (0.2, 0.2), 0.05, 0.2, controls=True),
    _TwoRuns(200, 100, (0.3, 0.4), 0.06, 0.14, controls=True),
    _TwoRuns(100, 100, (0.3, 0.3), 0.1, 0.05, controls=True),
    _TwoRuns(400, 160, (0.3, 0.3), 0.06, 0.14, controls=True, size=4),
    _TwoRuns(200, 150, (0.3, 0.3), 0.06, 0.14, controls=False),
    _TwoRuns(200, 100, (0.3, 0.5), 0.1, 0.05, controls=False),
    _TwoRuns(400, 200, (0.2, 0.2), 0.05, 0.2, controls=False, size=4),
)


def drifts(samples: int, rng: np.random.Generator) -> Iterator[Rate]:
    """Coverage of a change and its two parts, and how often a part that is 0 is told from 0."""
    for one in DRIFTS:
        results = [one.drawn(rng) for _ in range(samples)]
        for part, truth in one.truth().items():
            estimates = [getattr(each, part) for each in results]
            method = f"drift, {'the change' if part == 'total' else f'the part of the {part}'}"
            yield coverage(method, one.setting, truth, estimates)
            if part != "total" and abs(truth) < 1e-12:
                differs = [each.low is not None and not each.low <= 0 <= each.high for each in estimates]
                yield Rate("type I error", method, one.setting, float(np.mean(differs)), len(differs))

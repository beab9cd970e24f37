"""Does correcting for a judge's errors come out right? People's labels of half of the runs are hidden, and shown again.

People's labels of a random half of the runs correct the judge's count, and their count over all runs says how far off
that is. A judge with which the labelled half does no better than alone adds nothing.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs

from misstep.analysis.measures.judging.judged import NO_JUDGES, JudgedItems, datasets_of, sample_of
from misstep.analysis.measures.judging.judged_prevalence import judged_prevalence
from misstep.analysis.measures.judging.rows import judging_table
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.raters.patterns import MISSING
from misstep.analysis.tables import Row, Table, made_by_this, measured_on, rows_in
from misstep.analysis.tables.wording import number_text

UNCORRECTED = "as the judge says"
CORRECTED = "Rogan-Gladen"
POWERED = "prediction-powered"
LABELS = "labelled half alone"
ERROR = "Mean error"
HELD = "Interval holds"
PEOPLE = "As people say, all answered items"
NO_INTERVAL = "no split has an interval"
FEW_RUNS = "fewer than four runs: no halves to compare"
_LEAST_RUNS = 4
_SPLITS = 200
_NOTES = (
    "The intervals are for the population that the runs are a sample of, of which people's share of these very runs is "
    "not an independent count: they should hold it more often than in 95% of the splits.",
    "Unanswered items are in neither share: a judge that leaves out what is hard is not corrected for that.",
)


class Way(Struct, frozen=True):
    """How one way of counting did over the splits.

    - `error`: The mean distance from people's share, `None` where it was undefined in every split.
    - `held`: How many of the intervals hold it, of the `bounded` splits that have one.
    """

    error: float | None
    held: int
    defined: int
    bounded: int

    @property
    def coverage(self) -> Estimate:
        """Return the share of the intervals that hold people's share."""
        if not self.bounded:
            return Estimate(None, n=0, reason=NO_INTERVAL)
        return Estimate(self.held / self.bounded, n=self.bounded)


class Halves(Struct, frozen=True):
    """A judge over all splits: people's share of the positive label, and way of counting → how it did."""

    judged: JudgedItems
    people: Estimate
    ways: dict[str, Way]


def halves(judged: JudgedItems, splits: int = _SPLITS, seed: int = 0) -> Halves:
    """How a judge's share of the positive label, raw and corrected, meets people's where half of these are hidden."""
    sample = sample_of(judged)
    people = judged_prevalence(sample).people
    if sample.units.count < _LEAST_RUNS or people.value is None:
        return Halves(judged, people, {})
    rng = np.random.default_rng(seed)
    drawn: dict[str, list[Estimate]] = {UNCORRECTED: [], CORRECTED: [], POWERED: [], LABELS: []}
    for _ in range(splits):
        hidden = np.zeros(sample.units.count, dtype=np.bool_)
        hidden[rng.permutation(sample.units.count)[sample.units.count // 2 :]] = True
        known = np.where(hidden[sample.units.of_item], MISSING, sample.gold)
        one = judged_prevalence(structs.replace(sample, gold=known))
        shares = (one.judge, one.corrected, one.prediction_powered, one.people)
        for estimates, share in zip(drawn.values(), shares, strict=True):
            estimates.append(share)
    return Halves(judged, people, {name: _way(estimates, people.value) for name, estimates in drawn.items()})


def _way(estimates: Sequence[Estimate], truth: float) -> Way:
    known = [one for one in estimates if one.value is not None]
    errors = [abs(float(one.value or 0.0) - truth) for one in known]
    intervals = [(one.low, one.high) for one in known if one.low is not None and one.high is not None]
    held = sum(low <= truth <= high for low, high in intervals)
    return Way(sum(errors) / len(errors) if errors else None, held, len(known), len(intervals))


@made_by_this
def halves_table(
    judged: Sequence[JudgedItems], notes: Sequence[str] = (), splits: int = _SPLITS, seed: int = 0
) -> Table:
    """Return how far the judge's share is from people's where people labelled half of the runs, raw and corrected."""
    each = [halves(one, splits, seed) for one in judged]
    return judging_table(
        "corrected_halves",
        "A judge's count, corrected by people's labels of half of the runs",
        _finding(each, splits),
        (row for one in each for row in measured_on(one.judged.dataset, _rows(one))),
        (
            f"{splits} random halves of the runs or workspaces are labelled; an error is the mean distance from "
            "people's share of all answered items. An interval holds where that share lies in it, of the splits that "
            "have an interval.",
            *_NOTES,
            *notes,
        ),
        datasets_of(judged),
    )


def _rows(one: Halves) -> list[Row]:
    figures = {PEOPLE: one.people}
    if not one.ways:
        figures[ERROR] = Estimate(None, reason=one.people.reason if one.people.value is None else FEW_RUNS)
    for name, way in one.ways.items():
        reason = "" if way.defined else "undefined in every split"
        figures[f"{ERROR}, {name}"] = Estimate(way.error, n=way.defined, reason=reason)
        figures[f"{HELD}, {name}"] = way.coverage
    return rows_in("share", figures, one.judged.title, one.judged.source)


def _finding(benchmarks: Sequence[Halves], splits: int) -> str:
    known = [one for one in benchmarks if one.ways and all(way.error is not None for way in one.ways.values())]
    if not known:
        return NO_JUDGES
    nearer, powered = (
        sum(_error(one, way) < _error(one, UNCORRECTED) for one in known) for way in (CORRECTED, POWERED)
    )
    worth = sum(_error(one, POWERED) < _error(one, LABELS) for one in known)
    held = {way: _range([one.ways[way].coverage for one in known]) for way in (UNCORRECTED, CORRECTED)}
    return (
        f"With people's labels on half of the runs, Rogan and Gladen's correction brings the judge's share nearer to "
        f"people's for {nearer} of {len(known)} judges and the prediction-powered one for {powered}; the corrected 95% "
        f"interval holds people's share in {held[CORRECTED]} of those of {splits} splits with one, the uncorrected "
        f"in {held[UNCORRECTED]}. The prediction-powered share is nearer than the labelled half alone for {worth}."
    )


def _error(halves: Halves, way: str) -> float:
    return halves.ways[way].error or 0.0


def _range(shares: Sequence[Estimate]) -> str:
    known = [one.value for one in shares if one.value is not None]
    if not known:
        return "none"
    low, high = number_text(min(known), "share"), number_text(max(known), "share")
    return low if low == high else f"{low} to {high}"

"""Any set of judges and kinds of access on the same cases: their scores, the finer ones, and pairs of them tested."""

from collections.abc import Mapping, Set
from functools import partial

import numpy as np
from msgspec import Struct

from misstep_analysis.judging.assessment import PerItem, item_costs
from misstep_analysis.judging.pairs.comparison import PairedJudges, compare_judges
from misstep_analysis.judging.people.ceiling import Ceiling, ceiling
from misstep_analysis.judging.sample import JudgedSample, majority
from misstep_analysis.judging.scores import Scores, score
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.triage.cases import LABELS, JudgedCases, finer_gold, finer_labels, finer_verdicts
from misstep_analysis.triage.direction import Direction, direction
from misstep_harness.triage.records.attribution import FAULTS, Fault, TriageVerdict, taxonomy

NONE_PLANTED = "no case of it was generated"


class TriageScores(Struct, frozen=True):
    """What one run of a judge is worth as triage; `finer` is against the subcategories."""

    access: str
    scores: Scores
    finer: Scores | None
    direction: Direction
    ceiling: Ceiling | None
    seconds: PerItem
    cost: PerItem


class ComparedCases(Struct, frozen=True):
    """Runs on the same cases: each with its scores, and every two of them on the cases asked of both."""

    cases: JudgedCases
    runs: Mapping[str, TriageScores]
    pairs: tuple[PairedJudges, ...]

    @property
    def scored(self) -> dict[str, Scores]:
        """Name of a run → its scores."""
        return {name: one.scores for name, one in self.runs.items()}


def compared(cases: JudgedCases, resamples: int = 10_000, seed: int = 0) -> ComparedCases:
    """Runs of judges on the same cases, scored and compared in pairs with Holm's adjustment."""
    runs = {name: triage_scores(cases, name, resamples, seed) for name in cases.runs}
    pairs = compare_judges(cases.runs, cases.gold, clusters=cases.clusters, resamples=resamples, seed=seed)
    return ComparedCases(cases, runs, pairs)


def triage_scores(cases: JudgedCases, run: str, resamples: int = 10_000, seed: int = 0) -> TriageScores:
    """Return what one run of a judge is worth."""
    sample, verdicts, clusters = cases.sample(run), cases.runs[run], cases.clusters
    took = item_costs(sample)
    measured = took.now if took.now["seconds"].reported or not took.cached else took.from_cache
    scored = partial(score, judge=run, clusters=clusters, resamples=resamples, seed=seed)
    finer = None
    if cases.subcategories:
        gold = finer_gold(cases)
        known = {label.item for label in gold}
        named = [verdict for verdict in finer_verdicts(verdicts) if verdict.item in known]
        finer = scored(named, gold, finer_labels(), benchmark=cases.on)
    return TriageScores(
        access=next((one.access for one in verdicts if one.access), ""),
        scores=scored(verdicts, cases.gold, LABELS, benchmark=cases.on),
        finer=finer,
        direction=direction(sample, seed),
        ceiling=ceiling(sample, resamples, seed) if len(sample.raters) > 1 else None,
        seconds=measured["seconds"],
        cost=measured["cost_usd"],
    )


class Planted(Struct, frozen=True):
    """The cases of one subcategory, or of a label without one; run of a judge → the share that it gives each."""

    label: Fault
    subcategory: str
    observed: str
    n: int
    found: Mapping[str, Estimate]
    named: Mapping[str, Estimate]


def planted_and_found(cases: JudgedCases) -> tuple[Planted, ...]:
    """Return every cell of the taxonomy in its order, with what was planted of it and what each run found."""
    labels, finer, book = majority(cases.gold).label_of, majority(cases.subcategories).label_of, taxonomy()
    samples = {run: cases.sample(run) for run in cases.runs}
    cells = [(label, name, cell.observed) for label in FAULTS for name, cell in book[label].subcategories.items()]
    cells += [(label, "", "success") for label in FAULTS if book[label].success and label != "task"]
    planted = []
    for label, name, observed in cells:
        these = {item for item, gold in labels.items() if gold == label and finer.get(item, "") == name}
        if these or name:
            shares = {run: _share(sample, these, label) for run, sample in samples.items()}
            named = {run: _share(sample, these, label, name) for run, sample in samples.items()}
            planted.append(Planted(label, name, observed, len(these), shares, named))
    return tuple(planted)


def _share(sample: JudgedSample, these: Set[str], label: Fault, name: str | None = None) -> Estimate:
    whole = np.array([one.item in these for one in sample.verdicts], dtype=np.bool_)
    finely = [name is None or (isinstance(one, TriageVerdict) and one.subcategory == name) for one in sample.verdicts]
    labelled = sample.answers == sample.codes.places[label]
    return sample.units.share(labelled & np.array(finely, dtype=np.bool_), whole, NONE_PLANTED)

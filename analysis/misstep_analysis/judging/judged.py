"""Real judges against people: their scores and their marks, as tables.

Judges that mark errors in runs, against the errors that people marked: by category, by place, by both together.

By category, F1 is the mean over categories, weighted by how many runs have one; by place, and by both, it is the mean
over runs of the share of people's marks found. After TRAIL (Deshpande and others 2025, arXiv:2505.08638).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.sample import JudgedSample, judged_sample
from misstep_analysis.judging.scores import LEVEL, Scores, score, standings
from misstep_analysis.judging.units import resampled_estimate
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.coefficients import ratio
from misstep_analysis.stats.raters.patterns import FloatArray
from misstep_analysis.stats.resampling import bca, bootstrap
from misstep_analysis.tables import (
    Fields,
    Row,
    Table,
    TableHead,
    Unit,
    estimate_row,
    made_by_this,
    measured_on,
    rows_from,
    rows_of,
)
from misstep_analysis.tables.wording import with_interval
from misstep_harness.verdict import Verdict

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


NO_JUDGES = "No judge's recorded answers are available."
KAPPA = "Cohen's kappa"
_MARKS: Fields = (
    ("F1 by category, weighted", "weighted_f1", "coefficient"),
    ("Errors found by place", "location", "share"),
    ("Errors found by place and category", "joint", "share"),
)
_JUDGES = TableHead(
    "real_judges",
    "autotriage",
    "Recorded judges against people's labels",
    (
        "Items of one workspace or trace hang together: the intervals are over these, not over items.",
        "“Counted as wrong” takes items without a readable answer as mistakes; the others leave them out.",
    ),
)
_MARKED = TableHead(
    "real_marks",
    "autotriage",
    "Errors that recorded judges name in runs, against those that people marked",
    (
        "F1 by category is weighted by how many runs have an error of it; runs without an answer count as runs in "
        "which the judge named nothing.",
        "By place is the mean over runs of the share of people's errors whose span the judge named; runs in which "
        "people marked nothing are left out.",
    ),
)


class JudgedItems(Struct, frozen=True):
    """One judge's verdicts on some items of a data set, with what people said.

    - `verdicts`, `gold`, `clusters`: As `scores.score` takes them.
    - `on`: Which part of the data set the items are, for people; empty where they are all of it.
    """

    judge: str
    dataset: str
    source: str
    verdicts: tuple[Verdict, ...]
    gold: tuple[GoldLabel, ...]
    clusters: Mapping[str, str]
    labels: tuple[str, ...]
    positive: str
    on: str = ""

    @property
    def title(self) -> str:
        """Return the judge and what it judged."""
        return f"{self.judge} on {self.on}" if self.on else self.judge


class ScoredItems(Struct, frozen=True):
    """The same with its scores."""

    judged: JudgedItems
    scores: Scores


class JudgedMarks(Struct, frozen=True):
    """The errors that one judge named in some runs of a data set, and those that people marked; see `marked`."""

    title: str
    dataset: str
    source: str
    people: Mapping[str, frozenset[Mark]]
    judge: Mapping[str, tuple[Mark, ...] | None]


class ScoredMarks(Struct, frozen=True):
    """The same with its scores."""

    judged: JudgedMarks
    scores: MarkedScores


def datasets_of(judged: Iterable[JudgedItems | JudgedMarks]) -> tuple[str, ...]:
    """Return the data sets that some judges' items are of."""
    return tuple(dict.fromkeys(one.dataset for one in judged))


def sample_of(judged: JudgedItems) -> JudgedSample:
    """Return a judge's verdicts beside people's labels, as the questions about one run take them."""
    return judged_sample(
        judged.verdicts, judged.gold, judged.labels, clusters=judged.clusters, positive=judged.positive
    )


def scored_items(judged: JudgedItems, resamples: int = 10_000, seed: int = 0) -> ScoredItems:
    """Return a judge's verdicts with their scores; `resamples` and `seed` are of the bootstrap."""
    scores = score(
        judged.verdicts,
        judged.gold,
        judged.labels,
        benchmark=judged.dataset,
        clusters=judged.clusters,
        resamples=resamples,
        seed=seed,
    )
    return ScoredItems(judged, scores)


def scored_marks(judged: JudgedMarks, resamples: int = 10_000, seed: int = 0) -> ScoredMarks:
    """Return a judge's marks with their scores; `resamples` and `seed` are of the bootstrap."""
    return ScoredMarks(judged, marked_scores(judged.people, judged.judge, resamples=resamples, seed=seed))


@made_by_this
def judges_table(scored: Sequence[ScoredItems], notes: Sequence[str] = ()) -> Table:
    """Accuracy, kappa, precision and recall of each judge, beside what always saying the most frequent label gives."""
    rows = (row for one in scored for row in measured_on(one.judged.dataset, rows_of_judge(one)))
    return _JUDGES.table(_judges_finding(scored), rows, notes, datasets=datasets_of(one.judged for one in scored))


def rows_of_judge(one: ScoredItems) -> list[Row]:
    """Return a judge's figures, beside what always saying the most frequent label gives."""
    scores, positive = one.scores, one.judged.positive
    figures: list[tuple[str, Estimate, Unit]] = [
        ("Accuracy", scores.accuracy, "share"),
        (f"Accuracy of always “{scores.majority_label}”", scores.majority_share, "share"),
        (KAPPA, scores.cohen_kappa, "coefficient"),
    ]
    if label := scores.labels.get(positive):
        figures += [
            (f"Precision of “{positive}”", label.precision, "share"),
            (f"Recall of “{positive}”", label.recall, "share"),
            (f"F1 of “{positive}”", label.f1, "coefficient"),
        ]
    if scores.answered < scores.n:
        answered = Estimate(scores.answered / scores.n, n=scores.n)
        figures[1:1] = [("Accuracy, unanswered counted as wrong", scores.accuracy_all, "share")]
        figures.insert(0, ("Items answered", answered, "share"))
    return rows_of(figures, one.judged.title, one.judged.source)


def _judges_finding(scored: Sequence[ScoredItems]) -> str:
    known = [one for one in scored if one.scores.cohen_kappa.value is not None]
    if not known:
        return NO_JUDGES
    lowest, highest = (end(known, key=lambda one: one.scores.cohen_kappa.value or 0.0) for end in (min, max))
    better = standings(one.scores for one in known).count("more often")
    beat = "beats" if better == 1 else "beat"
    kappas = [with_interval(one.scores.cohen_kappa, "coefficient", one.judged.title) for one in (lowest, highest)]
    unanswered = sum(one.scores.n - one.scores.answered for one in known)
    counted = f" ({unanswered:,} unanswered items count as wrong)" if unanswered else ""
    return (
        f"{better or 'None'} of {len(known)} judges {beat} always giving the most frequent label (paired test, Holm, "
        f"{LEVEL:g}){counted}. "
        f"Kappa against people runs from {kappas[0]} to {kappas[1]}."
    )


@made_by_this
def marks_table(scored: Sequence[ScoredMarks], notes: Sequence[str] = ()) -> Table:
    """Return how judges that mark errors in runs meet people's marks, by category, by place and by both."""
    best = max(scored, key=lambda one: one.scores.joint.value or 0.0, default=None)
    finding = NO_JUDGES
    rows: list[Row] = []
    for one in scored:
        runs, where = one.scores, (one.judged.title, one.judged.source)
        answered = wilson(runs.answered, runs.n) if runs.n else Estimate(None, n=0)
        of_judge = [estimate_row("Runs answered", answered, "share", *where), *rows_from(runs, _MARKS, *where)]
        rows += measured_on(one.judged.dataset, of_judge)
    if best is not None:
        joint = with_interval(best.scores.joint, "share")
        finding = f"The judges name place and category of at most {joint} of people's errors in a run."
    outside = [
        f"{one.judged.title}: {one.scores.outside} of the {one.scores.marks} errors named are of a category "
        "that people used nowhere."
        for one in scored
        if one.scores.outside
    ]
    return _MARKED.table(finding, rows, [*outside, *notes], datasets=datasets_of(one.judged for one in scored))

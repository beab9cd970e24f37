"""Everything that whole counts can say, as one result: the JSON of `misstep merge FILE…`."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from msgspec import Struct

from misstep.analysis.labels import Reading
from misstep.analysis.labels.coding import counted_labels
from misstep.analysis.measures.agreement import AgreementReport, agreement_report
from misstep.analysis.measures.judging.calibration.calibrated_scores import score_for
from misstep.analysis.measures.judging.sample import Codes
from misstep.analysis.measures.judging.scores import (
    LABEL_NEVER_GIVEN,
    LEFT_OPEN,
    NEITHER,
    NEITHER_ANSWERED,
    NEVER_GOLD,
    NOTHING_ANSWERED,
    NOTHING_ASKED,
    LabelScores,
    Matrix,
    kappa_and_f1,
)
from misstep.analysis.measures.judging.units import resampled_counts
from misstep.analysis.measures.passing.attempts import TaskCounts
from misstep.analysis.measures.passing.scores import AtK, Flicker, at_k, flicker
from misstep.analysis.measures.prevalence import Labels, Prevalence, prevalence
from misstep.analysis.measures.shares import share
from misstep.analysis.stats.binned_quantiles import binned_quantile
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.ranking import NO_POSITIVES, area_under_curve, average_precision, doubted_precision
from misstep.analysis.stats.raters.agreement import ONE_CATEGORY
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.harness.errors import InputError
from misstep.harness.evidence import Evidence, together
from misstep.harness.records.whole_counts import (
    SCORE_BINS,
    TIME_EDGES,
    CategorySet,
    Counts,
    GoldAnswer,
    ScoreBin,
    TaskAttempts,
    TimeBin,
)
from misstep.harness.verdict import UNANSWERED

SHARES = (0.5, 0.9, 0.99)

Kind = TypeVar("Kind", TaskAttempts, TimeBin)
NO_SCORES = "no answer on an item with a gold label has a score from 0 to 1"


class CountedRanking(Struct, frozen=True):
    """How well a judge's scores find the items of one gold label, over the `n` with a score from 0 to 1."""

    n: int
    ranking: Estimate
    average_precision: Estimate


class CountedJudge(Struct, frozen=True):
    """The scores of one judge, as in `scores.json`; `outside` counts scores that are not from 0 to 1."""

    judge: str
    evidence: Evidence
    n: int
    answered: int
    abstained: int
    unreadable: int
    refused: int
    failed: int
    without_gold: int
    accuracy: Estimate
    accuracy_all: Estimate
    cohen_kappa: Estimate
    cohen_kappa_all: Estimate
    labels: dict[str, LabelScores]
    confusion: Matrix
    scored: int
    unscored: int
    outside: int
    ranking: Estimate
    by_label: dict[str, CountedRanking]


def counted_judges(counts: Counts, resamples: int = 10_000, seed: int = 0) -> tuple[CountedJudge, ...]:
    """Return the scores of each judge, in the order of their names; `resamples` and `seed` are of the bootstrap."""
    return tuple(_judge(name, counts, resamples, seed) for name in sorted({kind.judge for kind in counts.answers}))


def _judge(judge: str, counts: Counts, resamples: int, seed: int) -> CountedJudge:
    rows = [kind for kind in counts.answers if kind.judge == judge]
    scores = [kind for kind in counts.scores if kind.judge == judge]
    kinds = [kind for kind in counts.asked if kind.judge == judge]
    gold = {kind.gold for kind in rows if kind.gold is not None}
    labels = dict.fromkeys(label for one in kinds for label in one.labels) | dict.fromkeys(sorted(gold))
    codes = Codes(tuple(labels))
    cells = _cells(rows, codes)
    statuses = {status: sum(kind.n for kind in rows if kind.status == status) for status in ("answered", *UNANSWERED)}
    answered = cells.copy()
    answered[:, codes.unanswered] = 0
    kappa, *f1s = _resampled(answered, codes, (NOTHING_ANSWERED, NEITHER_ANSWERED), resamples, seed)
    kappa_all, *f1s_all = _resampled(cells, codes, (NOTHING_ASKED, NEITHER), resamples, seed)
    right = int(np.trace(cells))
    inside = [kind for kind in scores if isinstance(kind.bin, int)]
    return CountedJudge(
        judge=judge,
        evidence=together(kind.evidence for kind in kinds),
        n=sum(kind.n for kind in rows),
        **statuses,
        without_gold=sum(kind.n for kind in rows if kind.gold is None),
        accuracy=share(right, int(answered.sum()), NOTHING_ANSWERED),
        accuracy_all=share(right, int(cells.sum()), NOTHING_ASKED),
        cohen_kappa=kappa,
        cohen_kappa_all=kappa_all,
        labels={
            label: _label_scores(place, answered, cells, f1s[place], f1s_all[place])
            for place, label in enumerate(codes.labels)
        },
        confusion=Matrix.of(codes, cells),
        scored=sum(kind.n for kind in inside),
        unscored=sum(kind.n for kind in scores if kind.bin is None),
        outside=sum(kind.n for kind in scores if kind.bin == "outside"),
        ranking=_ranking(inside),
        by_label={label: _of_label(label, inside, len(codes.labels), resamples, seed) for label in codes.labels}
        if inside
        else {},
    )


def _cells(rows: Collection[GoldAnswer], codes: Codes) -> IntArray:
    places = codes.places
    cells = np.zeros((len(codes.labels), len(codes.labels) + 2), dtype=np.int64)
    for kind in rows:
        if kind.gold is not None:
            answer = codes.unanswered if kind.label is None else places.get(kind.label, codes.unknown)
            cells[places[kind.gold], answer] += kind.n
    return cells


def _resampled(cells: IntArray, codes: Codes, undefined: tuple[str, str], resamples: int, seed: int) -> list[Estimate]:
    """Kappa, and F1 of each label; `undefined` are the reasons without items, and without items of a label."""
    gold, answers = np.nonzero(cells)
    n_labels, (nothing, neither) = len(codes.labels), undefined
    reasons = [ONE_CATEGORY, *[neither] * n_labels] if len(gold) else [nothing] * (1 + n_labels)
    statistic = partial(kappa_and_f1, gold=gold, answers=answers, n_labels=n_labels)
    return resampled_counts(statistic, cells[gold, answers], reasons, resamples, seed)


def _label_scores(place: int, answered: IntArray, cells: IntArray, f1: Estimate, f1_all: Estimate) -> LabelScores:
    right, support = int(cells[place, place]), int(cells[place].sum())
    return LabelScores(
        precision=share(right, int(answered[:, place].sum()), LABEL_NEVER_GIVEN),
        recall=share(right, int(answered[place].sum()), LEFT_OPEN if support else NEVER_GOLD),
        f1=f1,
        recall_all=share(right, support, NEVER_GOLD),
        f1_all=f1_all,
        support=support,
    )


def _ranking(rows: Collection[ScoreBin]) -> Estimate:
    if not rows:
        return Estimate(None, n=0, reason=NO_SCORES)
    right = np.array([kind.gold == kind.label for kind in rows])
    return area_under_curve([_score(kind) for kind in rows], right, times=_repeats(rows))


def _of_label(label: str, rows: Collection[ScoreBin], labels: int, resamples: int, seed: int) -> CountedRanking:
    scores = np.array([score_for(label, kind.label, _score(kind), labels) for kind in rows])
    positive, times = np.array([kind.gold == label for kind in rows]), _repeats(rows)
    ranking = area_under_curve(scores, positive, times=times)
    statistic = partial(average_precision, scores, positive)
    (precision,) = resampled_counts(lambda sets: statistic(sets)[:, None], times, [NO_POSITIVES], resamples, seed)
    return CountedRanking(int(times.sum()), ranking, doubted_precision(precision, int(times.sum())))


def _score(kind: ScoreBin) -> float:
    return kind.bin / SCORE_BINS if isinstance(kind.bin, int) else float("nan")


def _repeats(rows: Collection[ScoreBin]) -> IntArray:
    return np.array([kind.n for kind in rows], dtype=np.int64)


class CountedSystem(Struct, frozen=True):
    """One system; fields ending in `_all` count the attempts without an outcome as failed."""

    system: str
    evidence: Evidence
    n_tasks: int
    n_attempts: int
    answered: int
    at: tuple[AtK, ...]
    at_all: tuple[AtK, ...]
    flicker: Flicker
    flicker_all: Flicker


class TimeQuantile(Struct, frozen=True):
    """The seconds between which a quantile lies, and those between which its 95% interval lies.

    `None` is a bound that no edge gives: of times longer than the last edge.
    """

    share: float
    least: float
    below: float | None
    interval_least: float
    interval_below: float | None


class CountedTimes(Struct, frozen=True):
    """The answers of a judge whose time is known, and their quantiles."""

    judge: str
    n: int
    unknown: int
    quantiles: tuple[TimeQuantile, ...]


class CountedReport(Struct, frozen=True, omit_defaults=True):
    """The figures of each kind of count that there is; `strata` is by what tells sessions apart."""

    resamples: int
    seed: int
    sessions: Prevalence | None = None
    strata: dict[str, dict[str, Prevalence]] = {}
    sub_agents: Prevalence | None = None
    agreement: dict[str, AgreementReport] = {}
    judges: tuple[CountedJudge, ...] = ()
    systems: tuple[CountedSystem, ...] = ()
    times: tuple[CountedTimes, ...] = ()


def counted_report(
    counts: Counts,
    file: str,
    reading: Reading | None = None,
    ks: Sequence[int] = (1, 2, 4),
    resamples: int = 10_000,
    seed: int = 0,
) -> CountedReport:
    """Return the figures of all that was counted."""
    if counts == Counts():
        raise InputError("it holds no counts", "Count files with `misstep count`.", file=file)
    how = reading or Reading()
    labels = counted_labels(counts.ratings, how, file)
    return CountedReport(
        resamples,
        seed,
        sessions=counted_prevalence(counts.sessions) if counts.sessions else None,
        strata=counted_strata(counts.sessions),
        sub_agents=counted_prevalence(counts.sub_agents) if counts.sub_agents else None,
        agreement={name: agreement_report(one, how.level, resamples, seed) for name, one in labels.items()},
        judges=counted_judges(counts, resamples, seed),
        systems=counted_systems(counts.tasks, ks, resamples, seed),
        times=counted_times(counts.times),
    )


def counted_prevalence(rows: Collection[CategorySet], categories: Sequence[str] = ()) -> Prevalence:
    """Return the counts and shares of each category and of any."""
    named = tuple(categories) or _categories_of(rows)
    patterns: Counter[Labels] = Counter()
    for kind in rows:
        label_of = dict.fromkeys(kind.found, "yes") | dict.fromkeys(kind.absent, "no")
        patterns[tuple(label_of.get(category) for category in named)] += kind.n
    return prevalence(named, patterns)


def counted_strata(rows: Collection[CategorySet]) -> dict[str, dict[str, Prevalence]]:
    """Return what sessions are told apart by → stratum → its prevalence; the strata with the most sessions first."""
    named = _categories_of(rows)
    strata: dict[str, dict[str, Prevalence]] = {}
    for by, stratum in sorted({(kind.by, kind.stratum) for kind in rows if kind.by}):
        own = [kind for kind in rows if (kind.by, kind.stratum) == (by, stratum)]
        strata.setdefault(by, {})[stratum] = counted_prevalence(own, named)
    return {by: dict(sorted(each.items(), key=lambda pair: -pair[1].n)) for by, each in strata.items()}


def _categories_of(rows: Collection[CategorySet]) -> tuple[str, ...]:
    return tuple(sorted({category for kind in rows for category in kind.categories}))


def _by_name(rows: Sequence[Kind], field: str) -> Iterator[tuple[str, list[Kind]]]:
    for name in sorted({getattr(kind, field) for kind in rows}):
        yield name, [kind for kind in rows if getattr(kind, field) == name]


def counted_systems(
    rows: Sequence[TaskAttempts], ks: Sequence[int], resamples: int = 10_000, seed: int = 0
) -> tuple[CountedSystem, ...]:
    """Return pass@k, pass^k and flicker of each system, in the order of their names."""
    return tuple(_system(name, own, ks, resamples, seed) for name, own in _by_name(rows, "system"))


def _system(name: str, rows: Sequence[TaskAttempts], ks: Sequence[int], resamples: int, seed: int) -> CountedSystem:
    kinds = [TaskCounts(kind.passed, kind.failed, kind.unanswered) for kind in rows]
    tasks = np.array([kind.n for kind in rows], dtype=np.int64)
    answered, every = [one.answered for one in kinds], [one.all for one in kinds]
    attempts, with_outcome = (
        sum(tried * kind.n for (tried, _), kind in zip(cells, rows, strict=True)) for cells in (every, answered)
    )
    return CountedSystem(
        name,
        together(kind.evidence for kind in rows),
        int(tasks.sum()),
        attempts,
        with_outcome,
        tuple(at_k(answered, k, resamples, seed, tasks) for k in ks),
        tuple(at_k(every, k, resamples, seed, tasks) for k in ks),
        flicker(answered, resamples, seed, tasks),
        flicker(every, resamples, seed, tasks),
    )


def counted_times(rows: Sequence[TimeBin]) -> tuple[CountedTimes, ...]:
    """Return the edges between which quantiles of the times of each judge lie, in the order of their names."""
    return tuple(_times(name, own) for name, own in _by_name(rows, "judge"))


def _times(judge: str, rows: Sequence[TimeBin]) -> CountedTimes:
    bins = np.zeros(len(TIME_EDGES) + 1, dtype=np.int64)
    for kind in rows:
        if kind.bin is not None:
            bins[kind.bin] += kind.n
    n, unknown = int(bins.sum()), sum(kind.n for kind in rows if kind.bin is None)
    quantiles = []
    for quantile in SHARES if n else ():
        one = binned_quantile(bins, quantile)
        edges = _edge(one.bin) or 0.0, _edge(one.bin + 1), _edge(one.first) or 0.0, _edge(one.last + 1)
        quantiles.append(TimeQuantile(quantile, *edges))
    return CountedTimes(judge, n, unknown, tuple(quantiles))


def _edge(place: int) -> float | None:
    return TIME_EDGES[place - 1] / 1e6 if 0 < place <= len(TIME_EDGES) else None

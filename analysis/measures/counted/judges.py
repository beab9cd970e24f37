"""Judges' scores from counted answers and score bins; every item stands for itself.

The figures are those of `analysis.measures.judging.scores` where no two items are of one cluster: counts do not say
which items hang together.
"""

from collections.abc import Collection
from functools import partial

import numpy as np
from msgspec import Struct

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
from misstep.analysis.measures.shares import share
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.ranking import NO_POSITIVES, area_under_curve, average_precision
from misstep.analysis.stats.raters.agreement import ONE_CATEGORY
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.harness.evidence import Evidence, together
from misstep.harness.records.whole_counts import SCORE_BINS, Counts, GoldAnswer, ScoreBin
from misstep.harness.verdict import UNANSWERED

NO_SCORES = "no answer on an item with a gold label has a score from 0 to 1"


class CountedRanking(Struct, frozen=True):
    """How well a judge's scores find the items of one gold label, over the `n` with a score from 0 to 1."""

    n: int
    ranking: Estimate
    average_precision: Estimate


class CountedJudge(Struct, frozen=True):
    """The scores of one judge; the fields have the meaning that they have in `scores.json`.

    - `scored`, `unscored`, `outside`: Answered items with a gold label: those with a score from 0 to 1, without one,
      and with another one.
    - `ranking`: The area under the ROC curve of right answers over wrong ones, by the score of the label given.
    - `by_label`: The same for each label against all others, by the score of that label, with the average precision.
    """

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
        confusion=Matrix(
            codes.labels,
            tuple(tuple(line[: codes.unknown]) for line in cells.tolist()),
            tuple(cells[:, codes.unknown].tolist()),
            tuple(cells[:, codes.unanswered].tolist()),
        ),
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
    return area_under_curve([_score(kind) for kind in rows], right, times=_times(rows))


def _of_label(label: str, rows: Collection[ScoreBin], labels: int, resamples: int, seed: int) -> CountedRanking:
    scores = np.array([score_for(label, kind.label, _score(kind), labels) for kind in rows])
    positive, times = np.array([kind.gold == label for kind in rows]), _times(rows)
    ranking = area_under_curve(scores, positive, times=times)
    statistic = partial(average_precision, scores, positive)
    (precision,) = resampled_counts(lambda sets: statistic(sets)[:, None], times, [NO_POSITIVES], resamples, seed)
    return CountedRanking(int(times.sum()), ranking, precision)


def _score(kind: ScoreBin) -> float:
    return kind.bin / SCORE_BINS if isinstance(kind.bin, int) else float("nan")


def _times(rows: Collection[ScoreBin]) -> IntArray:
    return np.array([kind.n for kind in rows], dtype=np.int64)

"""The scores of one run of a judge, as `scores.json` has them.

Missing never becomes a label: scores are over the answered items, and those that end in `_all` count the unanswered
against the judge. An answer outside the labels is wrong, and counted under its own name.

    {"judge": "strict", "benchmark": "patches", "n": 40, "answered": 38, "abstained": 0, "unreadable": 2, …,
     "accuracy": {"value": 0.84, "low": 0.70, "high": 0.93, "n": 38, "method": "Wilson, 95%", "reason": ""}, …}
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.calibrated_scores import Reliability
from misstep_analysis.judging.sample import Codes, JudgedSample, codes_of, majority, one_an_item
from misstep_analysis.judging.units import BoolArray, JudgedUnits, judging_table, units_of
from misstep_analysis.stats.clusters.clustered_pairs import PairedItems
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.coefficients import ONE_CATEGORY
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray, distinct_rows
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables import Fields, Row, Table, estimate_row, made_by_this, rows_from
from misstep_analysis.tables.wording import (
    counted_text,
    interval_words,
    number_text,
    rate_text,
    with_interval,
)
from misstep_harness.errors import UsageError
from misstep_harness.verdict import UNANSWERED, Verdict

ALL_LABELS = "All labels"
_OVERALL: Fields = (
    ("Accuracy of the answered", "accuracy", "share"),
    ("Accuracy, unanswered counted as wrong", "accuracy_all", "share"),
    ("Cohen's kappa of the answered", "cohen_kappa", "coefficient"),
    ("Cohen's kappa, unanswered as a label of their own", "cohen_kappa_all", "coefficient"),
    ("Most frequent label alone", "majority_share", "share"),
)
_OF_LABEL: Fields = (
    ("Precision", "precision", "share"),
    ("Recall", "recall", "share"),
    ("F1", "f1", "coefficient"),
)
_CHECKED: Fields = (
    ("Accuracy", "accuracy", "share"),
    ("Most frequent label alone", "majority_share", "share"),
    ("Cohen's kappa", "cohen_kappa", "coefficient"),
)
_CALIBRATED: Fields = (
    ("Mean score less share right", "overconfidence", "difference"),
    ("Expected calibration error", "expected_calibration_error", "coefficient"),
)

Standing = Literal["more often", "less often", "not shown"]
_STANDING: dict[Standing, str] = {
    "more often": "more often than",
    "less often": "less often than",
    "not shown": "not shown to be more often than",
}
_NAMED = 3


class LabelScores(Struct, frozen=True):
    """One label against all others; `support` counts the items asked whose gold label it is, answered or not.

    `recall_all` and `f1_all` count unanswered items as missed; precision is over answers alone.
    """

    precision: Estimate
    recall: Estimate
    f1: Estimate
    recall_all: Estimate
    f1_all: Estimate
    support: int


class Matrix(Struct, frozen=True):
    """Gold labels (rows) against answers (columns), over the items with a gold label."""

    labels: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    unknown: tuple[int, ...]
    unanswered: tuple[int, ...]

    @classmethod
    def of(cls, codes: Codes, cells: IntArray) -> "Matrix":
        """Return the matrix of counts of codes of answers (columns) by codes of gold labels."""
        named, (unknown, unanswered) = cells[:, : codes.unknown], cells[:, codes.unknown :].T.tolist()
        return cls(codes.labels, tuple(map(tuple, named.tolist())), tuple(unknown), tuple(unanswered))


class AgainstOneLabel(Struct, frozen=True):
    """A judge compared item by item with always giving the most frequent gold label, unanswered items as wrong.

    The label is the most frequent of these very items, which is to its advantage: where it is ahead, the p-value is
    multiplied by the number of labels that it was chosen from (Bonferroni).
    """

    difference: Estimate
    p_value: float | None
    test: str

    def standing(self, p_adjusted: float | None = None) -> Standing:
        """Return what the test shows, by its own p-value or by one that is adjusted for several judges."""
        p, difference = self.p_value if p_adjusted is None else p_adjusted, self.difference.value
        if p is None or difference is None or p > LEVEL:
            return "not shown"
        return "more often" if difference > 0 else "less often"


class RaterScores(Struct, frozen=True):
    """How far the answers agree with those of one rater, over the items that both labelled."""

    rater: str
    agreement: Estimate
    cohen_kappa: Estimate


class Scores(Struct, frozen=True):
    """All scores of a run; those ending in `_all` count unanswered items as wrong.

    - `unasked`: Items with a gold label of which the run says nothing; no score counts them.
    - `cost_usd`, `input_tokens`, `output_tokens`, `seconds`: Totals over the verdicts that say so, `None` without any;
      `reported` counts these verdicts.
    """

    judge: str
    benchmark: str
    n: int
    answered: int
    abstained: int
    unreadable: int
    refused: int
    failed: int
    tied: int
    unlabelled: int
    unasked: int
    unknown_labels: dict[str, int]
    accuracy: Estimate
    accuracy_all: Estimate
    cohen_kappa: Estimate
    cohen_kappa_all: Estimate
    majority_label: str | None
    majority_share: Estimate
    against_majority: AgainstOneLabel
    labels: dict[str, LabelScores]
    confusion: Matrix
    raters: tuple[RaterScores, ...]
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    seconds: float | None
    reported: dict[str, int]


@made_by_this
def scores_table(scores: Scores, source: str) -> Table:
    """Accuracy, kappa and each label's precision, recall and F1, over the answered and over all."""
    rows = rows_from(scores, _OVERALL, ALL_LABELS, source)
    for name, label in scores.labels.items():
        rows += rows_from(label, _OF_LABEL, name, source)
    title = f"{scores.judge} on {scores.benchmark}"
    counts = unanswered_text(scores)
    all_answered = "Every item was answered." if scores.n else "No item was judged."
    notes = [f"Not answered: {counts}." if counts else all_answered]
    notes += _left_out(scores)
    if scores.unknown_labels:
        notes.append(f"Answers that are none of the labels, counted as wrong: {', '.join(scores.unknown_labels)}.")
    return judging_table("scores", title, headline(scores), rows, notes)


def _left_out(scores: Scores) -> list[str]:
    """Return why items are in no score, a sentence each."""
    reasons = (
        (scores.tied, "raters disagree"),
        (scores.unlabelled, "nobody gave a label"),
        (scores.unasked, "the judge was not asked"),
    )
    return [
        f"{counted_text(count, 'item')} {'is' if count == 1 else 'are'} left out because {why}."
        for count, why in reasons
        if count
    ]


def positive_rates(sample: JudgedSample, *, unanswered_wrong: bool = False) -> dict[str, Estimate]:
    """Return the true positive and the true negative rate of the answered items; empty without a positive label.

    An item of another label is a true negative if it is given its own label: a third answer is not a right "no".
    """
    if sample.positive not in sample.labels:
        return {}
    holds = sample.gold == sample.codes.places[sample.positive]
    share, among = sample.units.share, sample.known if unanswered_wrong else sample.known & sample.answered
    of = "no item" if unanswered_wrong else "no item that was answered"
    never = f"people say “{sample.positive}” of {of}"
    always = f"people say “{sample.positive}” of every item{'' if unanswered_wrong else ' that was answered'}"
    return {
        "true_positive_rate": share(sample.right, among & holds, never),
        "true_negative_rate": share(sample.right, among & ~holds, always),
    }


@made_by_this
def check_table(scores: Scores, reliability: Reliability, rates: dict[str, Estimate], source: str) -> Table:
    """Return how often a judge is right, and in which direction it errs."""
    rows: list[Row] = rows_from(scores, _CHECKED, "", source)
    figures = {f"Recall of “{label}”": one.recall for label, one in scores.labels.items()}
    if rates:
        names = ("True positive rate (TPR)", "True negative rate (TNR)")
        figures = dict(zip(names, rates.values(), strict=True))
    rows += [estimate_row(name, rate, "share", "", source) for name, rate in figures.items()]
    if reliability.scored.value:
        rows += rows_from(reliability, _CALIBRATED, "", source)
    return judging_table(
        "check", f"{scores.judge} against people's labels", headline(scores, "people"), rows, _left_out(scores)
    )


def headline(scores: Scores, gold: str = "the gold labels") -> str:
    """Return how often a judge agrees with the gold labels, and what always giving one label would get."""
    if scores.accuracy.value is None:
        without = f"; {_no_gold(scores)}" if _no_gold(scores) else ""
        of = f"{scores.benchmark} ({scores.answered:,} of {counted_text(scores.n, 'item')} answered{without})"
        return f"{scores.judge} has no accuracy on {of}: {scores.accuracy.reason}."
    sentences = [f"{scores.judge} agrees with {gold} on {rate_text(scores.accuracy_all, 'item')}"]
    if scores.majority_share.value is not None:
        sentences.append(_against_one_label(scores))
    if scores.answered < scores.n:
        sentences += [f"Unanswered items ({unanswered_text(scores)}) count as wrong", _over_answered(scores)]
    return " ".join(f"{each}." for each in sentences)


def _against_one_label(scores: Scores) -> str:
    always = f"Always answering “{scores.majority_label}”"
    share = number_text(scores.majority_share.value, "share")
    match scores.against_majority.standing():
        case "more often":
            return f"{always} would get {share}"
        case "less often":
            return f"{always} would do better: {share}"
        case _:
            return f"{always} would get {share}; the difference may be chance"


def beside_constant(scored: Mapping[str, Scores]) -> str:
    """Return how often the best of some runs is right, and which are no better than always giving one label."""
    ranked = ranking(scored)
    best = ranked[0]
    first = scored[best]
    if first.accuracy_all.value is None:
        return f"No run has an accuracy on {first.benchmark}: {first.accuracy_all.reason}."
    below = [name for name in ranked if _is_below(scored[name])]
    if len(below) == len(ranked):
        named = ", ".join(f"{name} on {with_interval(scored[name].accuracy_all, 'share')}" for name in ranked[:_NAMED])
        none = "Neither" if len(ranked) == 2 else "None"
        return (
            f"{none} of the {len(ranked)} runs gives the gold label more often than {_constant(first)} on "
            f"{_items(first)}: {named}."
        )
    level = [name for name in ranked[1:] if scored[name].accuracy_all.value == first.accuracy_all.value]
    ahead = (
        f"No run gives the gold label more often than {best}" if level else f"{best} gives the gold label most often"
    )
    sentence = f"{ahead}: on {with_interval(first.accuracy_all, 'share')} of {_items(first)}"
    standing = dict(zip(scored, standings(scored.values()), strict=True))[best]
    sentence += f", {_STANDING[standing]} {_constant(first)}." if first.majority_share.value is not None else "."
    if not below:
        return sentence
    worst = ", ".join(f"{name} ({number_text(scored[name].accuracy_all.value, 'share')})" for name in below[:_NAMED])
    others = f" and {len(below) - _NAMED} more" if len(below) > _NAMED else ""
    return f"Always giving the most frequent label is right at least as often as {worst}{others}. {sentence}"


def best_per_benchmark(scored: Sequence[Mapping[str, Scores]]) -> str:
    """Return the highest share of gold labels given on each benchmark, beside one label alone, the lowest first."""
    every = [scores for runs in scored for scores in runs.values()]
    standing = dict(zip(map(id, every), standings(every), strict=True))
    best = [max(runs.values(), key=_accuracy) for runs in scored]
    parts = [_part(scores, standing[id(scores)]) for scores in sorted(best, key=_accuracy)]
    return f"The highest shares of gold labels given are {'; '.join(parts)}. Unanswered items count as wrong."


def unanswered_text(scores: Scores) -> str:
    """Return how many items have no answer, by what became of them; empty where all have one."""
    counts = {status: getattr(scores, status) for status in UNANSWERED}
    return ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)


def ranking(scored: Mapping[str, Scores]) -> list[str]:
    """Return the runs, the one that gives the gold label most often first."""
    return sorted(scored, key=lambda name: -_accuracy(scored[name]))


def _accuracy(scores: Scores) -> float:
    """Return what runs are ranked by: a run without an accuracy comes after one that is never right."""
    return -1.0 if scores.accuracy_all.value is None else scores.accuracy_all.value


def _is_below(scores: Scores) -> bool:
    """Return whether always giving one label is right on as many of these items, or more."""
    accuracy, constant = scores.accuracy_all.value, scores.majority_share.value
    return accuracy is not None and constant is not None and accuracy <= constant


def _constant(scores: Scores) -> str:
    return f"always saying “{scores.majority_label}” would ({number_text(scores.majority_share.value, 'share')})"


def _items(scores: Scores) -> str:
    counted = counted_text(scores.accuracy_all.n or 0, "item")
    return f"{counted} of {scores.benchmark}" if scores.benchmark else counted


def _no_gold(scores: Scores) -> str:
    without = scores.tied + scores.unlabelled
    return f"{without:,} without a gold label left out" if without else ""


def _over_answered(scores: Scores) -> str:
    sentence = f"It agrees on {rate_text(scores.accuracy, 'answered item')}"
    matrix = scores.confusion
    if scores.majority_label not in matrix.labels or not scores.accuracy.n:
        return sentence
    place = matrix.labels.index(scores.majority_label)
    share = (sum(matrix.matrix[place]) + matrix.unknown[place]) / scores.accuracy.n
    return f"{sentence}, and “{scores.majority_label}” alone would on {number_text(share, 'share')}"


def _part(scores: Scores, standing: Standing) -> str:
    accuracy = scores.accuracy_all
    if accuracy.value is None:
        return f"no known share of {scores.benchmark} ({accuracy.reason})"
    interval = interval_words(accuracy.low, accuracy.high, "share")
    text = f"{number_text(accuracy.value, 'share')} of {scores.benchmark} ({interval})"
    return f"{text}, {_STANDING[standing]} {_constant(scores)}" if scores.majority_share.value is not None else text


NOTHING_ANSWERED = "no item with a gold label was answered"
NOTHING_ASKED = "no item with a gold label was asked"
LABEL_NEVER_GIVEN = "no item with a gold label was given this label"
NEVER_GOLD = "no item asked has this gold label"
LEFT_OPEN = "no item with this gold label was answered"
NEITHER = "no item has this label, neither as gold label nor as answer"
NEITHER_ANSWERED = "no item answered has this label, neither as gold label nor as answer"

_FEWEST_RESAMPLES = 1_000
"""For the kappa with one of many raters."""

LEVEL = 0.05
"""A judge is told apart from always giving one label at or below this p-value."""

_SPENT = ("cost_usd", "input_tokens", "output_tokens", "seconds")


class _Answers(Struct, frozen=True):
    """Items with a gold label: the codes of that and of the answer, and what the items are a sample of."""

    gold: IntArray
    answers: IntArray
    units: JudgedUnits

    def only(self, items: BoolArray) -> "_Answers":
        return _Answers(self.gold[items], self.answers[items], self.units.only(items))

    def accuracy(self, undefined: str) -> Estimate:
        return self.units.share(self.gold == self.answers, None, undefined)

    def against(self, label: int | None) -> "AgainstOneLabel":
        if label is None:
            return AgainstOneLabel(Estimate(None, n=0, reason=NOTHING_ASKED), None, "")
        paired = PairedItems.of(self.gold == self.answers, self.gold == label, self.units.of_item, self.units.clustered)
        difference, test, p = paired.difference, paired.test, paired.test.p_value
        if p is not None and (difference.value or 0.0) < 0:
            p = min(1.0, p * len(np.unique(self.gold)))
        return AgainstOneLabel(difference, p, test.test)


def score(
    verdicts: Iterable[Verdict],
    gold: Iterable[GoldLabel],
    labels: Sequence[str] = (),
    *,
    judge: str = "",
    benchmark: str = "",
    clusters: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Scores:
    """Return the scores of one run of one judge."""
    by_item = one_an_item(verdicts)
    reference = majority(gold)
    codes = codes_of(reference, labels)
    scored = [verdict for verdict in by_item.values() if verdict.item in reference.label_of]
    table = _coded(scored, reference.label_of, codes, clusters)
    answered = table.only(table.answers != codes.unanswered)
    kappa, *f1s = _resampled(answered, codes, (NOTHING_ANSWERED, NEITHER_ANSWERED), resamples, seed)
    kappa_all, *f1s_all = _resampled(table, codes, (NOTHING_ASKED, NEITHER), resamples, seed)
    statuses = Counter(verdict.status for verdict in by_item.values())
    most = int(np.bincount(table.gold, minlength=len(codes.labels)).argmax()) if len(table.gold) else None
    no_gold = by_item.keys() - reference.label_of.keys()
    return Scores(
        judge=_judge_of(by_item.values(), judge),
        benchmark=benchmark,
        n=len(by_item),
        answered=statuses["answered"],
        abstained=statuses["abstained"],
        unreadable=statuses["unreadable"],
        refused=statuses["refused"],
        failed=statuses["failed"],
        tied=len(no_gold & reference.tied),
        unlabelled=len(no_gold - reference.tied),
        unasked=len(reference.label_of.keys() - by_item.keys()),
        unknown_labels=_unknown_labels(by_item.values(), codes),
        accuracy=answered.accuracy(NOTHING_ANSWERED),
        accuracy_all=table.accuracy(NOTHING_ASKED),
        cohen_kappa=kappa,
        cohen_kappa_all=kappa_all,
        majority_label=None if most is None else codes.labels[most],
        majority_share=table.units.share(table.gold == (-1 if most is None else most), None, NOTHING_ASKED),
        against_majority=table.against(most),
        labels={
            label: _label_scores(place, answered, table, f1s[place], f1s_all[place])
            for place, label in enumerate(codes.labels)
        },
        confusion=_matrix(table, codes),
        raters=tuple(
            _against_rater(rater, of_rater, by_item, codes, clusters, _shared(resamples, len(reference.by_rater)), seed)
            for rater, of_rater in reference.by_rater.items()
        ),
        **_spent(by_item.values()),
    )


def standings(scored: Iterable[Scores]) -> list[Standing]:
    """Return how often each of some judges is right beside always giving one label, Holm-adjusted for all of them."""
    against = [one.against_majority for one in scored]
    adjusted = holm([one.p_value for one in against]).p_values
    return [one.standing(p) for one, p in zip(against, adjusted, strict=True)]


def _judge_of(verdicts: Iterable[Verdict], name: str) -> str:
    names = {verdict.judge for verdict in verdicts}
    if len(names) > 1:
        raise UsageError(f"the verdicts are of several judges: {', '.join(sorted(names))}", "Score them one at a time.")
    return name or next(iter(names), "")


def _coded(
    verdicts: Sequence[Verdict], label_of: Mapping[str, str], codes: Codes, clusters: Mapping[str, str] | None
) -> _Answers:
    places, items = codes.places, [verdict.item for verdict in verdicts]
    gold = np.array([places[label_of[item]] for item in items], dtype=np.int64)
    return _Answers(gold, np.array(codes.of(verdicts), dtype=np.int64), units_of(items, clusters))


def _resampled(table: _Answers, codes: Codes, undefined: tuple[str, str], resamples: int, seed: int) -> list[Estimate]:
    """Kappa, and F1 of each label; `undefined` are the reasons without items, and without items of a label."""
    n_labels, (nothing, neither) = len(codes.labels), undefined
    pairs = distinct_rows(np.column_stack([table.gold, table.answers]))
    reasons = [ONE_CATEGORY, *[neither] * n_labels] if len(table.gold) else [nothing] * (1 + n_labels)
    statistic = partial(kappa_and_f1, gold=pairs.rows[:, 0], answers=pairs.rows[:, 1], n_labels=n_labels)
    return table.units.resampled_counts(statistic, pairs, reasons, resamples, seed)


def kappa_and_f1(sets: FloatArray, gold: IntArray, answers: IntArray, n_labels: int) -> FloatArray:
    """Kappa, and F1 of each label, for each set of counts of pairs: sets x (1 + labels)."""
    kappa = coefficients.cohen(sets, gold, answers, n_labels + 2)
    one_hot = np.eye(n_labels + 2)[:, :n_labels]
    of_gold, of_judge = sets @ one_hot[gold], sets @ one_hot[answers]
    right = sets @ (one_hot[gold] * one_hot[answers])
    return np.column_stack([kappa, coefficients.ratio(2 * right, of_gold + of_judge)])


def _label_scores(place: int, answered: _Answers, table: _Answers, f1: Estimate, f1_all: Estimate) -> LabelScores:
    gold, of_judge, of_all = answered.gold == place, answered.answers == place, table.gold == place
    support = int(np.count_nonzero(of_all))
    return LabelScores(
        precision=answered.units.share(gold, of_judge, LABEL_NEVER_GIVEN),
        recall=answered.units.share(of_judge, gold, LEFT_OPEN if support else NEVER_GOLD),
        f1=f1,
        recall_all=table.units.share(table.answers == place, of_all, NEVER_GOLD),
        f1_all=f1_all,
        support=support,
    )


def _matrix(table: _Answers, codes: Codes) -> Matrix:
    cells = np.zeros((len(codes.labels), len(codes.labels) + 2), dtype=np.int64)
    np.add.at(cells, (table.gold, table.answers), 1)
    return Matrix.of(codes, cells)


def _unknown_labels(verdicts: Iterable[Verdict], codes: Codes) -> dict[str, int]:
    known = set(codes.labels)
    times = Counter(verdict.label for verdict in verdicts if verdict.label is not None and verdict.label not in known)
    return dict(sorted(times.items()))


def _shared(resamples: int, raters: int) -> int:
    """Return how many resamples each of several raters gets: a hundred raters take no longer than ten."""
    return min(resamples, max(_FEWEST_RESAMPLES, 10 * resamples // raters))


def _against_rater(
    rater: str,
    of_rater: Mapping[str, str],
    by_item: Mapping[str, Verdict],
    codes: Codes,
    clusters: Mapping[str, str] | None,
    resamples: int,
    seed: int,
) -> RaterScores:
    answered = [verdict for item, verdict in by_item.items() if verdict.label is not None and item in of_rater]
    table = _coded(answered, of_rater, codes, clusters)
    kappa = _resampled(table, codes, (NOTHING_ANSWERED, NEITHER_ANSWERED), resamples, seed)[0]
    return RaterScores(rater, table.accuracy(NOTHING_ANSWERED), kappa)


def _spent(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    amounts = {
        name: [value for verdict in verdicts if (value := getattr(verdict, name)) is not None] for name in _SPENT
    }
    totals: dict[str, Any] = {name: sum(values) if values else None for name, values in amounts.items()}
    return totals | {"reported": {name: len(values) for name, values in amounts.items()}}

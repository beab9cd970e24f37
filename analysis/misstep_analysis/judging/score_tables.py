"""What scores of judges come to, in sentences and tables, for pages and the terminal."""

from collections.abc import Mapping, Sequence

from misstep_analysis.judging.calibration.reliability import Reliability
from misstep_analysis.judging.rows import judging_table
from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.scores import Scores, Standing, standings
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Fields, Row, Table, estimate_row, made_by_this, rows_from
from misstep_analysis.tables.wording import (
    counted_text,
    interval_words,
    number_text,
    with_interval,
)
from misstep_harness.verdict import UNANSWERED

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
_STANDING: dict[Standing, str] = {
    "more often": "more often than",
    "less often": "less often than",
    "not shown": "not shown to be more often than",
}
_NAMED = 3


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
    if without := scores.tied + scores.unlabelled:
        items = counted_text(without, "item")
        notes.append(f"No score counts the {items} without a gold label, {scores.tied:,} of them by a tie.")
    if scores.unknown_labels:
        notes.append(f"Answers that are none of the labels, counted as wrong: {', '.join(scores.unknown_labels)}.")
    if scores.unasked:
        items = counted_text(scores.unasked, "item")
        notes.append(f"No score counts the {items} with a gold label that the judge was not asked about.")
    return judging_table("scores", title, headline(scores), rows, notes)


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
    return judging_table("check", f"{scores.judge} against people's labels", headline(scores), rows)


def headline(scores: Scores) -> str:
    """What one run found, beside always giving one label: over all items, and over the answered where some are not."""
    accuracy = scores.accuracy_all
    if scores.accuracy.value is None:
        without = f"; {_no_gold(scores)}" if _no_gold(scores) else ""
        of = f"{scores.benchmark} ({scores.answered:,} of {counted_text(scores.n, 'item')} answered{without})"
        return f"{scores.judge} has no accuracy on {of}: {scores.accuracy.reason}."
    gives = f"{scores.judge} gives the gold label on {with_interval(accuracy, 'share')} of {_items(scores)}"
    gives += f" ({_no_gold(scores)})" if _no_gold(scores) else ""
    standing = scores.against_majority.standing()
    if standing == "less often":
        gives = f"Less often than {_constant(scores)}, {gives}"
    elif scores.majority_share.value is not None:
        gives += f"; that is {_STANDING[standing]} {_constant(scores)}"
    if scores.answered == scores.n:
        return f"{gives}."
    return f"{gives}. Unanswered items ({unanswered_text(scores)}) count as wrong. {_over_answered(scores)}."


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
    sentence = f"Of the {scores.accuracy.n or 0:,} answered it is right on {with_interval(scores.accuracy, 'share')}"
    matrix = scores.confusion
    if scores.majority_label not in matrix.labels or not scores.accuracy.n:
        return sentence
    place = matrix.labels.index(scores.majority_label)
    share = (sum(matrix.matrix[place]) + matrix.unknown[place]) / scores.accuracy.n
    return f"{sentence}; “{scores.majority_label}” alone would be right on {number_text(share, 'share')}"


def _part(scores: Scores, standing: Standing) -> str:
    accuracy = scores.accuracy_all
    if accuracy.value is None:
        return f"no known share of {scores.benchmark} ({accuracy.reason})"
    interval = interval_words(accuracy.low, accuracy.high, "share")
    text = f"{number_text(accuracy.value, 'share')} of {scores.benchmark} ({interval})"
    return f"{text}, {_STANDING[standing]} {_constant(scores)}" if scores.majority_share.value is not None else text

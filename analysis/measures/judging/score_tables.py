"""The scores of a run of a judge as tables: all of them, and the few that say whether the judge can be trusted."""

from misstep.analysis.measures.judging.calibration.reliability import Reliability
from misstep.analysis.measures.judging.rows import judging_table
from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.measures.judging.wording import headline, unanswered_text
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Fields, Row, Table, estimate_row, made_by_this, rows_from
from misstep.analysis.tables.wording import counted_text

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


@made_by_this
def scores_table(scores: Scores, source: str) -> Table:
    """Accuracy, kappa and each label's precision, recall and F1, over the answered and over all."""
    rows = rows_from(scores, _OVERALL, "All labels", source)
    for name, label in scores.labels.items():
        rows += rows_from(label, _OF_LABEL, name, source)
    title = f"{scores.judge} on {scores.benchmark}"
    return judging_table("scores", title, headline(scores), rows, _notes(scores))


def _notes(scores: Scores) -> list[str]:
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
    return notes


def positive_rates(sample: JudgedSample) -> dict[str, Estimate]:
    """Return the true positive and the true negative rate of the answered items; empty without a positive label."""
    if sample.positive not in sample.labels:
        return {}
    positive, share = sample.codes.places[sample.positive], sample.units.share
    holds, says, answered = sample.gold == positive, sample.answers == positive, sample.known & sample.answered
    never = f"people say “{sample.positive}” of no item that was answered"
    always = f"people say “{sample.positive}” of every item that was answered"
    return {
        "true_positive_rate": share(says, answered & holds, never),
        "true_negative_rate": share(~says, answered & ~holds, always),
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

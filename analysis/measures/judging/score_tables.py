"""The scores of a run of a judge as a table."""

from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.measures.judging.wording import headline, unanswered_text
from misstep.analysis.tables import Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text

_OVERALL = "All labels"


@made_by_this
def scores_table(scores: Scores, source: str) -> Table:
    """Accuracy, kappa and each label's precision, recall and F1, over the answered and over all."""
    rows = [
        estimate_row("Accuracy of the answered", scores.accuracy, "share", _OVERALL, source),
        estimate_row("Accuracy, unanswered counted as wrong", scores.accuracy_all, "share", _OVERALL, source),
        estimate_row("Cohen's kappa of the answered", scores.cohen_kappa, "coefficient", _OVERALL, source),
        estimate_row(
            "Cohen's kappa, unanswered as a label of their own", scores.cohen_kappa_all, "coefficient", _OVERALL, source
        ),
        estimate_row("Most frequent label alone", scores.majority_share, "share", _OVERALL, source),
    ]
    for name, label in scores.labels.items():
        rows += [
            estimate_row("Precision", label.precision, "share", name, source),
            estimate_row("Recall", label.recall, "share", name, source),
            estimate_row("F1", label.f1, "coefficient", name, source),
        ]
    counts = unanswered_text(scores)
    all_answered = "Every item was answered." if scores.n else "No item was judged."
    notes = [f"Not answered: {counts}." if counts else all_answered]
    if scores.tied or scores.unlabelled:
        without = scores.tied + scores.unlabelled
        items = counted_text(without, "item")
        notes.append(f"No score counts the {items} without a gold label, {scores.tied:,} of them by a tie.")
    if scores.unknown_labels:
        notes.append(f"Answers that are none of the labels, counted as wrong: {', '.join(scores.unknown_labels)}.")
    if scores.unasked:
        items = counted_text(scores.unasked, "item")
        notes.append(f"No score counts the {items} with a gold label that the judge was not asked about.")
    return Table(
        name="scores",
        paper="judging",
        title=f"{scores.judge} on {scores.benchmark}",
        finding=headline(scores),
        rows=tuple(rows),
        notes=tuple(notes),
    )

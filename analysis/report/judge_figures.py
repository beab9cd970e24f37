"""The figures of a report on judges, as HTML fragments: confusion matrices, costs against quality, reliability."""

from collections.abc import Mapping, Sequence

from analysis.judging.assessment import Assessment
from analysis.judging.scores import Matrix, Scores
from analysis.plots import forest, heat_map
from analysis.plots.points import cost_quality
from analysis.report.display import figure_html
from analysis.tables import Row

MATRICES_DRAWN = 6
"""Of how many runs the confusion matrix is drawn."""

LABELS_DRAWN = 24
"""How many labels a confusion matrix may have to be drawn."""


def judge_figures(assessments: Mapping[str, Assessment]) -> tuple[str, ...]:
    """All figures of the runs on one benchmark; name of a run → its assessment."""
    scored = {name: assessment.scores for name, assessment in assessments.items()}
    figures = [*_compared(scored)] if len(scored) > 1 else []
    figures += [_confusion(name, scores, alone=len(scored) == 1) for name, scores in _drawable(scored)]
    return tuple(figures)


def _compared(scored: Mapping[str, Scores]) -> list[str]:
    """All runs beside each other: their accuracy, and what it costs."""
    rows = [accuracy_row(name, scores) for name, scores in scored.items()]
    figures = [
        figure_html(
            forest([row for row in rows if row.value is not None], "Accuracy of each run, unanswered counted as wrong"),
            "The share of gold labels given, with its 95% interval; an item without an answer counts as wrong.",
        )
    ]
    costs = {name: cost for name, scores in scored.items() if (cost := cost_per_item(scores)) is not None}
    if costs:
        drawing = cost_quality(rows, costs, "Cost against accuracy", x_label="US dollars an item")
        figures.append(figure_html(drawing, _cost_caption(scored, costs)))
    return figures


def accuracy_row(name: str, scores: Scores) -> Row:
    """The accuracy of a run as a row of a figure, unanswered items counted as wrong."""
    accuracy = scores.accuracy_all
    return Row(
        quantity=name,
        value=accuracy.value,
        low=accuracy.low,
        high=accuracy.high,
        n=accuracy.n,
        source=scores.benchmark,
        unit="share",
        method=accuracy.method,
    )


def cost_per_item(scores: Scores) -> float | None:
    """US dollars an item; `None` where the cost of no item, or not of every one that was answered, is on record."""
    reported = scores.reported["cost_usd"]
    if scores.cost_usd is None or reported < scores.answered:
        return None
    return scores.cost_usd / scores.n


def _cost_caption(scored: Mapping[str, Scores], costs: Mapping[str, float]) -> str:
    unknown = [name for name in scored if name not in costs]
    told = "Accuracy, unanswered counted as wrong, over what an item costs."
    return f"{told} Without a known cost, and so not drawn: {', '.join(unknown)}." if unknown else told


def _drawable(scored: Mapping[str, Scores]) -> Sequence[tuple[str, Scores]]:
    drawn = [(name, scores) for name, scores in scored.items() if 0 < len(scores.confusion.labels) <= LABELS_DRAWN]
    return drawn[:MATRICES_DRAWN]


def _confusion(name: str, scores: Scores, *, alone: bool) -> str:
    matrix = scores.confusion
    columns, extra = list(matrix.labels), _extra_columns(matrix)
    rows = [[*counts, *(column[place] for column in extra.values())] for place, counts in enumerate(matrix.matrix)]
    title = "Gold labels against the judge's answers" if alone else f"{name}: gold labels against its answers"
    drawing = heat_map(rows, matrix.labels, [*columns, *extra], title, row_axis="gold", column_axis="judge")
    return figure_html(drawing, f"{title}: rows are gold labels, columns what the judge said.")


def _extra_columns(matrix: Matrix) -> dict[str, tuple[int, ...]]:
    """What stands beside the labels where there is any: answers that are none of them, and no answers."""
    columns = {"another answer": matrix.unknown, "no answer": matrix.unanswered}
    return {name: counts for name, counts in columns.items() if any(counts)}

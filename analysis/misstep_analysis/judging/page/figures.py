"""The figures of a report on judges, as HTML fragments: confusion matrices, costs against quality, reliability."""

from collections.abc import Mapping

from misstep_analysis.judging.assessment import Assessment
from misstep_analysis.judging.calibration.reliability import Reliability
from misstep_analysis.judging.scores import Scores
from misstep_analysis.pages.notebooks.display import figure_html
from misstep_analysis.plots import forest, heat_map
from misstep_analysis.plots.points import cost_quality, reliability
from misstep_analysis.tables import Row, estimate_row
from misstep_analysis.tables.wording import number_text

RUNS_DRAWN = 6
LABELS_DRAWN = 24


def judge_figures(assessments: Mapping[str, Assessment]) -> tuple[tuple[str, ...], ...]:
    """Return all figures of the runs on one benchmark, those that belong side by side together."""
    scored = {name: assessment.scores for name, assessment in assessments.items()}
    of_runs = []
    for name in list(assessments)[:RUNS_DRAWN]:
        of = "" if len(scored) == 1 else f" of {name}"
        of_runs.append([*_confusions(scored[name], of), *_reliabilities(assessments[name].reliability, of)])
    compared = _compared(scored) if len(scored) > 1 else []
    if all(len(figures) <= 1 for figures in of_runs):
        of_runs = [[figure for figures in of_runs for figure in figures]]
    return tuple(tuple(figures) for figures in (compared, *of_runs) if figures)


def _compared(scored: Mapping[str, Scores]) -> list[str]:
    rows = [
        estimate_row(name, scores.accuracy_all, "share", source=scores.benchmark)
        for name, scores in scored.items()
        if scores.accuracy_all.value is not None
    ]
    if not rows:
        return []
    figures = [
        figure_html(
            forest(rows, "Accuracy of each run, unanswered counted as wrong"),
            "The share of gold labels given, with its 95% interval; an item without an answer counts as wrong.",
        )
    ]
    costs = {name: cost for name, scores in scored.items() if (cost := _cost_per_item(scores)) is not None}
    if costs:
        drawing = cost_quality(rows, costs, "Cost against accuracy", x_label="US dollars an item")
        unknown = [name for name in scored if name not in costs]
        caption = "Accuracy, unanswered counted as wrong, over what an item costs."
        figures.append(
            figure_html(
                drawing,
                f"{caption} Without a known cost, and so not drawn: {', '.join(unknown)}." if unknown else caption,
            )
        )
    return figures


def _cost_per_item(scores: Scores) -> float | None:
    """US dollars an item; `None` where the cost of no item, or not of every one that was answered, is on record."""
    reported = scores.reported["cost_usd"]
    if scores.cost_usd is None or reported < scores.answered:
        return None
    return scores.cost_usd / scores.n


def _confusions(scores: Scores, of: str) -> list[str]:
    matrix = scores.confusion
    if not scores.accuracy_all.n or len(matrix.labels) > LABELS_DRAWN:
        return []
    columns = {"another answer": matrix.unknown, "no answer": matrix.unanswered}
    extra = {name: counts for name, counts in columns.items() if any(counts)}
    rows = [[*counts, *(column[place] for column in extra.values())] for place, counts in enumerate(matrix.matrix)]
    title = f"Gold labels against the answers{of}"
    drawing = heat_map(rows, matrix.labels, [*matrix.labels, *extra], title, row_axis="gold", column_axis="judge")
    caption = f"{title}: rows are what people said, columns what the judge said, items in each cell."
    return [figure_html(drawing, caption)]


def _reliabilities(result: Reliability, of: str) -> list[str]:
    if not result.bins:
        return []
    rows, means = [], {}
    for one in result.bins:
        ends = [number_text(end, "coefficient") for end in dict.fromkeys((one.lowest, one.highest))]
        name = f"Score {' to '.join(ends)}"
        means[name] = one.mean_score
        right = one.right
        rows.append(Row(name, right.value, right.low, right.high, one.n, unit="share", method=right.method))
    drawing = reliability(rows, means, f"Share right by score{of}")
    caption = (
        f"How often the answers{of} are right, by the score that the judge gave them. On the dashed line a score says "
        "how often an answer is right; below it the judge is too sure of itself."
    )
    return [figure_html(drawing, caption)]

"""The Engineering Agent's tables: solve rates, the judge of patches and production, printed and recomputed.

Table III prints shares of 123 tasks, so that each must be a whole count. Table IV prints precision and recall of two
classes, and the text four counts that fix the judge's whole table. Table V prints counts with its shares.
"""

from collections.abc import Sequence
from fractions import Fraction

from misstep_analysis.audit.judge_tables import SWAPS
from misstep_analysis.audit.rounding_boxes import Checked, rounding_box
from misstep_analysis.audit.tables import CheckedFigure, checked_figure, checked_rows, finding, recomputed_rows
from misstep_analysis.published import Figure, Paper, load_paper, published_row
from misstep_analysis.stats.diagnostic import Confusion
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this

SETTINGS = {"react": "ReAct alone", "static": "Static analysis", "tests": "Test execution", "both": "Both"}
SOLVE_RATES = {"solved1": "Solved, one run", "solved5": "Solved, five runs"}
_MEANS = {"patched": "Patch generated, mean of five runs", "errors": "Error, mean of five runs"}
_MEDIAN = "Iterations, as a median of whole counts"
_JUDGE_TABLE = "Table IV"
_SLUG = "engineering_agent"


@made_by_this
def solve_rate_table() -> Table:
    """Return table III: the ablation on 123 failed tests, each share as the whole count that it must be."""
    paper = load_paper(_SLUG)
    n, runs = int(paper["agent.n"].number), int(paper["agent.runs"].number)
    shares: list[CheckedFigure] = []
    solved: list[CheckedFigure] = []
    rows: list[Row] = []
    for key, name in SETTINGS.items():
        rates = [
            checked_figure(paper, paper[f"agent.{key}.{part}"], quantity, name, n=n, with_count=True)
            for part, quantity in SOLVE_RATES.items()
        ]
        means = [
            checked_figure(paper, paper[f"agent.{key}.{part}"], quantity, name) for part, quantity in _MEANS.items()
        ]
        iterations = paper[f"agent.{key}.iterations"]
        median = CheckedFigure(iterations, _MEDIAN, name, (check_median(iterations, n, runs),))
        shares += [*rates, *means]
        solved += [rate for rate in rates if rate.share.value is not None]
        rows += checked_rows([*rates, *means, median])
    return Table(
        name="solve_rates",
        paper=_SLUG,
        title=f"Solve rates on {n} failed tests in four settings (Engineering Agent, table III)",
        finding=finding(shares, "the shares of table III"),
        rows=tuple(rows),
        notes=(
            f"Recomputed: the whole count of {n} tasks that prints so, with its 95% Wilson interval; patches and "
            f"errors are counts of {n} x {runs} runs, which hang together by task, and have no interval.",
            "Five runs solve a task if any of them does. All settings ran on the same tasks; which task was solved in "
            "which is not printed, so that the differences between settings have no interval.",
            *_iteration_notes(paper),
        ),
        drawn=tuple(recomputed_rows(solved)),
    )


def run_rows() -> list[Row]:
    """Return table III's solve rates of one run and of five, under the names of the pass@k that they are."""
    paper = load_paper(_SLUG)
    n = int(paper["agent.n"].number)
    return [
        published_row(paper[f"agent.{key}.{part}"], quantity, n=n, group=f"{name} (Engineering Agent, table III)")
        for key, name in SETTINGS.items()
        for part, quantity in (("solved1", "pass@1"), ("solved5", "pass@5"))
    ]


def production_steps() -> list[Row]:
    """Return table V's counts from published to landed, for a funnel."""
    paper = load_paper(_SLUG)
    steps = {"published": "Diffs published", "reviewed": "Diffs reviewed", "landed": "Diffs landed"}
    return [published_row(paper[f"production.{key}"], name) for key, name in steps.items()]


def check_median(figure: Figure, n: int, runs: int) -> Checked:
    """Return whether a printed number can be the median of `n` whole counts."""
    step = Fraction(1) if n % 2 else Fraction(1, 2)
    near = _multiple_inside(figure, step)
    if near is not None:
        return Checked("mean", "reproduced", f"{figure.printed} is a median that {n:,} whole counts can have.", near)
    ends = "is whole" if n % 2 else "ends in .0 or .5"
    sentence = f"The median of {n:,} whole counts {ends}, and {figure.printed} does not fit"
    if _multiple_inside(figure, step / runs) is None:
        return Checked("mean", "impossible", f"{sentence}.")
    repair = f"a mean over {runs} runs goes in steps of {float(step / runs):g}, and fits"
    return Checked("mean", "underdetermined", f"{sentence}; the quantity is not printed.", suggestion=repair)


_PATCH_FORMATS = TableHead(
    "patch_formats",
    _SLUG,
    "Solve rates by patch format on 210 tasks (Engineering Agent, table II)",
    (
        "A whole percentage of 210 tasks is two or three counts wide: the shares cannot be checked by themselves.",
        "A difference of two rounded shares may be a point more or less than the printed shares give.",
    ),
)


@made_by_this
def formats_table() -> Table:
    """Return table II: solve rates of three patch formats, printed without counts, and the differences in the text."""
    paper = load_paper(_SLUG)
    figures = [
        checked_figure(paper, figure, f"{figure.row} ({figure.place})", "Differences that the paper names")
        if figure.unit == "difference"
        else checked_figure(paper, figure, figure.column, figure.row)
        for figure in format_figures(paper)
    ]
    return _PATCH_FORMATS.table(finding(figures, "table II and the differences named with it"), checked_rows(figures))


_JUDGE = TableHead("judge", _SLUG, "The judge of patches against people's labels (Engineering Agent, table IV)")


@made_by_this
def judge_table() -> Table:
    """Return table IV and the judge's precision in the text, from the counts that the text prints."""
    paper = load_paper(_SLUG)
    figures = [
        checked_figure(paper, figure, figure.column, figure.row)
        if figure.place == _JUDGE_TABLE
        else checked_figure(paper, figure, figure.place, "Precision for unacceptable patches, elsewhere")
        for figure in judge_figures(paper)
    ]
    cells = judge_confusion()
    rates = [_rate_row("Precision", cells.tp, cells.tp + cells.fp), _rate_row("Recall", cells.tp, cells.tp + cells.fn)]
    return _JUDGE.table(
        _judge_finding([one for one in figures if one.figure.place == _JUDGE_TABLE]),
        (*checked_rows(figures), *rates),
        (
            f"The text prints {cells.tp} unacceptable patches found and {cells.fp} acceptable ones called "
            f"unacceptable, of {cells.tp + cells.fn} and {cells.fp + cells.tn}: the other two cells follow.",
            "Intervals are Wilson's, of sampling alone: people's labels have errors of their own.",
        ),
    )


def judge_confusion() -> Confusion:
    """Return the judge's table for the unacceptable class, from the counts that the text prints."""
    paper = load_paper(_SLUG)
    names = ("unacceptable.found", "acceptable.missed", "unacceptable", "acceptable")
    detected, missed, unacceptable, acceptable = (int(paper[f"judge.{name}"].number) for name in names)
    return Confusion(tp=detected, fp=missed, fn=unacceptable - detected, tn=acceptable - missed)


_PRODUCTION = TableHead(
    "production",
    _SLUG,
    "Three months of production (Engineering Agent, table V)",
    ("Diffs not reviewed are published less reviewed; the paper does not print their number.",),
)


@made_by_this
def production_table() -> Table:
    """Return table V: from published to landed in three months, and the same figures elsewhere in the paper."""
    paper = load_paper(_SLUG)
    of_table, elsewhere = (
        [
            checked_figure(paper, figure, f"{figure.row} ({figure.column}, {figure.place})", group)
            for figure in production_figures(paper)
            if figure.place.startswith("Table V") == inside and (inside or figure.derivations)
        ]
        for group, inside in (("Table V", True), ("Elsewhere in the paper", False))
    )
    return _PRODUCTION.table(
        finding([*of_table, *elsewhere], "table V and its figures elsewhere"), checked_rows([*of_table, *elsewhere])
    )


_OTHER_FIGURES = TableHead(
    "other_figures",
    _SLUG,
    "Figures in the running text (Engineering Agent)",
    ("Only figures that another printed figure says something about are here.",),
)


@made_by_this
def other_table() -> Table:
    """Return the figures of benchmarks, runs and comments, and repeats of the tables' figures in the text."""
    paper = load_paper(_SLUG)
    tables = (solve_rate_figures, format_figures, judge_figures, production_figures)
    shown_before = {figure.id for figures in tables for figure in figures(paper)}
    others = [
        checked_figure(paper, figure, f"{figure.row}, {figure.column}", figure.place)
        for figure in paper.figure
        if figure.derivations and figure.id not in shown_before
    ]
    return _OTHER_FIGURES.table(finding(others, "the figures in the running text"), checked_rows(others))


def solve_rate_figures(paper: Paper) -> list[Figure]:
    """Return the shares of table III."""
    return [paper[f"agent.{key}.{part}"] for key in SETTINGS for part in (*SOLVE_RATES, *_MEANS)]


def format_figures(paper: Paper) -> list[Figure]:
    """Return the shares of table II, and the differences between them that the paper names."""
    shares = [
        paper[f"patchgen.{model}.{form}.{detail}"]
        for model in ("llama", "icodellama")
        for form in ("unified", "line", "search_replace")
        for detail in ("high", "detailed")
    ]
    return shares + [figure for figure in paper.figure if figure.id.startswith(("patchgen.gain", "patchgen.loss"))]


def judge_figures(paper: Paper) -> list[Figure]:
    """Return precision and recall of table IV, and the precision elsewhere in the paper."""
    opening = ("judge.table.", "judge.unacceptable.precision.")
    return [figure for figure in paper.figure if figure.id.startswith(opening)]


def production_figures(paper: Paper) -> list[Figure]:
    """Return table V, and its figures elsewhere in the paper."""
    return [figure for figure in paper.figure if figure.id.startswith("production.") and figure.unit != "text"]


def _judge_finding(figures: Sequence[CheckedFigure]) -> str:
    # The joint check of all four has no value of its own and is not a fifth figure.
    table = [check for one in figures for check in one.checks if check.value is not None]
    wrong = [check for check in table if check.status != "reproduced"]
    swapped = [check for check in wrong if check.repair in SWAPS]
    repair = f"; {len(swapped)} of these would fit with the table's two rows swapped" if swapped else ""
    return f"{len(wrong)} of the {len(table)} figures of table IV contradict the counts that the text prints{repair}."


def _rate_row(measure: str, count: int, n: int) -> Row:
    estimate = wilson(count, n)
    group, source = "Unacceptable patches, with what sampling leaves open", f"{count} / {n}, Section 8.3"
    name = f"{measure} from the text's counts"
    return estimate_row(name, estimate, "coefficient", group, source, "recomputed")


def _multiple_inside(figure: Figure, step: Fraction) -> float | None:
    box = rounding_box(figure)
    multiple = round(box.middle / step) * step
    return float(multiple) if box.low <= multiple <= box.high else None


def _iteration_notes(paper: Paper) -> Sequence[str]:
    """Return the names of the iterations in several places, if the paper says both median and average."""
    called = [figure for figure in paper.figure if figure.id.startswith("agent.both.iterations")]
    averages = [figure.place for figure in called if "average" in figure.column]
    medians = [figure.place for figure in called if "med" in figure.column]
    if not averages or not medians:
        return ()
    value = paper["agent.both.iterations"].printed
    return (f"{value} iterations are a median in {' and '.join(medians)} and an average in {' and '.join(averages)}.",)

"""AutoTriage's judges, printed and recomputed; and Wink's judge, of whom one percentage is printed.

Table 3 prints agreement and kappa of nine judges without their number of runs; table 4 prints two rows of three
confusion matrices. Which numbers of runs print the agreements is computed here, and their uncertainty.
"""

from collections.abc import Mapping, Sequence

from misstep_analysis.audit.tables import PrintedCount, checked_figure, checked_rows, finding
from misstep_analysis.judging.judged import ScoredItems
from misstep_analysis.published import Figure, Paper, PrintedMatrix, load_paper, published_row
from misstep_analysis.stats.printed.audit import counts_that_print, denominators_that_print
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this
from misstep_analysis.tables.wording import number_text

_SLUG = "autotriage"
_TRIAGE = "Table 3"
_ERRORS = "Table 4"
KAPPA = "Kappa"
AGREEMENT = "Agreement"
_COLUMNS = {"kappa": KAPPA, "Agr.": AGREEMENT}
_HUMAN = "triage.human"
_VERIFIED = "If so many answers were verified"
MOST_VERIFIED = 100


_TRIAGE_JUDGES = TableHead("triage_judges", _SLUG, "Nine judges against the annotators' majority (AutoTriage, table 3)")


@made_by_this
def triage_table() -> Table:
    """Return table 3: agreement and kappa of nine judges, with the numbers of runs that print them."""
    paper = load_paper(_SLUG)
    most = int(paper["annotation.n"].number)
    agreements = [
        figure for figure in _figures(paper, _TRIAGE) if figure.column == "Agr." and not figure.id.startswith(_HUMAN)
    ]
    common, fitting = common_denominator([figure.digits for figure in agreements], most)
    possible = {figure.id: _of_runs(figure, common) for figure in agreements}
    rows: list[Row] = []
    for figure in _figures(paper, _TRIAGE):
        with_count = figure.id in possible
        rows += checked_rows(
            [checked_figure(paper, figure, _COLUMNS[figure.column], figure.row, with_count=with_count)]
        )
        count = possible.get(figure.id)
        if count is not None and count.n != common:
            rows.append(_possible_row(figure, f"{AGREEMENT}, if of {count.n} runs", count, figure.row))
    best = max(agreements, key=lambda figure: figure.number)
    return _TRIAGE_JUDGES.table(
        _triage_finding(best, possible[best.id], agreements, fitting, common, most),
        rows,
        (
            f"The number of runs is not printed. Up to {most}, {common} is the least of which most of the agreements "
            "are whole counts; the intervals are those that so many runs leave, or, where an agreement is not whole "
            "count of them, the least number that prints it.",
            "People's figures are means over three pairs of annotators, not agreement with a majority.",
        ),
    )


def common_denominator(percentages: Sequence[str], most: int) -> tuple[int, int]:
    """Return the least number of cases of which most of some percentages are whole counts, and of how many."""
    possible = [denominators_that_print(percentage, most) for percentage in percentages]
    fitting = {n: sum(n in counts for counts in possible) for n in range(1, most + 1)}
    best = max(fitting, key=lambda n: (fitting[n], -n))
    return best, fitting[best]


def _figures(paper: Paper, place: str) -> list[Figure]:
    return [figure for figure in paper.figure if figure.place == place]


def _of_runs(figure: Figure, common: int) -> PrintedCount | None:
    """Return an agreement as a count of `common` runs, else of the least number of runs that prints it."""
    own = counts_that_print(figure.digits, common)
    if own:
        return PrintedCount(common, own[0])
    n, counts = next(iter(denominators_that_print(figure.digits, common).items()), (0, ()))
    return PrintedCount(n, counts[0]) if counts else None


def _possible_row(figure: Figure, quantity: str, count: PrintedCount, group: str) -> Row:
    source = f"{count.count} / {count.n} prints as {figure.printed}"
    return estimate_row(quantity, count.estimate, "share", group, source, "recomputed", (figure.paper,))


def _triage_finding(
    best: Figure, count: PrintedCount | None, agreements: Sequence[Figure], fitting: int, common: int, most: int
) -> str:
    alone = "" if fitting == len(agreements) else f"; no number up to {most} prints all {len(agreements)}"
    first = f"{fitting} of the {len(agreements)} agreements are whole counts of {common} runs{alone}."
    if count is None:
        return first
    return (
        f"{first} The best judge's {best.printed} may be of {count.n} runs, which leaves anything from "
        f"{_interval(count)} open (95% interval)."
    )


_TRIAGE_ERRORS = TableHead(
    "triage_errors",
    _SLUG,
    "Where three judges go wrong (AutoTriage, table 4)",
    ("Only runs that people gave to the agent or the harness are printed: precision cannot be worked out.",),
)


@made_by_this
def triage_errors_table() -> Table:
    """Return table 4: recall of three judges on runs that people gave to agent or harness, and the text on it."""
    paper = load_paper(_SLUG)
    figures = [
        checked_figure(paper, figure, figure.column, figure.row, with_count=True)
        for figure in _figures(paper, _ERRORS)
        if figure.unit == "share"
    ]
    figures += [
        checked_figure(paper, figure, figure.row, f"{figure.place}: {figure.column}")
        for figure in paper.figure
        if figure.id.startswith("triage.")
        and (figure.unit == "share" and figure.place not in (_TRIAGE, _ERRORS) and "agreement" not in figure.id)
    ]
    return _TRIAGE_ERRORS.table(finding(figures, "the recalls of table 4 and the text on them"), checked_rows(figures))


def triage_matrices() -> Mapping[str, PrintedMatrix]:
    """Return the printed parts of the confusion matrices of table 4: judge → matrix of the ids of its cells."""
    matrices = load_paper(_SLUG).matrix
    return {matrix.id.split(".")[1]: matrix for matrix in matrices if matrix.place == _ERRORS}


def matrix_counts(matrix: PrintedMatrix) -> list[list[int]]:
    """Return the cells of a printed matrix as whole numbers."""
    paper = load_paper(_SLUG)
    return [[int(paper[cell].number) for cell in row] for row in matrix.cells]


_WINK_JUDGE_PRECISION = TableHead(
    "wink_judge_precision",
    _SLUG,
    "The precision of Wink's judge of recovery, and the counts that print so (Wink, section 4.1)",
    ("Recomputed rows are possibilities, not findings: how many answers people verified is not printed.",),
)


@made_by_this
def wink_precision_table() -> Table:
    """Return Wink's precision of its judge of recovery: which whole counts print so, with their intervals."""
    paper = load_paper("wink")
    figure = paper["recovery.judge.precision"]
    counts_by_n = denominators_that_print(figure.digits, MOST_VERIFIED)
    possible = {n: PrintedCount(n, counts[0]) for n, counts in counts_by_n.items()}
    printed = checked_rows([checked_figure(paper, figure, "Precision", "Printed")])
    counts = [_possible_row(figure, f"{count.count} of {n}", count, _VERIFIED) for n, count in possible.items()]
    least, most = min(possible), max(possible)
    return _WINK_JUDGE_PRECISION.table(
        (
            f"{figure.printed} is printed without a count. Up to {MOST_VERIFIED} answers, only "
            f"{'multiples' if all(n % least == 0 for n in possible) else 'some numbers'} of {least} print so: of "
            f"{least} answers the 95% interval is {_interval(possible[least])}, of {most} it is "
            f"{_interval(possible[most])}."
        ),
        (*printed, *counts),
        drawn=counts,
    )


def _interval(count: PrintedCount) -> str:
    low, high = count.estimate.low, count.estimate.high
    return f"{number_text(low, 'share')} to {number_text(high, 'share')}"


def printed_beside_real(scored: Sequence[ScoredItems]) -> list[Row]:
    """Return AutoTriage's printed kappas and those of real judges for one forest plot, the highest first in each."""
    printed = [figure for figure in _figures(load_paper(_SLUG), _TRIAGE) if _COLUMNS[figure.column] == KAPPA]
    measured = [one for one in scored if one.scores.cohen_kappa.value is not None]
    printed.sort(key=lambda figure: -figure.number)
    measured.sort(key=lambda one: -(one.scores.cohen_kappa.value or 0))
    return [published_row(figure, group="Printed by AutoTriage") for figure in printed] + [
        estimate_row(one.judged.title, one.scores.cohen_kappa, "coefficient", "Public sets", one.judged.source)
        for one in measured
    ]

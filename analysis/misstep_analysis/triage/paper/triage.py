"""AutoTriage's tables 1, 3 and 4 with this software's figures beside the printed ones, and the direction of errors.

Generated figures are of cases whose labels running them proved; real ones are of public runs. Both are of other cases
and other judges than the paper's, and confirm no printed figure.

AutoTriage's judges, printed and recomputed; and Wink's judge, of whom one percentage is printed.

Table 3 prints agreement and kappa of nine judges without their number of runs; table 4 prints two rows of three
confusion matrices. Which numbers of runs print the agreements is computed here, and their uncertainty.
"""

from collections.abc import Mapping, Sequence

from msgspec import structs

from misstep_analysis.audit.tables import PrintedCount, checked_figure, checked_rows, finding
from misstep_analysis.judging.judged import ScoredItems
from misstep_analysis.judging.pairs.comparison import comparison_table
from misstep_analysis.judging.scores import Scores
from misstep_analysis.published import Figure as PublishedFigure
from misstep_analysis.published import Paper, PrintedMatrix, load_paper, published_row
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.audit import counts_that_print, denominators_that_print
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import (
    Evidence,
    Figure,
    Row,
    Table,
    TableHead,
    Unit,
    estimate_row,
    made_by_this,
    measured_on,
    of_evidence,
    rows_in,
    rows_of,
)
from misstep_analysis.tables.wording import counted_text, in_words, number_text
from misstep_analysis.triage.comparison import (
    AGENT_TO_TASK,
    AGREEMENT,
    AGREEMENT_ALL,
    BASELINE,
    GENERATOR,
    KAPPA,
    KAPPA_ALL,
    LABELS,
    TASK,
    TASK_TO_AGENT,
    ComparedCases,
    JudgedCases,
    Planted,
    direction_finding,
    direction_rows,
    planted_and_found,
    runs_finding,
    subcategories_table,
)
from misstep_analysis.triage.real import TriagedSet
from misstep_harness.fault_mappings import FAULTS, taxonomy

_SLUG = "autotriage"
_TRIAGE = "Table 3"
_ERRORS = "Table 4"
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


def _figures(paper: Paper, place: str) -> list[PublishedFigure]:
    return [figure for figure in paper.figure if figure.place == place]


def _of_runs(figure: PublishedFigure, common: int) -> PrintedCount | None:
    """Return an agreement as a count of `common` runs, else of the least number of runs that prints it."""
    own = counts_that_print(figure.digits, common)
    if own:
        return PrintedCount(common, own[0])
    n, counts = next(iter(denominators_that_print(figure.digits, common).items()), (0, ()))
    return PrintedCount(n, counts[0]) if counts else None


def _possible_row(figure: PublishedFigure, quantity: str, count: PrintedCount, group: str) -> Row:
    source = f"{count.count} / {count.n} prints as {figure.printed}"
    return estimate_row(quantity, count.estimate, "share", group, source, "recomputed", (figure.paper,))


def _triage_finding(
    best: PublishedFigure,
    count: PrintedCount | None,
    agreements: Sequence[PublishedFigure],
    fitting: int,
    common: int,
    most: int,
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


OTHER_CASES = (
    "Generated and real figures are of other cases and other judges than the paper's: they confirm nothing that is "
    "printed."
)
_LABELLED = {"agent": "Agent Err.", "infrastructure": "Harness", "task": "Task", "pass": "Succ."}
_PREDICTED = {
    "pass": "Predicted Succ.",
    "agent": "Predicted Agent",
    "task": "Predicted Task",
    "infrastructure": "Predicted Harn.",
}
_NOT_PRINTED = "table 4 does not print the row of the runs labelled task defect"


_NINE_JUDGES = TableHead(
    "nine_judges",
    _SLUG,
    "Judges against the majority of annotators, printed and measured (AutoTriage, table 3)",
    generator=GENERATOR,
)


@made_by_this
def nine_judges_table(compared: ComparedCases, real: Sequence[TriagedSet] = ()) -> Table:
    """Return table 3: kappa and agreement as printed and recomputed, of this software's judges, and on public runs."""
    printed = triage_table()
    rows: list[Row] = []
    for name, one in compared.runs.items():
        rows += _kappa_rows(one.scores, name, compared.cases.source, "generated")
    kappas = {name: one.scores.cohen_kappa_all for name, one in compared.runs.items()}
    for real_set in real:
        judged = real_set.judged
        rows += measured_on(judged.dataset, _kappa_rows(real_set.scores, judged.title, judged.source, "real"))
    return _NINE_JUDGES.table(
        runs_finding(compared),
        (*printed.rows, *rows),
        (
            *printed.notes,
            OTHER_CASES,
            _over(compared.cases),
            f"{BASELINE} is the table from exception name and log phrase to cause that is used everywhere.",
        ),
        datasets=(one.judged.dataset for one in real),
        drawn=rows_in("coefficient", kappas, "Generated cases", compared.cases.source, "generated"),
    )


def _kappa_rows(scores: Scores, group: str, source: str, evidence: Evidence) -> list[Row]:
    figures: tuple[tuple[str, Estimate, Unit], ...] = (
        (KAPPA, scores.cohen_kappa, "coefficient"),
        (AGREEMENT, scores.accuracy, "share"),
        (KAPPA_ALL, scores.cohen_kappa_all, "coefficient"),
        (AGREEMENT_ALL, scores.accuracy_all, "share"),
        ("Cases asked", Estimate(scores.n), "count"),
        ("Cases answered", Estimate(scores.answered), "count"),
    )
    return rows_of(figures, group, source, evidence)


def _over(cases: JudgedCases) -> str:
    families = len(set(cases.clusters.values()))
    return f"Generated figures: {cases.source}; intervals are over {families} families of tasks."


@made_by_this
def judge_pairs_table(compared: ComparedCases) -> Table:
    """Return every two recorded runs on the same generated cases, with Holm's adjustment."""
    table = of_evidence(comparison_table(compared.pairs, compared.cases.on), "generated")
    return structs.replace(table, name="triage_pairs", paper=_SLUG, generator=GENERATOR)


_JUDGE_ERRORS = TableHead(
    "judge_errors",
    _SLUG,
    "What judges make of each cause, printed and measured (AutoTriage, table 4)",
    generator=GENERATOR,
)


@made_by_this
def judge_errors_table(compared: ComparedCases) -> Table:
    """Return table 4: judges' answers to the agent's and the harness's failures, printed and measured."""
    printed = triage_errors_table()
    rows = [row for name in compared.runs for row in _error_rows(compared, name)]
    return _JUDGE_ERRORS.table(
        _errors_finding(compared),
        (*printed.rows, *rows),
        (
            *printed.notes,
            "Recall of generated cases counts unanswered ones as missed.",
            OTHER_CASES,
            _over(compared.cases),
        ),
    )


def _error_rows(compared: ComparedCases, name: str) -> list[Row]:
    one, source = compared.runs[name], compared.cases.source
    matrix = one.scores.confusion
    rows: list[Row] = []
    for gold, cells, unanswered in zip(matrix.labels, matrix.matrix, matrix.unanswered, strict=True):
        group = f"{name}, {_LABELLED[gold]}"
        counts = dict(zip(matrix.labels, cells, strict=True))
        named: dict[str, Figure] = {column: counts[label] for label, column in _PREDICTED.items()}
        rows += rows_in("count", named | {"No answer": unanswered}, group, source, "generated")
        rows.append(estimate_row("Recall", one.scores.labels[gold].recall_all, "share", group, source, "generated"))
    return rows


def _errors_finding(compared: ComparedCases) -> str:
    recalls = {
        name: [f"{label} {number_text(one.scores.labels[label].recall_all.value, 'share')}" for label in LABELS]
        for name, one in compared.runs.items()
    }
    sentences = [f"{name}: {', '.join(each)}" for name, each in recalls.items()]
    return f"Recall by class on generated cases, unanswered as missed. {'; '.join(sentences)}."


_DIRECTION = TableHead(
    "direction",
    _SLUG,
    "Which way errors go: from the agent to the task, or back",
    (
        "Agent → task: the share of the agent's failures that are given to the task, over the answered; task → "
        "agent the other way. The difference joins the ends of both intervals.",
        "The test is McNemar's on the numbers of errors, over families of tasks, mid-p.",
        "Table 4 prints only what becomes of the agent's failures and the harness's: the other direction, and with "
        "it the bias that the text speaks of, cannot be worked out.",
    ),
    generator=GENERATOR,
)


@made_by_this
def error_direction_table(compared: ComparedCases) -> Table:
    """Return the direction of judges' errors between agent and task: by table 4's counts, and on generated cases."""
    directions = {name: one.direction for name, one in compared.runs.items()}
    source = compared.cases.source
    measured = (row for name, one in directions.items() for row in direction_rows(name, one, source, "generated"))
    return _DIRECTION.table(direction_finding(directions), (*_printed_directions(), *measured), (OTHER_CASES,))


def _printed_directions() -> list[Row]:
    rows: list[Row] = []
    for name, matrix in triage_matrices().items():
        group = f"{name.capitalize()}, read-only (table 4)"
        counts = dict(zip(matrix.rows, matrix_counts(matrix), strict=True))["Agent Err."]
        given = {column: counts[matrix.columns.index(column)] for column in ("Agent", "Task", "Harn.")}
        share = wilson(given["Task"], sum(given.values()))
        rows += [
            estimate_row(AGENT_TO_TASK, share, "share", group, "Table 4", "recomputed"),
            Row(TASK_TO_AGENT, None, evidence="recomputed", unit="share", group=group, reason=_NOT_PRINTED),
        ]
    return rows


@made_by_this
def subcategory_table(compared: ComparedCases, run: str) -> Table:
    """Return how often a run names the subcategory."""
    finer = compared.runs[run].finer
    if finer is None:
        return Table("subcategories", _SLUG, "Subcategories", "No subcategory of a recorded case is known.", ())
    table = subcategories_table(finer, compared.cases.source)
    return structs.replace(of_evidence(table, "generated"), paper=_SLUG, generator=GENERATOR)


_TAXONOMY = TableHead(
    "taxonomy",
    "autotriage",
    "The taxonomy, what was planted of it and what was found (AutoTriage, table 1)",
    (
        "Table 1 prints no figures; the paper does not say how often its annotators used each label.",
        "Found: the judge gives the label, whatever subcategory it names. Unanswered cases count as missed.",
    ),
    generator=GENERATOR,
)


@made_by_this
def taxonomy_table(cases: JudgedCases, real: Sequence[TriagedSet] = ()) -> Table:
    """Return table 1: each cell of the taxonomy with the cases planted and found, and the real runs that map to it."""
    planted = planted_and_found(cases)
    rows = [row for one in planted for row in _planted_rows(one, cases.source)]
    counted = {one.judged.dataset: one for one in reversed(real)}
    rows += [row for one in reversed(counted.values()) for row in _real_counts(one)]
    return _TAXONOMY.table(_taxonomy_finding(planted), rows, (OTHER_CASES,), datasets=counted)


def _planted_rows(one: Planted, source: str) -> list[Row]:
    name, run = taxonomy()[one.label].name, "passed" if one.observed == "success" else "failed"
    group = f"{name}: {in_words(one.subcategory)}" if one.subcategory else f"{name}, run {run}"
    figures: list[tuple[str, Figure, Unit]] = [
        (f"Found by {judge}", share, "share") for judge, share in one.found.items()
    ]
    return rows_of([("Planted", one.n, "count"), *figures], group, source, "generated", n=one.n)


def _real_counts(one: TriagedSet) -> list[Row]:
    dataset, source, n = one.judged.dataset, one.judged.source, one.scores.n
    counts = {taxonomy()[label].name: one.scores.labels[label].support for label in FAULTS}
    rows = (Row(f"Runs of {dataset}", m, n=n, unit="count", group=name, source=source) for name, m in counts.items())
    return measured_on(dataset, rows)


def _taxonomy_finding(planted: Sequence[Planted]) -> str:
    whole = sum(one.n for one in planted)
    sentence = (
        f"{counted_text(whole, 'generated case')} have a known cause in {sum(one.n > 0 for one in planted)} cells"
    )
    of_task = sum(one.n for one in planted if one.label == TASK)
    absent = [in_words(one.subcategory) for one in planted if not one.n]
    lacking = f"; none of {', '.join(absent)}" if absent else ""
    return f"{sentence} of the taxonomy, {of_task} of them the fault of the task{lacking}."

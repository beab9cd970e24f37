"""AutoTriage's tables 1, 3 and 4 with this software's figures beside the printed ones, and the direction of errors.

Generated figures are of cases whose labels running them proved; real ones are of public runs. Both are of other cases
and other judges than the paper's, and confirm no printed figure.
"""

from collections.abc import Sequence

from msgspec import structs

from misstep_analysis.judging.comparison import comparison_table
from misstep_analysis.judging.scores import Scores
from misstep_analysis.stats.estimate import Estimate
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
    BASELINE,
    LABELS,
    TASK,
    ComparedCases,
    JudgedCases,
    Planted,
    planted_and_found,
)
from misstep_analysis.triage.paper.judges import matrix_counts, triage_errors_table, triage_matrices, triage_table
from misstep_analysis.triage.real import TriagedSet
from misstep_analysis.triage.tables import (
    AGENT_TO_TASK,
    AGREEMENT,
    AGREEMENT_ALL,
    KAPPA,
    KAPPA_ALL,
    TASK_TO_AGENT,
    direction_finding,
    direction_rows,
    runs_finding,
    subcategories_table,
)
from misstep_harness.triage.records.attribution import FAULTS, taxonomy

GENERATOR = "misstep_harness.triage.generate.cases.write_triage_cases"

OTHER_CASES = (
    "Generated and real figures are of other cases and other judges than the paper's: they confirm nothing that is "
    "printed."
)
_SLUG = "autotriage"
_ROWS = {"agent": "Agent Err.", "infrastructure": "Harness", "task": "Task", "pass": "Succ."}
_COLUMNS = {
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
        group = f"{name}, {_ROWS[gold]}"
        counts = dict(zip(matrix.labels, cells, strict=True))
        named: dict[str, Figure] = {column: counts[label] for label, column in _COLUMNS.items()}
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

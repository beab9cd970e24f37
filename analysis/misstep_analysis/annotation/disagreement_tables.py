"""The disagreements of an annotation study as tables."""

from collections.abc import Iterator

from misstep_analysis.annotation.annotated import AnnotatedStudy, disputed
from misstep_analysis.annotation.disagreement import Disagreement, Lean, rater_agreement
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Evidence, Fields, Row, Table, made_by_this, rows_from, rows_in
from misstep_analysis.tables.wording import counted_text, in_words, number_text, with_interval
from misstep_harness.annotation import RaterAnswer

_PAPER = "annotation"
_MOST_ITEMS = 200
_CANNOT_TELL = "cannot tell"
_WORDS = {"unanimous": "all alike", "majority": "most", "reconciled": "together", "tied": "tied", "open": "open"}

_AGREEMENT: Fields = (("Raw agreement", "agreement", "share"), ("Kappa", "kappa", "coefficient"))
_RATES: Fields = (
    ("Most say agent, somebody says task", "to_task", "share"),
    ("Most say task, somebody says agent", "to_agent", "share"),
    ("Difference", "difference", "difference"),
    ("p", "rates_test", "p"),
)
_SIGNS: Fields = (("Lean to task", "share", "share"), ("p", "sign_test", "p"))
_RATER: Fields = (
    ("Apart from the others' majority", "apart", "share"),
    ("Says task, less the others", "task_use", "difference"),
    ("Changed in reconciliation", "changed", "share"),
)
_PHASE: Fields = (("All raters alike", "unanimous", "share"), ("Fleiss' kappa", "fleiss_kappa", "coefficient"))

BOUNDARIES = "A case with three labels counts under each pair of them; who cannot tell counts under none."
LEANING = (
    "The first test asks whether an agent's failure is as likely to be called a task's fault as the other way "
    "round. The second asks whether as many cases lean either way, which depends on how many there are of both."
)
SECONDS = "The time for which the page of a case stood open and visible until its blind label was saved."


def annotation_tables(report: Disagreement, source: str) -> Iterator[Table]:
    """Return all tables of a study, for one rater those without agreement; `source` is what it was measured on."""
    of_raters = (
        rater_agreement_table,
        boundary_table,
        lean_table,
        rater_effects_table,
        subcategory_table,
        phases_table,
        time_table,
        reconciliation_table,
        consensus_table,
    )
    for table_of in of_raters if len(report.raters) > 1 else (time_table, consensus_table):
        if table_of is not time_table or any(one.value is not None for one in report.seconds.values()):
            yield table_of(report, source)


@made_by_this
def rater_agreement_table(report: Disagreement, source: str) -> Table:
    """Raw agreement and kappa of all raters and of each pair, on the blind labels of the independent phase."""
    rows, title = agreement_rows(report, source, "real"), "Agreement of the raters on blind labels"
    return Table("agreement", _PAPER, title, agreement_finding(report), rows)


def agreement_rows(report: Disagreement, source: str, evidence: Evidence) -> tuple[Row, ...]:
    """Return raw agreement and kappa as rows, under the names of the raters; `source` is what they are measured on."""
    names = ((" and ".join(one.raters) or "All raters", one) for one in rater_agreement(report.labels, report.report))
    return tuple(row for name, one in names for row in rows_from(one, _AGREEMENT, name, source, evidence))


def agreement_finding(report: Disagreement) -> str:
    """Return how far the raters agree, in one sentence."""
    kappa, raters = report.report.fleiss_kappa, counted_text(len(report.report.raters), "rater")
    if len(report.raters) == 1:
        return f"One rater labelled {counted_text(report.n, 'case')}."
    if kappa.value is None:
        return f"Fleiss' kappa is undefined: {kappa.reason or 'there are no labels'}."
    on = f"{raters}, {counted_text(report.n, 'case')}; {len(report.disputed):,} of them are in dispute"
    return f"Fleiss' kappa is {with_interval(kappa, 'coefficient')}: {on}."


@made_by_this
def boundary_table(report: Disagreement, source: str) -> Table:
    """Between which labels the raters differ."""
    shares = {" / ".join(one.labels): one.share for one in report.boundaries}
    rows = rows_in("share", shares, "Share of the cases in dispute", source)
    finding = "The raters differ on no case."
    if report.boundaries:
        first = report.boundaries[0]
        finding = (
            f"Most disputes are between {first.labels[0]} and {first.labels[1]}: {first.n} of "
            f"{len(report.disputed)} cases, {with_interval(first.share, 'share')}."
        )
    return Table("boundaries", _PAPER, "Where the raters differ", finding, tuple(rows), (BOUNDARIES,))


@made_by_this
def lean_table(report: Disagreement, source: str) -> Table:
    """Which way raters lean who stand apart at the border of agent and task, with tests that they lean neither way."""
    rows = rows_from(report.lean, _RATES, "Cases on which somebody stands apart", source)
    rows += rows_from(report.lean, _SIGNS, "Of the cases apart at this border", source)
    return Table("lean", _PAPER, "Which way the raters lean", lean_finding(report.lean), tuple(rows), (LEANING,))


def lean_finding(lean: Lean) -> str:
    """Return which way raters lean who stand apart, in one sentence."""
    if lean.share.value is None:
        return f"Which way the raters lean cannot be told: {lean.share.reason}."
    p_value = lean.sign_test.p_value
    shown = p_value is not None and p_value <= 0.05
    return (
        f"Of {counted_text(lean.n_to_task + lean.n_to_agent, 'case')} on which somebody stands apart at the border of "
        f"agent and task, {lean.n_to_task} lean to task, {with_interval(lean.share, 'share')}: "
        f"a lean {'is' if shown else 'is not'} shown (sign test, p {number_text(p_value, 'p')})."
    )


@made_by_this
def rater_effects_table(report: Disagreement, source: str) -> Table:
    """Return each rater: how often apart, how much more often at task, and how often changed by reconciliation."""
    rows = [row for one in report.raters for row in rows_from(one, _RATER, one.rater, source)]
    rows += rows_in("p", {"p": report.raters_alike}, "All raters stand apart as often", source)
    leaning = [one for one in report.raters if (one.task_use.low or 0) > 0 or (one.task_use.high or 0) < 0]
    finding = "No rater is shown to say task more or less often than the others."
    if leaning:
        parts = (f"{one.rater} by {with_interval(one.task_use, 'difference')}" for one in leaning)
        finding = f"On the same cases, raters say task more or less often than the others: {', '.join(parts)}."
    return Table("raters", _PAPER, "Who differs", finding, tuple(rows))


@made_by_this
def subcategory_table(report: Disagreement, source: str) -> Table:
    """Agreement on the subcategory where all raters agree on the label."""
    rows: list[Row] = []
    for one in report.subcategories:
        where = one.label or "all labels", source
        rows += rows_in("share", {"Agreement": one.agreement}, *where, n=one.n)
        rows += rows_in("coefficient", {"Fleiss' kappa": one.fleiss_kappa}, *where)
    finding = "No case has one label and a subcategory from two raters."
    if report.subcategories:
        whole = report.subcategories[0]
        finding = (
            f"On {counted_text(whole.n, 'case')} whose label all agree on, {number_text(whole.agreement, 'share')} of "
            "paired subcategories agree"
        )
        kappa = whole.fleiss_kappa
        finding += "." if kappa.value is None else f"; Fleiss' kappa is {with_interval(kappa, 'coefficient')}."
    return Table("subcategories", _PAPER, "Subcategories within agreed labels", finding, tuple(rows))


@made_by_this
def phases_table(report: Disagreement, source: str) -> Table:
    """Agreement on the calibration set and after it, and how often labels of each certainty stand apart."""
    rows = [row for one in report.phases for row in rows_from(one, _PHASE, one.phase, source)]
    difference = report.phases_difference
    certainties: dict[str, Estimate] = {one.certainty: one.apart for one in report.certainties}
    rows += rows_in("difference", {"Independent less calibration": difference}, "all", source)
    rows += rows_in("share", certainties, "Labels apart from the majority, by certainty", source)
    finding = f"Calibration cannot be compared with what followed: {difference.reason}."
    if difference.value is not None:
        first, second = (number_text(one.unanimous.value, "share") for one in report.phases)
        finding = (
            f"All raters agree on {first} of the calibration set and on {second} of what they then label alone: a "
            f"difference of {with_interval(difference, 'difference')}."
        )
    return Table("phases", _PAPER, "Before and after calibration, and by certainty", finding, tuple(rows))


@made_by_this
def time_table(report: Disagreement, source: str) -> Table:
    """Return how long each rater took for a case."""
    rows = rows_in("seconds", report.seconds, "Median time for a case", source)
    known = sorted((one.value, rater) for rater, one in report.seconds.items() if one.value is not None)
    (least, first), (most, last) = known[0], known[-1]
    low, high = number_text(least, "seconds"), number_text(most, "seconds")
    runs = f"runs from {low} ({first}) to {high} ({last})" if len(known) > 1 else f"is {low} ({first})"
    finding = f"The median time for a case {runs}."
    return Table("seconds", _PAPER, "Time for a case", finding, tuple(rows), (SECONDS,))


@made_by_this
def reconciliation_table(report: Disagreement, source: str) -> Table:
    """Return what reconciliation changed, and which way."""
    again, where = report.reconciled, ("Cases decided again", source)
    flows = sorted(
        (-count, before or _CANNOT_TELL, after or _CANNOT_TELL) for (before, after), count in again.flows.items()
    )
    changes = {f"{before} → {after}": -count for count, before, after in flows}
    rows = [
        *rows_in("share", {"All raters then agree": again.settled}, *where),
        *rows_in("count", {"Another label leads": again.majority_changed}, *where, n=again.n),
        *rows_in("p", {"p, from agent to task as often as back": again.sign_test}, *where),
        *rows_in("count", changes, "Labels of raters", source),
    ]
    finding = "No case in dispute was decided again by all raters."
    if again.n:
        finding = (
            f"Of {counted_text(again.n, 'case')} decided again, all raters then agree on "
            f"{with_interval(again.settled, 'share')}; {again.to_task} labels change from agent to task and "
            f"{again.to_agent} from task to agent."
        )
    return Table("reconciliation", _PAPER, "What reconciliation changed", finding, tuple(rows))


@made_by_this
def consensus_table(report: Disagreement, source: str) -> Table:
    """Return how the cases came to their labels, and those that have none."""
    total, how = len(report.consensus), [one.how for one in report.consensus]
    counts = {words: how.count(name) for name, words in _WORDS.items() if name in how}
    without = [one for one in report.consensus if one.label is None]
    open_ones = {one.item: " / ".join(one.candidates) or "missing labels" for one in without[:_MOST_ITEMS]}
    rows = rows_in("count", counts, "Cases", source, n=total)
    rows += rows_in("text", open_ones, "Cases without a label", source)
    finding = f"{total - len(without):,} of {counted_text(total, 'case')} have a label."
    if tied := how.count("tied"):
        finding += f" {counted_text(tied, 'case')} {'is' if tied == 1 else 'are'} tied."
    return Table("consensus", _PAPER, "The consensus", finding, tuple(rows))


@made_by_this
def disputes_table(study: AnnotatedStudy, source: str) -> Table:
    """Return the cases in dispute with every rater's blind answer and note, and what each said in reconciliation."""
    blind, after, items = study.blind(), study.reconciled(), disputed(study)
    cells = {
        f"{item}, {rater}{words}": said_text(answers[item, rater])
        for item in items[:_MOST_ITEMS]
        for answers, words in ((blind, ""), (after, ", together"))
        for rater in study.raters
        if (item, rater) in answers
    }
    notes = (f"The first {_MOST_ITEMS} cases; history.csv of the export has all.",) if len(items) > _MOST_ITEMS else ()
    finding = f"{counted_text(len(items), 'case')} {'is' if len(items) == 1 else 'are'} in dispute."
    rows = tuple(rows_in("text", cells, "", source))
    return Table("disputes", _PAPER, "Cases in dispute", finding, rows, notes)


def said_text(one: RaterAnswer) -> str:
    """Return an answer in one line: label, subcategory, certainty, and the note."""
    sure = f"{one.certainty} certainty" if one.certainty else ""
    text = ", ".join(filter(None, (one.label or _CANNOT_TELL, in_words(one.subcategory), sure)))
    return f"{text}: {one.note}" if one.note else text

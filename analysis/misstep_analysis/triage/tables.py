"""Figures of triage as tables, for reports and notebooks: judges side by side, subcategories, direction."""

from collections.abc import Mapping, Sequence

from misstep_analysis.judging.assessment import PerItem
from misstep_analysis.judging.comparison import LEVEL
from misstep_analysis.judging.scores import Scores
from misstep_analysis.sessions.leading import lead_of
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import (
    Evidence,
    Fields,
    Row,
    Table,
    TableHead,
    Unit,
    estimate_row,
    made_by_this,
    of_evidence,
    rows_from,
    rows_in,
)
from misstep_analysis.tables.wording import counted_text, in_words, interval_words, number_text, with_interval
from misstep_analysis.triage.comparison import ComparedCases, Direction, TriageScores
from misstep_harness.triage.records.attribution import taxonomy

KAPPA = "Kappa"
KAPPA_ALL = "Kappa, unanswered as a label of their own"
AGREEMENT = "Agreement"
AGREEMENT_ALL = "Agreement, unanswered as wrong"
FINER = "Subcategory agreement, unanswered as wrong"
AGENT_TO_TASK, TASK_TO_AGENT = "Agent → task", "Task → agent"
_PAPER = "judging"

_ALL_FINER: Fields = (
    (AGREEMENT_ALL, "accuracy_all", "share"),
    (AGREEMENT, "accuracy", "share"),
    (KAPPA_ALL, "cohen_kappa_all", "coefficient"),
)
_ERRORS: Fields = (
    (AGENT_TO_TASK, "agent_to_task", "share"),
    (TASK_TO_AGENT, "task_to_agent", "share"),
    ("Difference", "difference", "difference"),
    ("Errors, agent → task", "n_agent_to_task", "count"),
    ("Errors, task → agent", "n_task_to_agent", "count"),
)
_JUDGES_SHOWN = 3

_RUNS = TableHead(
    "triage_runs",
    _PAPER,
    "Whose fault a run is: judges beside each other on {}",
    (
        "Kappa and agreement are against the label that most raters gave, over the answered cases, and again with "
        "the unanswered counted against the judge.",
    ),
)
_PEOPLE = "People: mean agreement of two raters and Fleiss' kappa, on the cases that the first judge answered."
_SUBCATEGORIES = TableHead(
    "subcategories",
    _PAPER,
    "Subcategories",
    ("A verdict without a subcategory counts as unanswered here; recall counts unanswered cases as missed.",),
)
_DIRECTION = TableHead(
    "triage_direction",
    _PAPER,
    "Which way errors go: from the agent to the task, or back",
    (
        "Agent → task: the share of the agent's failures that are given to the task, over the answered; task → "
        "agent: the other way. The difference joins the ends of both intervals.",
        "The test is McNemar's on the numbers of errors, over families where these are known, mid-p.",
    ),
)


@made_by_this
def judges_of_triage_table(compared: ComparedCases) -> Table:
    """Judges and kinds of access beside each other on the same cases, as AutoTriage's table 3, and what they take."""
    cases, runs = compared.cases, compared.runs
    figures = {name: _figures_of_judge(one) for name, one in runs.items()}
    people = next((one.ceiling for one in runs.values() if one.ceiling is not None), None)
    if people is not None:
        figures["People"] = {KAPPA: (people.people_kappa, "coefficient"), AGREEMENT: (people.people, "share")}
    # Under each figure stand all judges, one below the other: that is what is compared.
    measures = dict.fromkeys(measure for of_judge in figures.values() for measure in of_judge)
    rows = [
        estimate_row(name, *of_judge[measure], measure, cases.source)
        for measure in measures
        for name, of_judge in figures.items()
        if measure in of_judge
    ]
    families = len(set(cases.clusters.values()))
    over = (
        f"Intervals and tests are over {families} families of tasks." if families else "Every case stands for itself."
    )
    notes = [over] if people is None else [over, _PEOPLE]
    table = _RUNS.table(runs_finding(compared), rows, notes, title=_RUNS.title.format(cases.on))
    return of_evidence(table, cases.evidence)


def _figures_of_judge(one: TriageScores) -> dict[str, tuple[Estimate, Unit]]:
    scores = one.scores
    answered = Estimate(scores.answered / scores.n if scores.n else None, n=scores.n)
    figures: dict[str, tuple[Estimate, Unit]] = {
        KAPPA: (scores.cohen_kappa, "coefficient"),
        KAPPA_ALL: (scores.cohen_kappa_all, "coefficient"),
        AGREEMENT: (scores.accuracy, "share"),
        AGREEMENT_ALL: (scores.accuracy_all, "share"),
        "Answered": (answered, "share"),
    }
    figures |= {f"Recall of {label}": (of.recall_all, "share") for label, of in scores.labels.items()}
    if one.finer is not None:
        figures[FINER] = (one.finer.accuracy_all, "share")
    return figures | {"Seconds a case": (_mean(one.seconds), "seconds"), "Cost a case": (_mean(one.cost), "usd")}


def _mean(took: PerItem) -> Estimate:
    return took.mean if took.reported else Estimate(None, reason="not on record")


def runs_finding(compared: ComparedCases) -> str:
    """Return how many defects of tasks the leading judges find, their kappa, and how many pairs are told apart."""
    known = {name: one for name, one in compared.scored.items() if one.cohen_kappa_all.value is not None}
    if not known:
        return "No judge answered a case with a gold label."
    described = {
        name: f"{name} {_found_defects(one)}kappa {with_interval(one.cohen_kappa_all, 'coefficient')} on "
        f"{counted_text(one.accuracy_all.n or 0, 'case')}"
        for name, one in known.items()
    }
    if len(known) == 1:
        return "".join(f"{one}." for one in described.values())
    contests = [pair.contest for pair in compared.pairs if pair.a in known and pair.b in known]
    lead = lead_of(tuple(known), contests, "judges")
    shown = lead.first or tuple(known)
    apart = f"{sum(pair.apart for pair in compared.pairs)} of {counted_text(len(compared.pairs), 'pair')}"
    return (
        f"{'; '.join(described[name] for name in shown[:_JUDGES_SHOWN])}. {lead.sentence} {apart} of judges differ "
        f"in agreement at the level {LEVEL:g} after Holm's adjustment."
    )


def _found_defects(scores: Scores) -> str:
    found = scores.labels["task"].recall_all if "task" in scores.labels else Estimate(None, n=0)
    if found.value is None or not found.n:
        return "has "
    return f"finds {round(found.value * found.n):,} of {counted_text(found.n, 'defect')} of tasks, with "


@made_by_this
def subcategories_table(finer: Scores, source: str) -> Table:
    """Return how often a judge names the subcategory, one by one and over all; a case without one counts as missed."""
    names = {name: category.name for category in taxonomy().values() for name in category.subcategories}
    rows = rows_from(finer, _ALL_FINER, "All subcategories", source)
    for name, label in finer.labels.items():
        if label.support:
            group = f"{names[name]}: {in_words(name)}" if name in names else "Sound pass"
            rows += rows_in("count", {"Cases": label.support}, group, source)
            rows += rows_in("share", {"Recall": label.recall_all, "Precision": label.precision}, group, source)
    named, cases = with_interval(finer.accuracy_all, "share"), counted_text(finer.accuracy_all.n or 0, "case")
    return _SUBCATEGORIES.table(f"{finer.judge} names the subcategory of {named} of {cases}.", rows)


@made_by_this
def direction_table(directions: Mapping[str, Direction], source: str) -> Table:
    """Return which way each judge errs between agent and task, with a test of one direction against the other."""
    rows = (row for name, one in directions.items() for row in direction_rows(name, one, source))
    return _DIRECTION.table(direction_finding(directions), rows)


def direction_rows(name: str, one: Direction, source: str, evidence: Evidence = "real") -> list[Row]:
    """Return the rows of one judge."""
    test = Estimate(one.p_value, method=one.test, reason=one.reason)
    unanswered = {f"No answer, of {label}": share for label, share in one.unanswered.items()}
    return [
        *rows_from(one, _ERRORS, name, source, evidence),
        *rows_in("p", {"p": test}, name, source, evidence),
        *rows_in("share", unanswered, name, source, evidence),
    ]


def direction_finding(directions: Mapping[str, Direction]) -> str:
    """Return which judges are shown to err one way more than the other, and how far the most biased goes."""
    biased = [name for name, one in directions.items() if one.p_value is not None and one.p_value <= LEVEL]
    known = {name: one for name, one in directions.items() if one.difference.value is not None}
    if not known:
        return "Which way errors go cannot be told: no case of the agent's fault or of the task's was answered."
    widest = max(known, key=lambda name: abs(known[name].difference.value or 0.0))
    one = known[widest]
    shares = (
        f"{number_text(one.agent_to_task.value, 'share')} of the agent's failures go to the task and "
        f"{number_text(one.task_to_agent.value, 'share')} of the task's to the agent, a difference of "
        f"{number_text(one.difference.value, 'difference')} "
        f"({interval_words(one.difference.low, one.difference.high, 'difference')})"
    )
    err = "errs" if len(biased) == 1 else "err"
    shown = f"{', '.join(biased)} {err} one way more than the other (p at most {LEVEL:g})"
    first = shown if biased else "No judge is shown to err one way more than the other"
    return f"{first}. Furthest from it is {widest}: {shares}." if len(known) > 1 else f"{first}: {shares}."


def triage_tables(one: TriageScores, judge: str, source: str) -> Sequence[Table]:
    """Return what is asked of one run of a judge of triage beyond any other judge's."""
    return [
        *([subcategories_table(one.finer, source)] if one.finer is not None and one.finer.accuracy_all.n else []),
        *([direction_table({judge: one.direction}, source)] if one.scores.accuracy_all.n else []),
    ]

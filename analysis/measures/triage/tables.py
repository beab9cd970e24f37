"""Figures of triage as tables, for reports and notebooks: judges side by side, subcategories, direction, families."""

from collections.abc import Mapping, Sequence

from misstep.analysis.measures.judging.item_costs import PerItem
from misstep.analysis.measures.judging.pairs.comparison import LEVEL
from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.measures.triage.comparison import ComparedCases, TriageScores
from misstep.analysis.measures.triage.direction import Direction
from misstep.analysis.measures.triage.families import Families
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Evidence, Row, Table, Unit, estimate_row, made_by_this, of_evidence
from misstep.analysis.tables.wording import counted_text, interval_words, number_text, with_interval
from misstep.harness.records.attribution import taxonomy

KAPPA = "Kappa"
KAPPA_ALL = "Kappa, unanswered as a label of their own"
AGREEMENT = "Agreement"
AGREEMENT_ALL = "Agreement, unanswered as wrong"
FINER = "Subcategory agreement, unanswered as wrong"
AGENT_TO_TASK, TASK_TO_AGENT = "Agent → task", "Task → agent"
_PAPER = "judging"
_PEOPLE = "People"
_FAMILIES_SHOWN = 60


@made_by_this
def judges_of_triage_table(compared: ComparedCases) -> Table:
    """Judges and kinds of access beside each other on the same cases, as AutoTriage's table 3, and what they take."""
    cases, runs = compared.cases, compared.runs
    figures = {name: _figures_of_judge(one) for name, one in runs.items()}
    people = next((one.ceiling for one in runs.values() if one.ceiling is not None), None)
    if people is not None:
        figures[_PEOPLE] = {KAPPA: (people.people_kappa, "coefficient"), AGREEMENT: (people.people, "share")}
    # Under each figure stand all judges, one below the other: that is what is compared.
    measures = dict.fromkeys(measure for of_judge in figures.values() for measure in of_judge)
    rows = [
        estimate_row(name, *of_judge[measure], measure, cases.source)
        for measure in measures
        for name, of_judge in figures.items()
        if measure in of_judge
    ]
    table = Table(
        name="triage_runs",
        paper=_PAPER,
        title=f"Whose fault a run is: judges beside each other on {cases.on}",
        finding=runs_finding(compared),
        rows=tuple(rows),
        notes=(
            "Kappa and agreement are against the label that most raters gave, over the answered cases, and again with "
            "the unanswered counted against the judge.",
            _over_families(cases.clusters),
            *(
                ("People: mean agreement of two raters and Fleiss' kappa, on the cases that the first judge answered.",)
                if people is not None
                else ()
            ),
        ),
    )
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
    """Which judge agrees best, with its interval, what the lowest comes to, and how many pairs are told apart."""
    known = {name: one for name, one in compared.scored.items() if one.cohen_kappa_all.value is not None}
    if not known:
        return "No judge answered a case with a gold label."
    ranked = sorted(known, key=lambda name: -(known[name].cohen_kappa_all.value or 0.0))
    best, worst = ranked[0], ranked[-1]
    n = counted_text(known[best].accuracy_all.n or 0, "case")
    told = f"{best} agrees best: kappa {with_interval(known[best].cohen_kappa_all, 'coefficient')} on {n}"
    if len(ranked) == 1:
        return f"{told}."
    told += f"; {worst} least, {with_interval(known[worst].cohen_kappa_all, 'coefficient')}"
    apart = sum(pair.apart for pair in compared.pairs)
    pairs = f"{apart} of {counted_text(len(compared.pairs), 'pair')}"
    return f"{told}. {pairs} of judges differ in agreement at the level {LEVEL:g} after Holm's adjustment."


@made_by_this
def subcategories_table(finer: Scores, source: str) -> Table:
    """Return how often a judge names the subcategory, one by one and over all; a case without one counts as missed."""
    names = {name: category.name for category in taxonomy().values() for name in category.subcategories}
    rows = [
        estimate_row(AGREEMENT_ALL, finer.accuracy_all, "share", "All subcategories", source),
        estimate_row(AGREEMENT, finer.accuracy, "share", "All subcategories", source),
        estimate_row(KAPPA_ALL, finer.cohen_kappa_all, "coefficient", "All subcategories", source),
    ]
    for name, label in finer.labels.items():
        if label.support:
            group = f"{names[name]}: {in_words(name)}" if name in names else "Sound pass"
            rows += [
                Row("Cases", label.support, unit="count", group=group, source=source),
                estimate_row("Recall", label.recall_all, "share", group, source),
                estimate_row("Precision", label.precision, "share", group, source),
            ]
    return Table(
        name="subcategories",
        paper=_PAPER,
        title="Subcategories",
        finding=f"{finer.judge} names the subcategory of {with_interval(finer.accuracy_all, 'share')} of "
        f"{counted_text(finer.accuracy_all.n or 0, 'case')}.",
        rows=tuple(rows),
        notes=("A verdict without a subcategory counts as unanswered here; recall counts unanswered cases as missed.",),
    )


def in_words(subcategory: str) -> str:
    """Return the name of a subcategory as people read it."""
    return subcategory.replace("_", " ")


@made_by_this
def direction_table(directions: Mapping[str, Direction], source: str) -> Table:
    """Return which way each judge errs between agent and task, with a test of one direction against the other."""
    return Table(
        name="triage_direction",
        paper=_PAPER,
        title="Which way errors go: from the agent to the task, or back",
        finding=direction_finding(directions),
        rows=tuple(row for name, one in directions.items() for row in direction_rows(name, one, source)),
        notes=(
            "Agent → task: the share of the agent's failures that are given to the task, over the answered; task → "
            "agent: the other way. The difference joins the ends of both intervals.",
            "The test is McNemar's on the numbers of errors, over families where these are known, mid-p.",
        ),
    )


def direction_rows(name: str, one: Direction, source: str, evidence: Evidence = "real") -> list[Row]:
    """Return the rows of one judge."""
    figures: list[tuple[str, Estimate, Unit]] = [
        (AGENT_TO_TASK, one.agent_to_task, "share"),
        (TASK_TO_AGENT, one.task_to_agent, "share"),
        ("Difference", one.difference, "difference"),
        ("Errors, agent → task", Estimate(one.n_agent_to_task), "count"),
        ("Errors, task → agent", Estimate(one.n_task_to_agent), "count"),
        ("p", Estimate(one.p_value, method=one.test, reason=one.reason), "p"),
        *((f"No answer, of {label}", share, "share") for label, share in one.unanswered.items()),
    ]
    return [estimate_row(quantity, estimate, unit, name, source, evidence) for quantity, estimate, unit in figures]


def direction_finding(directions: Mapping[str, Direction]) -> str:
    """Return which judges are shown to err one way more than the other, and how far the most biased goes."""
    biased = [name for name, one in directions.items() if one.p_value is not None and one.p_value <= LEVEL]
    known = {name: one for name, one in directions.items() if one.difference.value is not None}
    if not known:
        return "Which way errors go cannot be told: no case of the agent's fault or of the task's was answered."
    widest = max(known, key=lambda name: abs(known[name].difference.value or 0.0))
    found = known[widest]
    shares = (
        f"{number_text(found.agent_to_task.value, 'share')} of the agent's failures go to the task and "
        f"{number_text(found.task_to_agent.value, 'share')} of the task's to the agent, a difference of "
        f"{number_text(found.difference.value, 'difference')} "
        f"({interval_words(found.difference.low, found.difference.high, 'difference')})"
    )
    shown = (
        f"{', '.join(biased)} {'errs' if len(biased) == 1 else 'err'} one way more than the other (p at most {LEVEL:g})"
    )
    first = shown if biased else "No judge is shown to err one way more than the other"
    return f"{first}. Furthest from it is {widest}: {shares}." if len(known) > 1 else f"{first}: {shares}."


@made_by_this
def families_table(found: Families, judge: str, source: str) -> Table:
    """Kappa with each family of tasks left out, and how often the cases of each are judged right."""
    shown = found.families[:_FAMILIES_SHOWN]
    rows = [Row("Kappa of all", found.kappa, unit="coefficient", group="All families", source=source)]
    for one in shown:
        rows += [
            estimate_row("Judged right", one.right, "share", one.name, source),
            Row("Kappa without it", one.kappa_without, unit="coefficient", group=one.name, source=source),
        ]
    more = len(found.families) - len(shown)
    return Table(
        name="triage_families",
        paper=_PAPER,
        title="Leave one family of tasks out",
        finding=families_finding(found, judge),
        rows=tuple(rows),
        notes=(
            "Unanswered cases count as wrong, and in kappa as a label of their own. The families judged worst stand "
            "first.",
            *(
                [f"{counted_text(more, 'family').replace('familys', 'families')} judged better are not shown."]
                if more > 0
                else []
            ),
        ),
    )


def families_finding(found: Families, judge: str) -> str:
    """Return how far a judge's kappa hangs on a single family."""
    lowest, highest = found.lowest, found.highest
    if found.kappa is None or lowest is None or highest is None:
        return f"How far {judge} hangs on single families cannot be told: there is no kappa."
    whole, low, high = (
        number_text(value, "coefficient") for value in (found.kappa, lowest.kappa_without, highest.kappa_without)
    )
    return (
        f"The kappa of {judge}, {whole}, is between {low} (without {lowest.name}) and {high} (without {highest.name}) "
        f"with one of {len(found.families)} families left out."
    )


@made_by_this
def sets_table(by_set: Mapping[str, Scores], judge: str, source: str) -> Table:
    """Kappa and agreement on each set of families: those that rules were worked out on, and those they were not."""
    rows = []
    for name, scores in by_set.items():
        rows += [
            estimate_row(KAPPA_ALL, scores.cohen_kappa_all, "coefficient", f"{name} families", source),
            estimate_row(AGREEMENT_ALL, scores.accuracy_all, "share", f"{name} families", source),
        ]
    told = "; on ".join(
        f"{name} families {with_interval(scores.cohen_kappa_all, 'coefficient')}" for name, scores in by_set.items()
    )
    return Table(
        name="triage_sets",
        paper=_PAPER,
        title="Sets of families scored apart",
        finding=f"The kappa of {judge} is, on {told}.",
        rows=tuple(rows),
        notes=("Rules may have been worked out on the development families; the others are what they are scored on.",),
    )


def triage_tables(one: TriageScores, judge: str, source: str) -> Sequence[Table]:
    """Return what is asked of one run of a judge of triage beyond any other judge's."""
    return [
        *([subcategories_table(one.finer, source)] if one.finer is not None and one.finer.accuracy_all.n else []),
        *([direction_table({judge: one.direction}, source)] if one.scores.accuracy_all.n else []),
        *([sets_table(one.by_set, judge, source)] if one.by_set else []),
        *([families_table(one.families, judge, source)] if one.families.families else []),
    ]


def _over_families(clusters: Mapping[str, str]) -> str:
    n = len(set(clusters.values()))
    return f"Intervals and tests are over {n} families of tasks." if n else "Every case stands for itself."

"""Figures of triage as tables, for reports and notebooks: judges side by side, subcategories, direction."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.gold import Construction, GoldLabel, families_of
from misstep_analysis.judging.assessment import PerItem, item_costs
from misstep_analysis.judging.bias import bias
from misstep_analysis.judging.judged import JudgedItems
from misstep_analysis.judging.pairs.comparison import LEVEL, PairedJudges, compare_judges
from misstep_analysis.judging.people.ceiling import Ceiling, ceiling
from misstep_analysis.judging.sample import JudgedSample, judged_sample, majority
from misstep_analysis.judging.scores import LEFT_OPEN, NEVER_GOLD, Scores, score
from misstep_analysis.sessions.leading import lead_of
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import difference_of_shares
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
from misstep_harness.fault_mappings import FAULTS, Fault, taxonomy
from misstep_harness.triage.records import TriageVerdict

LABELS: tuple[str, ...] = FAULTS
AGENT, TASK = "agent", "task"
GENERATOR = "misstep_harness.triage.generate.cases.write_triage_cases"

BASELINE = "triage@phrases"
"""The table from exception name and log phrase to cause that every comparison has beside its judges."""


class JudgedCases(Struct, frozen=True):
    """Some runs of judges on the same cases."""

    on: str
    source: str
    runs: Mapping[str, tuple[TriageVerdict, ...]]
    gold: tuple[GoldLabel, ...]
    subcategories: tuple[GoldLabel, ...] = ()
    constructions: Mapping[str, Construction] = {}
    evidence: Evidence = "real"
    dataset: str = ""

    @property
    def clusters(self) -> dict[str, str]:
        """Case → its family of tasks, where that is known."""
        return families_of(dict(self.constructions))

    def sample(self, run: str) -> JudgedSample:
        """Return the verdicts of a run beside the gold labels."""
        return judged_sample(self.runs[run], self.gold, LABELS, clusters=self.clusters, positive=AGENT)

    def judged(self) -> list[JudgedItems]:
        """Return each run as the questions about any judge take it."""
        return [
            JudgedItems(run, self.dataset, self.source, verdicts, self.gold, self.clusters, LABELS, AGENT)
            for run, verdicts in self.runs.items()
        ]


def finer_labels() -> tuple[str, ...]:
    """Return the subcategories in the order of the taxonomy, and a sound pass, which has none."""
    return (*(name for category in taxonomy().values() for name in category.subcategories), "pass")


def finer_gold(cases: JudgedCases) -> list[GoldLabel]:
    """Return the gold subcategory of each case; that of a sound pass is its label. Cases without one are left out."""
    named = majority(cases.subcategories).label_of
    passes = [item for item, label in majority(cases.gold).label_of.items() if label == "pass" and item not in named]
    rater = next((one.rater for one in cases.subcategories), "construction")
    return [GoldLabel(item, rater, label) for item, label in [*named.items(), *((item, "pass") for item in passes)]]


def finer_verdicts(verdicts: Iterable[TriageVerdict]) -> list[TriageVerdict]:
    """Verdicts whose label is the subcategory; one that names none is left unanswered, never given one."""
    finer = []
    for verdict in verdicts:
        label = verdict.subcategory or ("pass" if verdict.label == "pass" else None)
        status = "answered" if label else "abstained"
        finer.append(verdict if verdict.label is None else structs.replace(verdict, label=label, status=status))
    return finer


NOTHING_ANSWERED = "no run was answered"
_NAMES = {"task": "the task", "agent": "the agent", "infrastructure": "the infrastructure", "pass": "nobody"}

_DEEDS = {
    "keep": "stays in training data",
    "filter": "is left out of training data",
    "rerun": "is run again",
    "repair_task": "waits until the task is repaired",
}


class Causes(Struct, frozen=True):
    """What a judge says of some runs; those without a subcategory are counted under the empty name."""

    n: int
    answered: int
    shares: dict[str, Estimate]
    subcategories: dict[str, dict[str, int]]


def causes(verdicts: Sequence[TriageVerdict], clusters: Mapping[str, str] | None = None) -> Causes:
    """Whose fault some runs are by a judge."""
    sample = judged_sample(verdicts, [], LABELS, clusters=clusters)
    shares = {
        label: sample.units.share(sample.answers == place, sample.answered, NOTHING_ANSWERED)
        for label, place in sample.codes.places.items()
    }
    subcategories: dict[str, dict[str, int]] = {label: {} for label in sample.codes.labels}
    named = Counter((one.label, one.subcategory) for one in sample.verdicts if isinstance(one, TriageVerdict))
    for (label, name), n in named.most_common():
        if label in subcategories:
            subcategories[label][name] = n
    return Causes(len(sample.verdicts), int(sample.answered.sum()), shares, subcategories)


def causes_sentence(runs: Causes) -> str:
    """Whose fault the runs are, in one line with intervals: the most frequent label first."""
    if not runs.answered:
        return f"None of {counted_text(runs.n, 'run')} has an answer."
    ranked = sorted(runs.shares.items(), key=lambda one: -(one[1].value or 0.0))
    (label, most), *others = [(label, share) for label, share in ranked if share.value]
    count = {label: sum(share for share in runs.subcategories[label].values()) for label in runs.shares}
    first = f"{_NAMES[label].capitalize()} is at fault in {count[label]:,} of {counted_text(runs.answered, 'run')}"
    parts = [f"{first}, {with_interval(most, 'share')}"]
    for name, share in others:
        value, low, high = (number_text(end, "share") for end in (share.value, share.low, share.high))
        parts.append(
            f"{_NAMES[name]} in {count[name]:,}, {value}" + ("" if share.low is None else f" ({low} to {high})")
        )
    left = runs.n - runs.answered
    rest = f"; {left:,} without an answer {'is' if left == 1 else 'are'} left out" if left else ""
    return f"{', '.join(parts)}{rest}."


@made_by_this
def causes_table(runs: Causes, judge: str, source: str, evidence: Evidence = "real") -> Table:
    """Whose fault the runs are: by label with its interval, then by subcategory, and what is to be done with them."""
    categories = {str(label): category for label, category in taxonomy().items()}
    rows: list[Row] = []
    for label, share in runs.shares.items():
        where = categories[label].name, source
        finer = {_subcategory_name(name): count for name, count in runs.subcategories[label].items()}
        rows += rows_in("share", {"Share of the runs": share}, *where)
        rows += rows_in("count", finer, *where, n=runs.answered)
    actions = (
        f"{what} labelled “{category.name}” {_DEEDS[cell.action]}."
        for category in categories.values()
        for cell, what in ((category.failure, "A failure"), (category.success, "A pass"))
        if cell is not None
    )
    notes = ("The judge errs: where gold labels are known, the tables below say how often and which way.", *actions)
    title = f"Whose fault the runs are, by {judge}"
    return of_evidence(Table("causes", "judging", title, causes_sentence(runs), tuple(rows), notes), evidence)


def _subcategory_name(name: str) -> str:
    return in_words(name).capitalize() if name else "No subcategory named"


class Direction(Struct, frozen=True):
    """How often a judge errs either way between agent and task, by gold label; tests are over families if known."""

    agent_to_task: Estimate
    task_to_agent: Estimate
    difference: Estimate
    unanswered: dict[str, Estimate]
    n_agent_to_task: int = 0
    n_task_to_agent: int = 0
    p_value: float | None = None
    test: str = ""
    reason: str = "no such error"


def direction(sample: JudgedSample, seed: int = 0) -> Direction:
    """Return which way the errors of one run go between agent and task."""
    to_task, to_agent = _error_share(sample, AGENT, TASK), _error_share(sample, TASK, AGENT)
    errors = bias(sample, seed)
    unanswered = {use.label: use.unanswered for use in errors.labels if use.label in (AGENT, TASK)}
    shares = to_task, to_agent, difference_of_shares(to_task, to_agent), unanswered
    flow = next((one for one in errors.flows if {one.first, one.second} == {AGENT, TASK}), None)
    if flow is None:
        return Direction(*shares)
    forth, back = (flow.forth, flow.back) if flow.first == AGENT else (flow.back, flow.forth)
    return Direction(*shares, forth, back, flow.p_value, flow.test, flow.reason)


def _error_share(sample: JudgedSample, gold: str, answer: str) -> Estimate:
    places = sample.codes.places
    of_gold = sample.gold == places[gold]
    reason = LEFT_OPEN if np.any(of_gold) else NEVER_GOLD
    return sample.units.share(sample.answers == places[answer], of_gold & sample.answered, reason)


NONE_PLANTED = "no case of it was generated"


class TriageScores(Struct, frozen=True):
    """What one run of a judge is worth as triage; `finer` is against the subcategories."""

    access: str
    scores: Scores
    finer: Scores | None
    direction: Direction
    ceiling: Ceiling | None
    seconds: PerItem
    cost: PerItem


class ComparedCases(Struct, frozen=True):
    """Runs on the same cases: each with its scores, and every two of them on the cases asked of both."""

    cases: JudgedCases
    runs: Mapping[str, TriageScores]
    pairs: tuple[PairedJudges, ...]

    @property
    def scored(self) -> dict[str, Scores]:
        """Name of a run → its scores."""
        return {name: one.scores for name, one in self.runs.items()}


def compared(cases: JudgedCases, resamples: int = 10_000, seed: int = 0) -> ComparedCases:
    """Runs of judges on the same cases, scored and compared in pairs with Holm's adjustment."""
    runs = {name: triage_scores(cases, name, resamples, seed) for name in cases.runs}
    pairs = compare_judges(cases.runs, cases.gold, clusters=cases.clusters, resamples=resamples, seed=seed)
    return ComparedCases(cases, runs, pairs)


def triage_scores(cases: JudgedCases, run: str, resamples: int = 10_000, seed: int = 0) -> TriageScores:
    """Return what one run of a judge is worth."""
    sample, verdicts, clusters = cases.sample(run), cases.runs[run], cases.clusters
    took = item_costs(sample)
    measured = took.now if took.now["seconds"].reported or not took.cached else took.from_cache
    scored = partial(score, judge=run, clusters=clusters, resamples=resamples, seed=seed)
    finer = None
    if cases.subcategories:
        gold = finer_gold(cases)
        known = {label.item for label in gold}
        named = [verdict for verdict in finer_verdicts(verdicts) if verdict.item in known]
        finer = scored(named, gold, finer_labels(), benchmark=cases.on)
    return TriageScores(
        access=next((one.access for one in verdicts if one.access), ""),
        scores=scored(verdicts, cases.gold, LABELS, benchmark=cases.on),
        finer=finer,
        direction=direction(sample, seed),
        ceiling=ceiling(sample, resamples, seed) if len(sample.raters) > 1 else None,
        seconds=measured["seconds"],
        cost=measured["cost_usd"],
    )


class Planted(Struct, frozen=True):
    """The cases of one subcategory, or of a label without one; run of a judge → the share that it gives each."""

    label: Fault
    subcategory: str
    observed: str
    n: int
    found: Mapping[str, Estimate]
    named: Mapping[str, Estimate]


def planted_and_found(cases: JudgedCases) -> tuple[Planted, ...]:
    """Return every cell of the taxonomy in its order, with what was planted of it and what each run found."""
    labels, finer, book = majority(cases.gold).label_of, majority(cases.subcategories).label_of, taxonomy()
    samples = {run: cases.sample(run) for run in cases.runs}
    cells = [(label, name, cell.observed) for label in FAULTS for name, cell in book[label].subcategories.items()]
    cells += [(label, "", "success") for label in FAULTS if book[label].success and label != "task"]
    planted = []
    for label, name, observed in cells:
        these = {item for item, gold in labels.items() if gold == label and finer.get(item, "") == name}
        if these or name:
            shares = {run: _share(sample, these, label) for run, sample in samples.items()}
            named = {run: _share(sample, these, label, name) for run, sample in samples.items()}
            planted.append(Planted(label, name, observed, len(these), shares, named))
    return tuple(planted)


def _share(sample: JudgedSample, these: Set[str], label: Fault, name: str | None = None) -> Estimate:
    whole = np.array([one.item in these for one in sample.verdicts], dtype=np.bool_)
    finely = [name is None or (isinstance(one, TriageVerdict) and one.subcategory == name) for one in sample.verdicts]
    labelled = sample.answers == sample.codes.places[label]
    return sample.units.share(labelled & np.array(finely, dtype=np.bool_), whole, NONE_PLANTED)


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

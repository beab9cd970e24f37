"""Any set of judges and kinds of access on the same cases: their scores, the finer ones, and pairs of them tested."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.gold import Construction, GoldLabel, families_of
from misstep_analysis.judging.assessment import PerItem, item_costs
from misstep_analysis.judging.bias import bias
from misstep_analysis.judging.comparison import PairedJudges, compare_judges
from misstep_analysis.judging.human_upper_bound import Ceiling, ceiling
from misstep_analysis.judging.judged import JudgedItems
from misstep_analysis.judging.sample import JudgedSample, judged_sample, majority
from misstep_analysis.judging.scores import LEFT_OPEN, NEVER_GOLD, Scores, score
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import difference_of_shares
from misstep_analysis.tables import Evidence, Row, Table, made_by_this, of_evidence, rows_in
from misstep_analysis.tables.wording import counted_text, in_words, number_text, with_interval
from misstep_harness.triage.records.attribution import FAULTS, Fault, TriageVerdict, taxonomy

LABELS: tuple[str, ...] = FAULTS
AGENT, TASK = "agent", "task"
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

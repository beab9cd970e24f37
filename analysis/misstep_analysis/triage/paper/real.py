"""AutoTriage's questions on public data: judges on real failures, defective tasks, the worth of a pass.

The printed figures are of runs that are not public. These tables are of other sets, whose labels
`data/fault_mappings.toml` maps to the taxonomy.
"""

from collections.abc import Mapping, Sequence

from msgspec import structs

from misstep_analysis.judging.judged import ScoredItems
from misstep_analysis.judging.scores import standings
from misstep_analysis.published import published_row, read_paper
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import (
    Figure,
    Row,
    Table,
    TableHead,
    Unit,
    estimate_row,
    made_by_this,
    measured_on,
    rows_in,
    rows_of,
)
from misstep_analysis.tables.wording import with_interval
from misstep_analysis.triage.real import DefectiveTasks, MarkedFaults, TriagedSet, UnlabelledRuns, Worth
from misstep_harness.fault_mappings import FAULTS, FaultMapping, LabelOf
from misstep_harness.places import data_folder

_SLUG = "autotriage"
_SUBMISSIONS, _GRADED = "swe_bench_resolved_submissions", "paperbench_judge_eval"
_UNITS: dict[LabelOf, str] = {
    "run": "a run",
    "error": "an error",
    "task": "a task",
    "list": "a list of tests",
    "requirement": "a requirement",
}
_NOT_HELD = "does not hold"
_NONE = "No public set with such labels is available."


_REAL_MAPPINGS = TableHead("real_mappings", _SLUG, "Labels of public sets, and whose fault they are taken for")


@made_by_this
def mappings_table(mappings: Sequence[FaultMapping], notes: Sequence[str] = ()) -> Table:
    """Return which labels of public sets are mapped to which fault, and why, with the unmapped ones."""
    sets = {one.dataset for one in mappings}
    holding = {one.dataset for one in mappings if one.holds}
    return _REAL_MAPPINGS.table(
        (
            f"Of {len(sets)} public sets with labels of failures, tasks or judges, {len(holding)} have labels that say "
            "whose fault something is; only "
            f"{len({one.dataset for one in mappings if one.holds and one.of == 'run'})} say it of whole runs."
        ),
        map(_mapping_row, mappings),
        tuple(notes),
    )


def _mapping_row(one: FaultMapping) -> Row:
    target = " / ".join(filter(None, (one.fault, one.subcategory))) or _NOT_HELD
    return Row(
        quantity=", ".join(one.labels),
        value=target,
        unit="text",
        group=f"{one.dataset}, label of {_UNITS[one.of]}",
        source=f"{one.dataset}: {one.of}",
        reason=one.reason,
    )


_REAL_TRIAGE = TableHead(
    "real_triage",
    _SLUG,
    "Whose fault public failed runs are, by judges that read their texts and ask no model",
    (
        "Every run of whoandwhen has an agent that is blamed, so that a judge which always says agent is right.",
        "The runs are dialogues with tools or between agents; none has tests, logs or a workspace, which is what "
        "the judges are made for.",
        "Runs without a labelled cause have no score: the rows say how often each answer was given.",
    ),
)


@made_by_this
def real_triage_table(
    sets: Sequence[TriagedSet], unlabelled: Sequence[UnlabelledRuns] = (), notes: Sequence[str] = ()
) -> Table:
    """Judges without a model on failed runs of public sets whose label maps to the taxonomy, counted both ways."""
    rows = [row for one in sets for row in measured_on(one.judged.dataset, _triage_rows(one))]
    rows += [row for one in unlabelled for row in measured_on(one.dataset, _unlabelled_rows(one))]
    return _REAL_TRIAGE.table(
        _triage_finding(sets),
        rows,
        (*notes,),
        datasets=[one.judged.dataset for one in sets] + [one.dataset for one in unlabelled],
    )


def _triage_rows(one: TriagedSet) -> list[Row]:
    scores = one.scores
    figures: list[tuple[str, Figure, Unit]] = [
        ("Runs answered", wilson(scores.answered, scores.n), "share"),
        ("Accuracy, unanswered counted as wrong", scores.accuracy_all, "share"),
        ("Accuracy of the answered", scores.accuracy, "share"),
        (f"Accuracy of always “{scores.majority_label}”", scores.majority_share, "share"),
        ("Cohen's kappa, unanswered as a label", scores.cohen_kappa_all, "coefficient"),
        ("Cohen's kappa of the answered", scores.cohen_kappa, "coefficient"),
    ]
    for label in one.supported:
        of_label = scores.labels[label]
        figures.append((f"Recall of {label}, unanswered as missed", of_label.recall_all, "share"))
        figures.append((f"Recall of {label}, of the answered", of_label.recall, "share"))
    flows = (("agent", "task"), ("task", "agent"))
    figures += [(f"{gold} given to {to}", one.flow(gold, to), "share") for gold, to in flows if gold in one.supported]
    figures += [(f"Runs given to {label}", one.share_of(label), "share") for label in FAULTS]
    figures.append(("Runs left out: their label does not map", one.unmapped, "count"))
    figures.append(("Runs left out: no transcript", one.unaskable, "count"))
    return rows_of(figures, one.judged.title, one.judged.source)


def _unlabelled_rows(one: UnlabelledRuns) -> list[Row]:
    group, counts = f"{one.judge} on {one.dataset}, runs that {one.outcome}", one.counts()
    answers = {f"Says {label}": count for label, count in counts.items()}
    return rows_in("count", answers, group, one.source, n=len(one.verdicts))


def _triage_finding(sets: Sequence[TriagedSet]) -> str:
    if not sets:
        return _NONE
    better = standings(one.scores for one in sets).count("more often")
    first = (
        f"{better or 'None'} of {len(sets)} times a judge of public failed runs is right more often than always giving "
        "the most frequent label (paired test, Holm, 0.05)"
    )
    several = [one for one in sets if len(one.supported) > 1]
    if not several:
        return f"{first}."
    best = max(several, key=lambda one: one.scores.accuracy_all.value or 0)
    missed = best.scores.labels["task"].recall_all
    return (
        f"{first}. Where labels differ, the one with the highest share, {best.judged.title}, is right on "
        f"{with_interval(best.scores.accuracy_all, 'share')} and finds {with_interval(missed, 'share')} of the task's "
        "faults."
    )


_REAL_ERRORS = TableHead(
    "real_errors",
    _SLUG,
    "Errors marked in runs, by whose fault their category says they are",
    (
        "A category is of an error and not of a run: a run has many, and which of them decided it is not known.",
        "Intervals are over runs. People's marks count once for each judge, on the runs that it answered.",
    ),
)


@made_by_this
def errors_by_fault_table(marked: Sequence[MarkedFaults], notes: Sequence[str] = ()) -> Table:
    """Return single errors in runs by the fault of their category: people's marks beside three judges'."""
    names = {"task": "Of the task", "agent": "Of the agent", "infrastructure": "Of the infrastructure"}
    rows = [
        estimate_row(names.get(fault or "", "Of nobody whom the category names"), share, "share", one.who, "trail")
        for one in marked
        for fault, share in one.shares.items()
    ]
    row = next((one for one in marked if one.shares["agent"].value is not None), None)
    return _REAL_ERRORS.table(
        _NONE
        if row is None
        else f"{row.who.capitalize()}: {with_interval(row.shares['agent'], 'share')} of {row.marks:,} marked errors "
        f"are the agent's, and {with_interval(row.shares['infrastructure'], 'share')} the infrastructure's.",
        rows,
        (*notes,),
        datasets=("trail",),
    )


_REAL_DEFECTS = TableHead(
    "real_defects",
    _SLUG,
    "Defective tasks of SWE-bench, and the worth of a pass with them",
    (
        "A defect is of a task: a single run on it can still fail by the agent's own error, or pass soundly.",
        "Texts were classed by one reader each; the tasks are half of SWE-bench Lite, drawn within classes.",
        "Half of the tasks with weak tests are available: shares of them are lower bounds. A missing label does not "
        "prove good tests.",
        "Tasks are the sample: submissions pass and fail the same ones.",
    ),
)


@made_by_this
def defects_table(defects: Sequence[DefectiveTasks], worth: Sequence[Worth], notes: Sequence[str] = ()) -> Table:
    """Return shares of tasks with a known defect, and the worth of the passes recorded on SWE-bench Verified."""
    rows = [
        row
        for one in defects
        for what in [f"Share of tasks{', at least' if one.least else ''}"]
        for row in measured_on(one.dataset, [estimate_row(what, one.share, "share", one.title, one.source)])
    ]
    rows += _printed_weak_rows() if any(one.least for one in defects) else []
    rows += [row for one in worth for row in _worth_rows(one)]
    return _REAL_DEFECTS.table(
        _defects_finding(worth),
        rows,
        (*notes,),
        datasets=[one.dataset for one in defects] + ([_SUBMISSIONS] if worth else []),
    )


def _printed_weak_rows() -> list[Row]:
    paper = read_paper(data_folder() / "reported" / "task_defects.toml")
    count, tasks = paper["utboost.verified"], paper["utboost.verified.tasks"]
    group = "Tests that accept wrong patches, SWE-bench Verified"
    share = wilson(int(count.number), int(tasks.number))
    return [
        published_row(count, "Tasks, as the authors count them", n=int(tasks.number), group=group),
        estimate_row("Share of tasks, by the authors' count", share, "share", group, count.place, "recomputed"),
    ]


def _worth_rows(one: Worth) -> list[Row]:
    defect = one.defect
    group = f"Passes: {defect.title[0].lower()}{defect.title[1:]}"
    source = f"{defect.source}, {one.systems} submissions, {one.passes:,} passes"
    figures: list[tuple[str, Figure, Unit]] = [
        ("Share of passes that are on such a task", one.of_passes, "share"),
        ("Solve rate of such tasks", one.rate, "share"),
        ("Solve rate of the other tasks looked at", one.other_rate, "share"),
        ("Difference of the solve rates", one.difference, "difference"),
        ("Least share of one submission's passes", one.lowest, "share"),
        ("Largest share of one submission's passes", one.highest, "share"),
    ]
    if one.kept.value != 1:  # the tasks looked at are not those of the leaderboard
        figures += [
            ("Share of such tasks that SWE-bench Verified has", one.kept, "share"),
            ("Share of the other tasks looked at that it has", one.other_kept, "share"),
        ]
    rows = rows_of(figures, group, source)
    return [structs.replace(row, datasets=(defect.dataset, _SUBMISSIONS)) for row in rows]


def _defects_finding(worth: Sequence[Worth]) -> str:
    known = [one for one in worth if one.of_passes.value is not None]
    if not known:
        return _NONE
    shares = "; ".join(f"{one.defect.title}: {with_interval(one.of_passes, 'share')}" for one in known)
    return f"A known defect touches a small part of the passes recorded on SWE-bench Verified. {shares}."


_REAL_REQUIREMENT_JUDGES = TableHead(
    "real_requirement_judges",
    _SLUG,
    "Judges of whether agents' work meets its requirements, against people",
    (
        "Requirements of one piece of work hang together: the intervals are over pieces of work.",
        "PaperBench's judges are printed without their answers: there is nothing to take an interval over.",
    ),
)


@made_by_this
def recorded_judges_table(
    scored: Sequence[ScoredItems], printed: Mapping[str, Mapping[str, float]], notes: Sequence[str] = ()
) -> Table:
    """Return scores of judges of agents' work against people in two sets that ask another question."""
    rows = [row for one in scored for row in measured_on(one.judged.dataset, _agent_judge_rows(one))]
    rows += measured_on(_GRADED, [row for judge, shares in printed.items() for row in _printed_rows(judge, shares)])
    best = max(scored, key=lambda one: one.scores.accuracy.value or 0, default=None)
    return _REAL_REQUIREMENT_JUDGES.table(
        _NONE
        if best is None
        else f"An agent that may look at the work agrees with people on up to "
        f"{with_interval(best.scores.accuracy, 'share', best.judged.title)} of the requirements; no such set says "
        "whose fault an unmet one is.",
        rows,
        (*notes,),
        datasets=[one.judged.dataset for one in scored] + ([_GRADED] if printed else []),
    )


def _agent_judge_rows(one: ScoredItems) -> list[Row]:
    scores = one.scores
    figures: tuple[tuple[str, Figure, Unit], ...] = (
        ("Agreement with people", scores.accuracy, "share"),
        (f"Agreement of always “{scores.majority_label}”", scores.majority_share, "share"),
        ("Cohen's kappa", scores.cohen_kappa, "coefficient"),
    )
    return rows_of(figures, one.judged.title, one.judged.source)


def _printed_rows(judge: str, shares: Mapping[str, float]) -> list[Row]:
    return [
        Row(
            "Agreement with people" if category == "Overall" else f"Agreement with people, {category}",
            value,
            unit="share",
            group=judge,
            source="PaperBench, its own tables, leaves of five papers",
            reason="the judge's answers are not published, and leaves of one parent hang together",
        )
        for category, value in shares.items()
    ]

"""Measure on public data whose fault failures are, from their facts.

`data/fault_mappings.toml` says which labels of the eight sets are taken for whose fault something is.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from misstep_analysis.gold import BenchmarkItem, GoldLabel, read_gold
from misstep_analysis.judging.judged import JudgedItems
from misstep_analysis.judging.sample import clusters_of
from misstep_analysis.judging.scores import score
from misstep_analysis.passing.solve_rates import SolvedSet
from misstep_analysis.reproduction.recorded.classified import seed, version
from misstep_analysis.reproduction.recorded.recorded_judges import marked_runs
from misstep_analysis.reproduction.recorded.solve_rates import SUBMISSIONS, solved_sets
from misstep_analysis.triage.real import DefectiveTasks, MarkedFaults, TriagedSet, UnlabelledRuns, Worth
from misstep_analysis.triage.real import faults_of_marks as _faults_of_marks
from misstep_analysis.triage.real import worth_of_passes as _worth_of_passes
from misstep_harness.benchmarks.folders import benchmark_folder, read_trajectories
from misstep_harness.datasets.agentless_classes import classed_tasks
from misstep_harness.datasets.facts import Facts, from_recorded
from misstep_harness.datasets.judged.paperbench_judge_eval import printed_accuracies
from misstep_harness.datasets.utboost import tasks as utboost_tasks
from misstep_harness.fault_mappings import FAULTS, mapping_of
from misstep_harness.items import Item, read_items, read_question
from misstep_harness.judges.answering import answered
from misstep_harness.protocols import NO_MODEL, FittedJudge
from misstep_harness.runs.judging.known_judges import known_judge
from misstep_harness.trajectory import Outcome as RunOutcome
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Status, Verdict


class FaultRun(Struct, frozen=True):
    """A run, what people say whose fault it is or its outcome if that alone is known, and what it hangs together with.

    `unaskable` ones have no transcript.
    """

    item: str
    cluster: str
    unaskable: bool
    gold: str = ""


class FaultVerdict(Struct, frozen=True):
    """What one of our judges says of a run."""

    judge: str
    item: str
    status: Status
    label: str | None = None

    def verdict(self) -> Verdict:
        """Return it as a verdict."""
        return Verdict(self.item, self.judge, self.label, self.status)


class ClassedTask(Struct, frozen=True):
    """How people classed the text of a task: what it says of the problem, and of the solution."""

    task: str
    quality: str
    solution: str


class WeakTask(Struct, frozen=True):
    """A task whose tests accept wrong patches."""

    task: str


class PrintedAccuracy(Struct, frozen=True):
    """The accuracy that PaperBench's tables print of a judge in a category, empty for all of them."""

    judge: str
    accuracy: float
    category: str = ""


TRIAGED = ("agentrx", "whoandwhen")
"""The sets whose labels of whole failed runs map to the taxonomy."""

OUTCOMES_ALONE = "codetracer_runs"
"""The set of runs with a known reward and without a cause."""

CLASSED, WEAK, SUBMITTED = "agentless_classes", "utboost", "swe_bench_resolved_submissions"
GRADED = "paperbench_judge_eval"

DATASETS = (*TRIAGED, "trail", OUTCOMES_ALONE, CLASSED, WEAK, SUBMITTED, "agent_as_a_judge", GRADED)
"""All sets that this is measured on."""

_RATER = "annotators"
_JUDGING = ("misstep_harness.triage", "misstep_harness.triage.rules", "misstep_harness.triage.passes")
"""The code of these judges."""

_CLASSES = Facts(
    CLASSED,
    "classes",
    ClassedTask,
    lambda folder: (ClassedTask(one.instance_id, one.quality, one.solution) for one in classed_tasks(folder)),
)
_WEAK = Facts(
    WEAK,
    "weak_tests",
    WeakTask,
    lambda folder: (WeakTask(one.instance_id) for one in utboost_tasks(folder) if one.weak_tests),
)
_PRINTED = Facts(
    GRADED,
    "printed",
    PrintedAccuracy,
    lambda folder: (
        PrintedAccuracy(judge, accuracy, category)
        for judge, by_category in printed_accuracies(folder).items()
        for category, accuracy in by_category.items()
    ),
)
JUDGES = ("triage@phrases", "triage@rules-text")
"""The judges that need no model and no more than the texts of a run: the table of phrases, and the rules."""


def _fault_benchmark(dataset: str, folder: Path) -> Path:
    return benchmark_folder(dataset if dataset == OUTCOMES_ALONE else f"{dataset}-fault", folder.parent)


def _fault_runs(dataset: str, folder: Path) -> Iterator[FaultRun]:
    benchmark = _fault_benchmark(dataset, folder)
    items = list(read_items(benchmark, BenchmarkItem))
    gold, clusters = {row.item: row.label for row in read_gold(benchmark)}, clusters_of(items)
    for item in read_items(benchmark):
        yield FaultRun(item.id, clusters[item.id], bool(item.skip_reason), gold.get(item.id, ""))


def _fault_verdicts(dataset: str, folder: Path) -> Iterator[FaultVerdict]:
    """Judge the runs that have a label; where that is the outcome alone, a judge is told it."""
    benchmark = _fault_benchmark(dataset, folder)
    question, gold = read_question(benchmark), {row.item: row.label for row in read_gold(benchmark)}
    outcomes = dataset == OUTCOMES_ALONE
    items = [item for item in read_items(benchmark) if item.id in gold and (outcomes or not item.skip_reason)]
    runs = {run.id: run for run in read_trajectories(benchmark)}
    if outcomes:
        told = {name: RunOutcome("passed" if label == "passed" else "failed") for name, label in gold.items()}
        runs = {name: replace(run, outcome=told[name]) for name, run in runs.items()}
    for name in JUDGES:
        judge = known_judge(name) if outcomes else known_judge(name).fitted(question, benchmark)
        for one in _verdicts(judge, items, runs):
            yield FaultVerdict(name, one.item, one.status, one.label)


_RUNS = {name: Facts(name, "faults", FaultRun, partial(_fault_runs, name)) for name in (*TRIAGED, OUTCOMES_ALONE)}
_VERDICTS = {
    name: Facts(name, "fault_verdicts", FaultVerdict, partial(_fault_verdicts, name), _JUDGING) for name in _RUNS
}
FACTS: tuple[Facts[Any], ...] = (*_RUNS.values(), *_VERDICTS.values(), _CLASSES, _WEAK, _PRINTED)
"""The tables that these sets are read from."""


def triaged_sets(judges: Sequence[str] = JUDGES) -> list[TriagedSet]:
    """Return judges on the failed runs whose label maps to the taxonomy, with scores."""
    return [one for dataset in TRIAGED for one in _triaged(dataset, judges)]


def _triaged(dataset: str, judges: Sequence[str]) -> Iterator[TriagedSet]:
    runs, verdicts = _RUNS[dataset].rows(), _VERDICTS[dataset].rows()
    unaskable = sum(run.unaskable for run in runs)
    chosen = [run for run in runs if run.gold and not run.unaskable]
    for judge in judges:
        judged = JudgedItems(
            judge=judge,
            dataset=dataset,
            source=version(dataset),
            verdicts=tuple(one.verdict() for one in verdicts if one.judge == judge),
            gold=tuple(GoldLabel(run.item, _RATER, run.gold) for run in chosen),
            clusters={run.item: run.cluster for run in runs},
            labels=FAULTS,
            positive="task",
            on=dataset,
        )
        scores = score(judged.verdicts, judged.gold, judged.labels, benchmark=dataset, seed=seed())
        yield TriagedSet(judged, scores, len(runs) - unaskable - len(chosen), unaskable)


def _verdicts(judge: FittedJudge, items: Sequence[Item], runs: dict[str, Trajectory]) -> tuple[Verdict, ...]:
    async def every() -> list[Verdict]:
        return [await answered(judge, item, runs.get(item.trajectory_id or item.id), NO_MODEL) for item in items]

    # A notebook's cells run in an event loop of their own: hence the thread.
    with ThreadPoolExecutor(1) as apart:
        return tuple(apart.submit(asyncio.run, every()).result())


def unlabelled_runs(judges: Sequence[str] = JUDGES) -> list[UnlabelledRuns]:
    """Return what judges, who know the outcome, say of the runs of a set that has rewards and no causes."""
    outcomes = {run.item: run.gold for run in _RUNS[OUTCOMES_ALONE].rows()}
    verdicts = _VERDICTS[OUTCOMES_ALONE].rows()
    source = version(OUTCOMES_ALONE)
    return [
        UnlabelledRuns(
            judge,
            OUTCOMES_ALONE,
            source,
            outcome,
            tuple(one.verdict() for one in verdicts if one.judge == judge and outcomes[one.item] == outcome),
        )
        for judge in judges
        for outcome in dict.fromkeys(outcomes.values())
    ]


def errors_by_fault() -> list[MarkedFaults]:
    """Return the errors that people and three recorded judges marked in runs, by whose fault they are."""
    return _faults_of_marks(marked_runs())


def defective_tasks() -> list[DefectiveTasks]:
    """Return the known defective tasks of SWE-bench: unclear or leaking texts, and tests that are too weak."""
    return [*_classed(), _weak()]


def _classed() -> Iterator[DefectiveTasks]:
    tasks = _CLASSES.rows()
    among = frozenset(one.task for one in tasks)
    for title, label in (("Unclear or misleading text", "Misleading"), ("Text that holds the patch", "Exact patch")):
        mapping = mapping_of(CLASSED, label)
        these = frozenset(one.task for one in tasks if {one.quality, one.solution} & set(mapping.labels))
        yield DefectiveTasks(f"{title}, SWE-bench Lite", CLASSED, version(CLASSED), mapping, these, among)


def _weak() -> DefectiveTasks:
    weak = frozenset(one.task for one in _WEAK.rows())
    every = frozenset(verified().tasks())
    mapping = mapping_of(WEAK, "weak_tests")
    title = "Tests that accept wrong patches, SWE-bench Verified"
    return DefectiveTasks(title, WEAK, version(WEAK), mapping, weak & every, every, least=True)


def verified() -> SolvedSet:
    """Return every submission to SWE-bench Verified on every task."""
    return solved_sets(SUBMISSIONS)[0]


def worth_of_passes() -> list[Worth]:
    """Return the worth of recorded passes on SWE-bench Verified, by each known kind of defect of its tasks."""
    return [_worth_of_passes(verified(), defect) for defect in defective_tasks()]


def printed_judges() -> dict[str, dict[str, float]]:
    """Return judge → category → the accuracy that PaperBench's own tables print of it."""
    accuracies: dict[str, dict[str, float]] = defaultdict(dict)
    for row in _PRINTED.rows():
        accuracies[row.judge][row.category] = row.accuracy
    return accuracies


def notes() -> tuple[str, ...]:
    """Say which of these sets are not measured here."""
    return from_recorded(DATASETS)

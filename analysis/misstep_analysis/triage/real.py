"""Whose fault failures are, on public data: labels mapped to the taxonomy, defective tasks, what a pass is worth."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from misstep_analysis.judging.judged import JudgedItems, JudgedMarks, Mark
from misstep_analysis.judging.scores import Scores
from misstep_analysis.passing.solve_rates import SolvedSet
from misstep_analysis.sessions.prevalence import clustered_share, summed
from misstep_analysis.stats.clusters.clustered import clustered_difference
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_harness.fault_mappings import FAULTS, Fault, FaultMapping, mapped_fault
from misstep_harness.verdict import Verdict

NO_TASKS = "no task of the class was tried"
NO_PASSES = "nothing passed"
NO_MARKS = "no error was marked"


class TriagedSet(Struct, frozen=True):
    """One judge on the failed runs of a public set whose labels map to the taxonomy, with its scores.

    `judged` has the runs with a gold label alone; `unmapped` counts the runs whose label is none of the taxonomy, and
    `unaskable` those that have no transcript.
    """

    judged: JudgedItems
    scores: Scores
    unmapped: int
    unaskable: int

    @property
    def supported(self) -> tuple[str, ...]:
        """Return the labels that people gave, in the order of the taxonomy."""
        return tuple(label for label in FAULTS if self.scores.labels[label].support)

    def share_of(self, label: str) -> Estimate:
        """Return the share of the runs asked that the judge gave a label, right or wrong."""
        verdicts = self.judged.verdicts
        return wilson(sum(one.label == label for one in verdicts), len(verdicts))

    def flow(self, gold: str, answer: str) -> Estimate:
        """Return the share of the runs with one gold label that were given another; the unanswered are in the whole."""
        matrix = self.scores.confusion
        row, column = matrix.labels.index(gold), matrix.labels.index(answer)
        return wilson(matrix.matrix[row][column], self.scores.labels[gold].support)


class UnlabelledRuns(Struct, frozen=True):
    """What a judge says of runs whose cause nobody labelled: how often it gave each label, and how often none."""

    judge: str
    dataset: str
    source: str
    outcome: str
    verdicts: tuple[Verdict, ...]

    def counts(self) -> dict[str, int]:
        """Label, or the status of what has none → how many runs."""
        return dict(Counter(verdict.label or verdict.status for verdict in self.verdicts))


class MarkedFaults(Struct, frozen=True):
    """The errors that somebody marked in runs, by whose fault they are; `None` is for what maps to no label."""

    who: str
    runs: int
    marks: int
    shares: dict[Fault | None, Estimate]


def marked_faults(dataset: str, who: str, marks: Sequence[Sequence[Mark]]) -> MarkedFaults:
    """Return the errors in some runs by whose fault they are."""
    faults = [[mapped_fault(dataset, category) for _, category in run] for run in marks if run]
    kinds: tuple[Fault | None, ...] = ("task", "agent", "infrastructure", None)
    shares = {fault: clustered_share([(run.count(fault), len(run)) for run in faults], NO_MARKS) for fault in kinds}
    return MarkedFaults(who, len(faults), sum(map(len, faults)), shares)


def faults_of_marks(judged: Sequence[JudgedMarks]) -> list[MarkedFaults]:
    """For each judge of marked runs, people's errors and the judge's on the runs that it answered."""
    faults = []
    for one in judged:
        answered = {run: marks for run, marks in one.judge.items() if marks is not None}
        people = [sorted(one.people[run]) for run in answered]
        faults.append(marked_faults(one.dataset, f"people, runs of {one.title}", people))
        faults.append(marked_faults(one.dataset, one.title, list(answered.values())))
    return faults


class DefectiveTasks(Struct, frozen=True):
    """The tasks of a benchmark that are labelled with a defect, among those that were looked at.

    - `least`: Only a part of the known defects is available, so that the share is a lower bound.
    """

    title: str
    dataset: str
    source: str
    mapping: FaultMapping
    tasks: frozenset[str]
    among: frozenset[str]
    least: bool = False

    @property
    def share(self) -> Estimate:
        """Return the defective tasks as a share of those looked at."""
        return wilson(len(self.tasks & self.among), len(self.among))


class Worth(Struct, frozen=True):
    """What passes are worth where some tasks are defective; `of_passes` is the share of passes on a defective task."""

    defect: DefectiveTasks
    of_passes: Estimate
    rate: Estimate
    other_rate: Estimate
    difference: Estimate
    lowest: Estimate
    highest: Estimate
    kept: Estimate
    other_kept: Estimate
    systems: int
    passes: int


def worth_of_passes(solved: SolvedSet, defect: DefectiveTasks, fewest: int = 50) -> Worth:
    """Return how many of a leaderboard's passes are on defective tasks, and how much more often these are solved."""
    cells = summed(
        (task, right, tried)
        for of_system in solved.systems.values()
        for task, (tried, right) in of_system.items()
        if task in defect.among
    )
    bad, good = ([cells[task] for task in cells if (task in defect.tasks) is is_bad] for is_bad in (True, False))
    passes = [(x if task in defect.tasks else 0, x) for task, (x, _) in cells.items()]
    difference = Estimate(None, n=0, reason=NO_TASKS)
    if bad and good:
        difference = clustered_difference(bad, good).small_sample
    own = [solved.solved(system) & defect.among for system in solved.systems]
    alone = [len(tasks & defect.tasks) / len(tasks) for tasks in own if len(tasks) >= fewest]
    reason = "" if alone else f"no system passed {fewest} of the tasks"
    lowest, highest = (Estimate(end(alone, default=None), n=len(alone), reason=reason) for end in (min, max))
    return Worth(
        defect,
        clustered_share(passes, NO_PASSES),
        clustered_share(bad, NO_TASKS),
        clustered_share(good, NO_TASKS),
        difference,
        lowest,
        highest,
        wilson(len(defect.tasks & cells.keys()), len(defect.tasks)),
        wilson(len(defect.among & cells.keys() - defect.tasks), len(defect.among - defect.tasks)),
        len(solved.systems),
        sum(x for _, x in passes),
    )

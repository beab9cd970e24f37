"""Public sets of solved tasks as notebooks ask for them, each with its title and version, from their facts."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_analysis.passing.solve_rates import Cell, SolvedSet, solved_set
from misstep_analysis.reproduction.recorded.classified import version
from misstep_harness.datasets import outcomes_of
from misstep_harness.datasets.benchmark import Facts, from_recorded

SUBMISSIONS = {("swe_bench_resolved_submissions", "verified"): "SWE-bench Verified"}
"""Sets whose systems were all tried once on the same tasks: (data set, table) → title."""

SAMPLES = {("humaneval_codegen16b_samples", "samples"): "HumanEval"}
"""Sets with a hundred samples a task."""

TRIALS = {
    ("taubench", "airline"): "tau-bench, airline",
    ("swe_bench_resolved_submissions", "terminal_bench_trials"): "Terminal-Bench",
}
"""Sets with four or more trials a task."""

INCOMPLETE = {("swe_bench_pro", "runs"): "SWE-bench Pro"}
"""Sets whose runs left tasks out."""

QUARTER = {
    ("devin", "all"): "A quarter of SWE-bench, every task",
    ("devin", "with_diff"): "A quarter of SWE-bench, tasks with a diff",
}
"""One system's tasks, and those of them on which it produced something."""

REPAIRED = {("debugbench", "results"): "DebugBench"}
"""Models' repairs by kind of fault, each kind tried once a case."""

REPAIRED_CASES = {("debugbench", "python3_cases"): "DebugBench, 200 Python cases"}
"""Two models' repairs of the same cases."""

PROGRAMS = {("humanevalfix", "programs"): "HumanEvalFix"}
"""Broken and correct programs, each run once against its tests."""

TESTS = {("quixbugs", "tests"): "QuixBugs"}
"""Broken and correct programs, each with several tests."""


class Task(Struct, frozen=True):
    """One task of a table; a row of `attempts.csv` has its counts in the order of these rows."""

    table: str
    task: str


class System(Struct, frozen=True):
    """One system of a table: how often it tried each task, once if always as often, and how often it solved it.

    Counts are apart by spaces; a task that it was not tried on has a dash.
    """

    table: str
    system: str
    tried: str
    solved: str


def _measured(dataset: str, folder: Path) -> list[SolvedSet]:
    attempts = list(outcomes_of(dataset, folder))
    return [solved_set(attempts, dataset, table, table, "") for of, table in _EVERY if of == dataset]


def _tasks(dataset: str, folder: Path) -> Iterator[Task]:
    for solved in _measured(dataset, folder):
        yield from (Task(solved.title, task) for task in _in_order(solved))


def _in_order(solved: SolvedSet) -> list[str]:
    """Tasks as the set has them: what is drawn of them depends on the order."""
    return list(dict.fromkeys(task for cells in solved.systems.values() for task in cells))


def _systems(dataset: str, folder: Path) -> Iterator[System]:
    for solved in _measured(dataset, folder):
        tasks = _in_order(solved)
        for system, cells in solved.systems.items():
            tried = {str(count) for count, _ in cells.values()}
            known = [cells.get(task) for task in tasks]
            every = tried if len(tried) == 1 else [str(cell[0]) if cell else "-" for cell in known]
            yield System(
                solved.title, system, " ".join(every), " ".join(str(cell[1]) if cell else "-" for cell in known)
            )


_EVERY = (*SUBMISSIONS, *SAMPLES, *TRIALS, *INCOMPLETE, *QUARTER, *REPAIRED, *REPAIRED_CASES, *PROGRAMS, *TESTS)
_DATASETS = tuple(dict.fromkeys(dataset for dataset, _ in _EVERY))
_TASKS = {name: Facts(name, "tasks", Task, partial(_tasks, name)) for name in _DATASETS}
_SYSTEMS = {name: Facts(name, "attempts", System, partial(_systems, name)) for name in _DATASETS}
FACTS: tuple[Facts[Any], ...] = (*_TASKS.values(), *_SYSTEMS.values())
"""The tables that these sets are read from."""


def solved_sets(tables: Mapping[tuple[str, str], str]) -> list[SolvedSet]:
    """Return the tables, in the order given."""
    return [
        SolvedSet(dataset, title, version(dataset), _table(dataset, table))
        for (dataset, table), title in tables.items()
    ]


def _table(dataset: str, table: str) -> dict[str, dict[str, Cell]]:
    tasks = [row.task for row in _TASKS[dataset].rows() if row.table == table]
    return {row.system: _cells(row, tasks) for row in _SYSTEMS[dataset].rows() if row.table == table}


def _cells(row: System, tasks: list[str]) -> dict[str, Cell]:
    solved, tried = row.solved.split(), row.tried.split()
    counts = zip(tasks, tried * len(tasks) if len(tried) == 1 else tried, solved, strict=True)
    return {task: (int(n), int(count)) for task, n, count in counts if count != "-"}


def notes(*groups: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    """Say which of the sets that some tables are of are not measured here."""
    return from_recorded(dict.fromkeys(dataset for tables in groups for dataset, _ in tables))

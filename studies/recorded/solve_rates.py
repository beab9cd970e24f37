"""Public sets of solved tasks as notebooks ask for them, each with its title and version; absent ones are left out."""

from collections.abc import Mapping

from misstep.analysis.measures.solve_rates import SolvedSet, solved_set
from misstep.harness.datasets import outcomes_of
from misstep.harness.runs.judging.benchmarks import set_folder
from misstep.studies.recorded.classified import at_hand, version

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


def solved_sets(tables: Mapping[tuple[str, str], str]) -> list[SolvedSet]:
    """Return the tables that are available, in the order given."""
    here = at_hand({dataset for dataset, _ in tables})
    return [
        solved_set(outcomes_of(dataset, set_folder(dataset)), dataset, table, title, version(dataset))
        for (dataset, table), title in tables.items()
        if dataset in here
    ]


def datasets_of(*groups: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    """Return the data sets that some tables are of."""
    return tuple(dict.fromkeys(dataset for tables in groups for dataset, _ in tables))

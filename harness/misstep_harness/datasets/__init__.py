"""Public data sets: one module a set, upstream files → benchmark folders.

`upstream` reads upstream files strictly, `benchmark` writes the folder, `catalogue` knows what each set is.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from misstep_harness.errors import UsageError
from misstep_harness.items import Attempts
from misstep_harness.protocols import Loader, OutcomeLoader
from misstep_harness.registry import Registry
from misstep_harness.verdict import Verdict

LOADERS: Registry[Loader] = Registry(
    "misstep.datasets",
    {
        "agent_as_a_judge": "misstep_harness.datasets.judged.agent_as_a_judge",
        "agent_trajs": "misstep_harness.datasets.agent_trajs",
        "agentless_classes": "misstep_harness.datasets.agentless_classes",
        "agentrx": "misstep_harness.datasets.judged.agentrx",
        "codetracer_runs": "misstep_harness.datasets.codetracer_runs",
        "intercode": "misstep_harness.datasets.intercode",
        "judge_bench_raters": "misstep_harness.datasets.judged.judge_bench_raters",
        "llm_agents_study": "misstep_harness.datasets.judged.llm_agents_study",
        "mast": "misstep_harness.datasets.judged.mast",
        "mini_swe_agent_runs": "misstep_harness.datasets.mini_swe_agent_runs",
        "paperbench_judge_eval": "misstep_harness.datasets.judged.paperbench_judge_eval",
        "repairagent": "misstep_harness.datasets.repairagent",
        "taubench": "misstep_harness.datasets.taubench",
        "trail": "misstep_harness.datasets.judged.trail_judges",
        "utboost": "misstep_harness.datasets.utboost",
        "whoandwhen": "misstep_harness.datasets.judged.whoandwhen",
    },
)
loader_for = LOADERS.load

OUTCOMES: Registry[OutcomeLoader] = Registry(
    "misstep.datasets.outcomes",
    {
        "debugbench": "misstep_harness.datasets.outcomes:DEBUGBENCH",
        "devin": "misstep_harness.datasets.outcomes:DEVIN",
        "humaneval_codegen16b_samples": "misstep_harness.datasets.outcomes:HUMANEVAL",
        "humanevalfix": "misstep_harness.datasets.outcomes:HUMANEVALFIX",
        "quixbugs": "misstep_harness.datasets.outcomes:QUIXBUGS",
        "swe_bench_pro": "misstep_harness.datasets.outcomes:SWE_BENCH_PRO",
        "swe_bench_resolved_submissions": "misstep_harness.datasets.outcomes:SUBMISSIONS",
        "taubench": "misstep_harness.datasets.taubench",
    },
)
"""Sets that say which system solved which task, name → dotted path of what has `outcomes`."""


def outcomes_of(name: str, folder: Path) -> Iterator[Attempts]:
    """Return what the set in `folder` says of who solved what."""
    return OUTCOMES.load(name).outcomes(folder)


Recorded = Callable[[Path], Mapping[str, tuple[Verdict, ...]]]

RECORDED: Registry[Recorded] = Registry(
    "misstep.recorded",
    {
        "agent_as_a_judge": "misstep_harness.datasets.judged.agent_as_a_judge:recorded",
        "trail": "misstep_harness.datasets.judged.trail_judges:recorded",
    },
)
"""Sets with verdicts of real judges, name → a function: upstream folder → judge → its verdicts on the main items.
An answer that cannot be read is a verdict without a label, with the reason as its error.
"""


def recorded_verdicts(dataset: str, folder: Path) -> Mapping[str, tuple[Verdict, ...]]:
    """Return the verdicts of every judge that a data set ships: judge → verdicts, in the order of the items."""
    if dataset not in RECORDED.names():
        known = ", ".join(sorted(RECORDED.names()))
        raise UsageError(f"the data set {dataset} has no recorded judges", f"Sets that do: {known}.")
    return RECORDED.load(dataset)(folder)


__all__ = ["LOADERS", "OUTCOMES", "RECORDED", "loader_for", "outcomes_of", "recorded_verdicts"]

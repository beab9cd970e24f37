"""Public data sets: one module a set, upstream files → benchmark folders.

`upstream` reads upstream files strictly, `benchmark` writes the folder, `catalogue` knows what each set is.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from misstep.harness.attempts import Attempts
from misstep.harness.errors import UsageError
from misstep.harness.protocols import Loader, OutcomeLoader
from misstep.harness.registry import Registry
from misstep.harness.verdict import Verdict

LOADERS: Registry[Loader] = Registry(
    "misstep.datasets",
    {
        "agent_as_a_judge": "misstep.harness.datasets.judged.agent_as_a_judge",
        "agent_trajs": "misstep.harness.datasets.agent_trajs",
        "agentless_classes": "misstep.harness.datasets.agentless_classes",
        "agentrx": "misstep.harness.datasets.judged.agentrx",
        "codetracer_runs": "misstep.harness.datasets.codetracer_runs",
        "intercode": "misstep.harness.datasets.intercode",
        "judge_bench_raters": "misstep.harness.datasets.judged.judge_bench_raters",
        "llm_agents_study": "misstep.harness.datasets.judged.llm_agents_study",
        "mast": "misstep.harness.datasets.judged.mast",
        "mini_swe_agent_runs": "misstep.harness.datasets.mini_swe_agent_runs",
        "paperbench_judge_eval": "misstep.harness.datasets.judged.paperbench_judge_eval",
        "repairagent": "misstep.harness.datasets.repairagent",
        "taubench": "misstep.harness.datasets.taubench",
        "trail": "misstep.harness.datasets.judged.trail",
        "utboost": "misstep.harness.datasets.utboost",
        "whoandwhen": "misstep.harness.datasets.judged.whoandwhen",
    },
)
loader_for = LOADERS.load

OUTCOMES: Registry[OutcomeLoader] = Registry(
    "misstep.datasets.outcomes",
    {
        "debugbench": "misstep.harness.datasets.outcomes:DEBUGBENCH",
        "devin": "misstep.harness.datasets.outcomes:DEVIN",
        "humaneval_codegen16b_samples": "misstep.harness.datasets.outcomes:HUMANEVAL",
        "humanevalfix": "misstep.harness.datasets.outcomes:HUMANEVALFIX",
        "quixbugs": "misstep.harness.datasets.outcomes:QUIXBUGS",
        "swe_bench_pro": "misstep.harness.datasets.outcomes:SWE_BENCH_PRO",
        "swe_bench_resolved_submissions": "misstep.harness.datasets.outcomes:SUBMISSIONS",
        "taubench": "misstep.harness.datasets.taubench",
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
        "agent_as_a_judge": "misstep.harness.datasets.judged.agent_as_a_judge:recorded",
        "trail": "misstep.harness.datasets.judged.trail_judges:recorded",
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

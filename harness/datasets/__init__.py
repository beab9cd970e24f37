"""Public data sets: one module a set, upstream files → benchmark folders.

`LOADERS` is the registry, name → dotted path; an entry point in the group `misstep.datasets` adds to it. `OUTCOMES`
names those that say who solved which task, in counts. What every loader needs is beside them: `upstream` reads the
upstream files strictly, `benchmark` writes the folder, `catalogue` knows what each set is and where it comes from.
"""

from collections.abc import Iterator
from pathlib import Path

from harness.attempts import Attempts
from harness.protocols import Loader, OutcomeLoader
from harness.registry import Registry

LOADERS: Registry[Loader] = Registry(
    "misstep.datasets",
    {
        "agent_as_a_judge": "harness.datasets.agent_as_a_judge",
        "agent_trajs": "harness.datasets.agent_trajs",
        "agentless_classes": "harness.datasets.agentless_classes",
        "agentrx": "harness.datasets.agentrx",
        "codetracer_runs": "harness.datasets.codetracer_runs",
        "intercode": "harness.datasets.intercode",
        "judge_bench_raters": "harness.datasets.judge_bench_raters",
        "llm_agents_study": "harness.datasets.llm_agents_study",
        "mast": "harness.datasets.mast",
        "mini_swe_agent_runs": "harness.datasets.mini_swe_agent_runs",
        "paperbench_judge_eval": "harness.datasets.paperbench_judge_eval",
        "repairagent": "harness.datasets.repairagent",
        "taubench": "harness.datasets.taubench",
        "trail": "harness.datasets.trail",
        "utboost": "harness.datasets.utboost",
        "whoandwhen": "harness.datasets.whoandwhen",
    },
)
loader_for = LOADERS.load

OUTCOMES: Registry[OutcomeLoader] = Registry(
    "misstep.datasets.outcomes",
    {
        "debugbench": "harness.datasets.debugbench",
        "devin": "harness.datasets.devin",
        "humaneval_codegen16b_samples": "harness.datasets.humaneval_codegen16b_samples",
        "humanevalfix": "harness.datasets.humanevalfix",
        "quixbugs": "harness.datasets.quixbugs",
        "swe_bench_pro": "harness.datasets.swe_bench_pro",
        "swe_bench_resolved_submissions": "harness.datasets.swe_bench_resolved_submissions",
        "taubench": "harness.datasets.taubench",
    },
)
"""Sets that say which system solved which task, name → dotted path of the module with `outcomes`."""


def outcomes_of(name: str, folder: Path) -> Iterator[Attempts]:
    """What the set in `folder` says of who solved what."""
    return OUTCOMES.load(name).outcomes(folder)


__all__ = ["LOADERS", "OUTCOMES", "loader_for", "outcomes_of"]

"""Public data sets: one module a set, upstream files → benchmark folders.

`LOADERS` is the registry, name → dotted path; an entry point in the group `misstep.datasets` adds to it. `OUTCOMES`
names those that say who solved which task, in counts. What every loader needs is beside them: `upstream` reads the
upstream files strictly, `benchmark` writes the folder, `catalogue` knows what each set is and where it comes from.
"""

from collections.abc import Iterator
from pathlib import Path

from misstep.harness.attempts import Attempts
from misstep.harness.protocols import Loader, OutcomeLoader
from misstep.harness.registry import Registry

LOADERS: Registry[Loader] = Registry(
    "misstep.datasets",
    {
        "agent_as_a_judge": "misstep.harness.datasets.judged.agent_as_a_judge",
        "agent_trajs": "misstep.harness.datasets.agent_trajs",
        "agentless_classes": "misstep.harness.datasets.patches.agentless_classes",
        "agentrx": "misstep.harness.datasets.judged.agentrx",
        "codetracer_runs": "misstep.harness.datasets.codetracer_runs",
        "intercode": "misstep.harness.datasets.intercode",
        "judge_bench_raters": "misstep.harness.datasets.judged.judge_bench_raters",
        "llm_agents_study": "misstep.harness.datasets.judged.llm_agents_study",
        "mast": "misstep.harness.datasets.judged.mast",
        "mini_swe_agent_runs": "misstep.harness.datasets.mini_swe_agent_runs",
        "paperbench_judge_eval": "misstep.harness.datasets.judged.paperbench_judge_eval",
        "repairagent": "misstep.harness.datasets.patches.repairagent",
        "taubench": "misstep.harness.datasets.taubench",
        "trail": "misstep.harness.datasets.judged.trail",
        "utboost": "misstep.harness.datasets.patches.utboost",
        "whoandwhen": "misstep.harness.datasets.judged.whoandwhen",
    },
)
loader_for = LOADERS.load

OUTCOMES: Registry[OutcomeLoader] = Registry(
    "misstep.datasets.outcomes",
    {
        "debugbench": "misstep.harness.datasets.patches.debugbench",
        "devin": "misstep.harness.datasets.devin",
        "humaneval_codegen16b_samples": "misstep.harness.datasets.patches.humaneval_codegen16b_samples",
        "humanevalfix": "misstep.harness.datasets.patches.humanevalfix",
        "quixbugs": "misstep.harness.datasets.patches.quixbugs",
        "swe_bench_pro": "misstep.harness.datasets.patches.swe_bench_pro",
        "swe_bench_resolved_submissions": "misstep.harness.datasets.patches.swe_bench_resolved_submissions",
        "taubench": "misstep.harness.datasets.taubench",
    },
)
"""Sets that say which system solved which task, name → dotted path of the module with `outcomes`."""


def outcomes_of(name: str, folder: Path) -> Iterator[Attempts]:
    """Return what the set in `folder` says of who solved what."""
    return OUTCOMES.load(name).outcomes(folder)


__all__ = ["LOADERS", "OUTCOMES", "loader_for", "outcomes_of"]

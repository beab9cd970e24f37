"""Public data sets: one module a set, upstream files → benchmark folders.

`LOADERS` is the registry, name → dotted path; an entry point in the group `misstep.datasets` adds to it. What every
loader needs is beside them: `upstream` reads the upstream files strictly, `benchmark` writes the folder, `catalogue`
knows what each set is and where it comes from.
"""

from harness import registry
from harness.protocols import Loader

LOADERS: dict[str, str] = {
    "agent_as_a_judge": "harness.datasets.agent_as_a_judge",
    "agent_trajs": "harness.datasets.agent_trajs",
    "agentrx": "harness.datasets.agentrx",
    "codetracer_runs": "harness.datasets.codetracer_runs",
    "intercode": "harness.datasets.intercode",
    "judge_bench_raters": "harness.datasets.judge_bench_raters",
    "llm_agents_study": "harness.datasets.llm_agents_study",
    "mast": "harness.datasets.mast",
    "mini_swe_agent_runs": "harness.datasets.mini_swe_agent_runs",
    "repairagent": "harness.datasets.repairagent",
    "taubench": "harness.datasets.taubench",
    "trail": "harness.datasets.trail",
    "whoandwhen": "harness.datasets.whoandwhen",
}
GROUP = "misstep.datasets"


def loader_for(name: str) -> Loader:
    """The loader of a data set.

    Raises
    ------
    UsageError
        No such loader; the message lists the known ones.
    """
    loader: Loader = registry.resolve(name, LOADERS, GROUP)
    return loader


__all__ = ["GROUP", "LOADERS", "loader_for"]

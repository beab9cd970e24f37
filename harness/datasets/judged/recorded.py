"""Verdicts of real judges that public data sets ship, in the form in which any judge answers.

A module in `RECORDED` has `recorded(folder)`: judge → its verdicts on items of the set's main benchmark, made of the
upstream files in `folder`. An answer that cannot be read is a verdict without a label, with the reason as its error.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from misstep.harness.errors import UsageError
from misstep.harness.registry import Registry
from misstep.harness.verdict import Verdict

Recorded = Callable[[Path], Mapping[str, tuple[Verdict, ...]]]

RECORDED: Registry[Recorded] = Registry(
    "misstep.recorded",
    {
        "agent_as_a_judge": "misstep.harness.datasets.judged.agent_as_a_judge:recorded",
        "trail": "misstep.harness.datasets.judged.trail_judges:recorded",
    },
)


def recorded_verdicts(dataset: str, folder: Path) -> Mapping[str, tuple[Verdict, ...]]:
    """Return the verdicts of every judge that a data set ships: judge → verdicts, in the order of the items."""
    if dataset not in RECORDED.names():
        known = ", ".join(sorted(RECORDED.names()))
        raise UsageError(f"the data set {dataset} has no recorded judges", f"Sets that do: {known}.")
    return RECORDED.load(dataset)(folder)

"""The kinds of runs: what reports, frames, exports and notebooks make of the runs of each command.

`KINDS` is the registry, command → its kind; an entry point in the group `misstep.runs` adds one.
"""

from pathlib import Path
from typing import Any

from misstep_analysis.runs.kinds.kind import RunResults
from misstep_harness.errors import UsageError
from misstep_harness.journal.opened import OpenRun, manifest_of
from misstep_harness.journal.records import Manifest
from misstep_harness.registry import Registry

KINDS: Registry[type[RunResults[Any]]] = Registry(
    "misstep.runs",
    {
        "classify": "misstep_analysis.sessions.kind:ClassifiedRuns",
        "judge run": "misstep_analysis.judging.kind:JudgedRuns",
        "triage --curate": "misstep_analysis.triage.curated_kind:CuratedRuns",
        "observe": "misstep_analysis.observer.kind:ObservedRuns",
        "repair run": "misstep_analysis.repair.kind:RepairRuns",
        "reflect run": "misstep_analysis.reflexive.kind:ReflexiveRuns",
        "experiment run": "misstep_analysis.observer.experiments.kind:ExperimentRuns",
    },
)


def kind_of(manifest: Manifest, folder: Path | str) -> RunResults[Any]:
    """Return the kind of a run; a run of a command that no kind knows is a `UsageError`."""
    if manifest.command not in KINDS.names():
        known = ", ".join(f"`{name}`" for name in KINDS.names())
        raise UsageError(f"{folder} is a run of `misstep {manifest.command}`", f"Name a run of one of {known}.")
    return KINDS.load(manifest.command)()


def kind_in(folder: Path, advice: str = "Name the folder of a run.") -> tuple[RunResults[Any], OpenRun]:
    """Open the run in a folder, as far as runs of all kinds are opened alike, and return it with its kind."""
    run = OpenRun(folder, manifest_of(folder, advice))
    return kind_of(run.manifest, folder), run

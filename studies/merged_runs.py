"""A run in shards as one run: each kind of run has a function that merges it and says what was found."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple

from misstep.analysis.stats.estimate import Estimate
from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.records import REPORT
from misstep.harness.lake.store import Store, open_store
from misstep.harness.runs.shards.layout import PLAN
from misstep.harness.runs.shards.plan import read_plan
from misstep.studies.judged_runs import JUDGED


class Merged(NamedTuple):
    """What the command says of a merged run.

    `figures` are what a limit can be set on. `complaints` are sentences on what went wrong in it; with `complete` false
    the command ends with 1, as the same command without shards does.
    """

    text: str
    document: str
    figures: Mapping[str, Estimate]
    complaints: list[str]
    complete: bool


Merge = Callable[..., Merged]
"""Where the run lies, its plan and the SHA-256 of that → what the merged run says.

A run of a judge also takes the folder or name of its benchmark, where that has moved.
"""

MERGES: dict[str, str] = {
    "classify": "misstep.studies.classified_paths:merge_classified",
    JUDGED: "misstep.studies.merged_items:merge_judge_run",
    "repair run": "misstep.studies.merged_items:merge_repair_run",
}
"""The command of a run → the function that merges its shards."""


def merge_run(place: str, benchmark: str = "") -> Merged:
    """Merge the shards of a run where they lie, and say what was found; a run that is merged already stays as it is."""
    store = open_store(place)
    found = read_plan(store)
    if found is None:
        raise InputError(f"there is no {PLAN}", "Name the --out of commands with --shard.", file=place)
    plan, digest = found
    command = plan.manifest.command
    if command not in MERGES:
        raise UsageError(f"{place} holds shards of `misstep {command}`", f"Known: {', '.join(sorted(MERGES))}.")
    if benchmark and command != JUDGED:
        raise UsageError(f"a run of `misstep {command}` has no benchmark", "Leave out --benchmark.")
    module, _, name = MERGES[command].partition(":")
    merge: Merge = getattr(import_module(module), name)
    return merge(store, plan, digest, *([benchmark] if benchmark else []))


def page_of(store: Store) -> str:
    """The page of a run, as people open it."""
    return f"{store.place}/{REPORT}" if store.folder is None else str(store.folder / REPORT)

"""A run in shards as one run, whatever its kind."""

from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.records import REPORT
from misstep.harness.lake.store import Store, open_store
from misstep.harness.runs.shards.layout import PLAN
from misstep.harness.runs.shards.plan import read_plan
from misstep.studies.kinds import kind_of, kinds_with
from misstep.studies.kinds.kind import Merged


def merge_run(place: str, benchmark: str = "") -> Merged:
    """Merge the shards of a run where they lie, and say what it shows; a run that is merged already stays as it is.

    `benchmark` is the folder or name of a judge's benchmark, if that has moved.
    """
    store = open_store(place)
    planned = read_plan(store)
    if planned is None:
        raise InputError(f"there is no {PLAN}", "Name the --out of commands with --shard.", file=place)
    plan, digest = planned
    kind = kind_of(plan.manifest, place)
    if not kind.has("merge"):
        raise UsageError(
            f"{place} holds shards of `misstep {kind.command}`", f"Known: {', '.join(kinds_with('merge'))}."
        )
    if benchmark and not kind.of_benchmark:
        raise UsageError(f"a run of `misstep {kind.command}` has no benchmark", "Leave out --benchmark.")
    return kind.merge(store, plan, digest, benchmark)


def page_of(store: Store) -> str:
    """Return the page of a run, as people open it."""
    return f"{store.place}/{REPORT}" if store.folder is None else str(store.folder / REPORT)

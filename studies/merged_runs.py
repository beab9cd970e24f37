"""A run in shards as one run, whatever its kind."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from misstep.harness.errors import InputError, UsageError
from misstep.harness.runs.classify import ClassifyPlan
from misstep.harness.runs.shards.classify import plan_of_classify
from misstep.harness.runs.shards.cluster import open_cluster
from misstep.harness.runs.shards.layout import PLAN, shards_of
from misstep.harness.runs.shards.plan import read_plan
from misstep.harness.runs.shards.store import FolderStore
from misstep.studies.classified_paths import classified_shard
from misstep.studies.kinds import kind_of, kinds_with
from misstep.studies.kinds.kind import Merged


def merge_run(place: str, benchmark: str = "") -> Merged:
    """Merge the shards of a run where they lie, and say what it shows; `benchmark` is a judge's, if it has moved."""
    store = FolderStore(Path(place))
    planned = read_plan(store)
    if planned is None:
        raise InputError(f"{PLAN} is missing", "Name the --out of commands with --shard.", file=place)
    plan, digest = planned
    kind = kind_of(plan.manifest, place)
    if not kind.has("merge"):
        message = f"{place} holds shards of `misstep {kind.command}`"
        raise UsageError(message, f"Known: {', '.join(kinds_with('merge'))}.")
    if benchmark and not kind.of_benchmark:
        raise UsageError(f"a run of `misstep {kind.command}` has no benchmark", "Leave out --benchmark.")
    return kind.merge(store, plan, digest, benchmark)


def classified_on_cluster(
    address_and_shards: tuple[str, int | None],
    paths: Sequence[str],
    plan: ClassifyPlan,
    out: str,
) -> Merged:
    """Do the shards of a run on the workers of a Dask cluster, those that are done left alone, and merge them."""
    address, shards = address_and_shards
    store = FolderStore(Path(out))
    with open_cluster(address) as cluster:
        count = cluster.shards_for(store, shards)
        plan_of_classify(store, count, paths, plan)
        cluster.require_paths([*paths, f"{store.place}/{PLAN}"])
        run = partial(classified_shard, paths=paths, classify_plan=replace(plan, workers=1), out=out)
        for _ in cluster.do(list(shards_of(count)), run):
            pass
    return merge_run(out)

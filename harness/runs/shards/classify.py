"""One shard of a run of `classify`: the sessions in its part of the files, judged and written as parts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from msgspec import Struct, structs

from misstep.harness.journal.classified import Show
from misstep.harness.journal.inputs import file_state
from misstep.harness.journal.workers import enough_workers
from misstep.harness.readers import FoundFile, Part, cut
from misstep.harness.runs.classify import ClassifyPlan, judged_batches
from misstep.harness.runs.file_batches import BATCH_BYTES, Batch, batches
from misstep.harness.runs.inputs import EVER, no_trajectory, parts_of
from misstep.harness.runs.shards.layout import Shard
from misstep.harness.runs.shards.parts import (
    PART_BYTES,
    Marker,
    PartCounts,
    is_whole,
    read_marker,
    write_marker,
    write_parts,
)
from misstep.harness.runs.shards.plan import Plan, Slice, frozen_plan, slices_of
from misstep.harness.runs.shards.planned_files import fetched, planned, require_unchanged
from misstep.harness.runs.shards.store import FolderStore


class ShardDone(Struct, frozen=True):
    """A shard that is done: its inputs, and whether it was done before."""

    shard: Shard
    counts: PartCounts
    before: bool


def classify_shard(
    shard: Shard, paths: Sequence[str], classify_plan: ClassifyPlan, out: str, *, show: Show | None = None
) -> ShardDone:
    """Do one shard of a run to its end, unless it is done; arguments and result can be handed to another process.

    A shard that was stopped or is damaged is done again from its beginning. Two processes may do the same one at once.
    """
    store = FolderStore(Path(out))
    plan, digest = plan_of_classify(store, shard.count, paths, classify_plan)
    if (done := read_marker(store, shard, digest)) is not None and is_whole(store, shard, done):
        return ShardDone(shard, done.counts, before=True)
    slices = slices_of(plan, shard)
    files = [one.file for one in slices]
    there = fetched(files)
    # A file that is cut is noted by the shard in which it begins.
    states = [file_state(there[one.file.file].path) for one in slices if one.start == 0]
    judge_batch = classify_plan.judge(keep_lines=True, show=show)
    size = sum(one.stop - one.start for one in slices)
    judged = judged_batches(judge_batch, _batches(slices, there), classify_plan.workers or enough_workers(size))
    parts, counts = write_parts(store, shard, judged, PART_BYTES)
    require_unchanged(files, there)
    write_marker(store, shard, Marker(digest, tuple(parts), tuple(states), counts))
    return ShardDone(shard, counts, before=False)


def plan_of_classify(
    store: FolderStore, shards: int, paths: Sequence[str], classify_plan: ClassifyPlan
) -> tuple[Plan, str]:
    """Return the plan of a run in so many shards, made unless it is there, and its SHA-256."""

    def with_files(plan: Plan) -> Plan:
        files = planned(paths, store.folder, classify_plan.changed)
        if classify_plan.changed != EVER and not files:
            raise no_trajectory(paths, 0, classify_plan.changed)
        return structs.replace(plan, files=files)

    return frozen_plan(store, Plan(shards, classify_plan.manifest(), tuple(paths)), with_files)


def _batches(slices: Iterable[Slice], files: Mapping[str, FoundFile]) -> Iterator[Batch]:
    for whole, neighbours in groupby(slices, attrgetter("whole")):
        if whole:
            yield from batches(files[one.file.file] for one in neighbours)
        else:
            for one in neighbours:
                parts = (part for part in parts_of(files[one.file.file]) if isinstance(part, Part))
                yield from ((piece,) for part in parts for piece in cut(part, BATCH_BYTES, one.start, one.stop))

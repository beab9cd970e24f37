"""Freeze the plan of a run in shards, its settings and its files, by the shard that comes first.

What a shard reads depends on the plan alone: a contiguous part of the files, cut at about equal bytes. A long file
of JSON Lines may be cut in the middle, at a line.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.inputs import difference, differing_settings
from misstep.harness.journal.records import MANIFEST, Manifest, encode
from misstep.harness.runs.file_batches import BATCH_BYTES
from misstep.harness.runs.shards.layout import PLAN, Shard, refuse_unmerged
from misstep.harness.runs.shards.planned_files import PlannedFile
from misstep.harness.runs.shards.store import FolderStore

_PIECES = 8
"""About how many pieces a shard has at least, so that shards come out about even."""

_LEAST_BYTES = 64 << 10
"""Smaller pieces cost more to find than they even out."""


class Plan(Struct, frozen=True, omit_defaults=True):
    """The plan that all shards of a run share; a run over the items of a benchmark has no paths and no files."""

    shards: int
    manifest: Manifest
    paths: tuple[str, ...] = ()
    files: tuple[PlannedFile, ...] = ()


class Slice(Struct, frozen=True):
    """A part of a file, in unpacked bytes; the lines or row groups that begin in it belong to it."""

    file: PlannedFile
    start: int
    stop: int

    @property
    def whole(self) -> bool:
        """Return whether it is all of the file."""
        return self.start == 0 and self.stop == self.file.weight


def read_plan(store: FolderStore) -> tuple[Plan, str] | None:
    """Return the plan of a run and its SHA-256; `None` if there is none."""
    content = store.read(PLAN)
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=Plan), sha256(content).hexdigest()
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"not the plan of a run in shards: {error}"
        raise InputError(message, "Begin anew with another --out.", file=f"{store.place}/{PLAN}") from error


def frozen_plan(
    store: FolderStore, wanted: Plan, with_files: Callable[[Plan], Plan] = lambda wanted: wanted
) -> tuple[Plan, str]:
    """Return the plan of a run, made if this shard is the first, and its SHA-256."""
    there = read_plan(store)
    if there is None:
        if store.read(MANIFEST) is not None:
            raise UsageError(f"{store.place} holds a run that was not made in shards", "Name another place with --out.")
        store.create(PLAN, encode(with_files(wanted)))
        there = read_plan(store)
        if there is None:
            raise InputError("the plan was removed", "Run the command again.", file=f"{store.place}/{PLAN}")
    if differs := _differences(there[0], wanted):
        raise UsageError(f"{store.place} holds another run: {'; '.join(differs)}", "Name another place with --out.")
    return there


def _differences(plan: Plan, wanted: Plan) -> list[str]:
    then, now = plan.manifest, wanted.manifest
    differs = differing_settings(then, now)
    if then.command != now.command:
        return differs
    if plan.shards != wanted.shards:
        differs.append(f"it was cut into {plan.shards:,} shards and is now cut into {wanted.shards:,}")
    if plan.paths != wanted.paths:
        differs.append(f"it was of {' '.join(plan.paths)} and is now of {' '.join(wanted.paths)}")
    if inputs := difference(then.inputs, now.inputs):
        differs.append(f"its inputs are not as they were: {inputs}")
    if then.misstep != now.misstep:
        differs.append(f"it was begun by Misstep {then.misstep} and this is {now.misstep}")
    return differs


def slices_of(plan: Plan, shard: Shard) -> list[Slice]:
    """The files of a shard, in order: a contiguous part of all files, of about the same bytes as every other's."""
    total = sum(file.weight for file in plan.files)
    piece = min(BATCH_BYTES, max(_LEAST_BYTES, total // (_PIECES * shard.count)))
    place = 0
    own: list[Slice] = []
    for file in plan.files:
        for start, stop in _pieces(file, piece):
            # The piece goes to the shard in whose share its middle lies.
            owner = shard.count * (2 * place + start + stop) // (2 * total)
            if owner == shard.number - 1:
                joined = own.pop().start if own and own[-1].file is file else start
                own.append(Slice(file, joined, stop))
        place += file.weight
    return own


def _pieces(file: PlannedFile, size: int) -> Iterator[tuple[int, int]]:
    if len(file.lengths) == 1:
        return ((start, min(start + size, file.weight)) for start in range(0, file.weight, size))
    borders = accumulate(file.lengths if any(file.lengths) else (file.weight,), initial=0)
    return ((start, stop) for start, stop in pairwise(borders) if start < stop)


SETTING = "shard"
T = TypeVar("T")


def dealt(things: Iterable[T], shard: Shard | None) -> Iterator[T]:
    """Return the things of a shard, where all are dealt out in turn; all of them without a shard."""
    return iter(things) if shard is None else islice(things, shard.number - 1, None, shard.count)


def folder_of(run: Path, shard: Shard | None) -> Path:
    """Return the folder of a shard's run; that of the whole run without a shard."""
    return run if shard is None else run / shard.folder


def checked_manifest(run: Path, shard: Shard | None, manifest: Manifest) -> Manifest:
    """Return the manifest of a shard's run, which belongs to the others in the folder; that of the whole as it is."""
    if shard is None:
        refuse_unmerged(run)
        return manifest
    frozen_plan(FolderStore(run), Plan(shard.count, of_whole(manifest)))
    return replace(manifest, settings=manifest.settings | {SETTING: str(shard)})


def differences(earlier: Manifest, now: Manifest) -> str:
    """Return the differences between two shards, or a shard and the whole, in words; empty if they are of one run."""
    differs = differing_settings(of_whole(earlier), of_whole(now))
    if inputs := difference(earlier.inputs, now.inputs):
        differs.append(f"the inputs are not as they were: {inputs}")
    if not differs and earlier.misstep != now.misstep:
        differs.append(f"it was begun by Misstep {earlier.misstep} and this is {now.misstep}")
    return "; ".join(differs)


def of_whole(manifest: Manifest) -> Manifest:
    """Return the manifest of the run that a shard is part of."""
    settings = {name: value for name, value in manifest.settings.items() if name != SETTING}
    return replace(manifest, settings=settings, arguments=without_options(manifest.arguments, "--shard"))


def without_options(arguments: Iterable[str], *names: str) -> list[str]:
    """Return the arguments of a command line without options of these names and their values."""
    arguments_left: list[str] = []
    left = iter(arguments)
    for argument in left:
        if argument in names:
            next(left, None)
        elif argument.partition("=")[0] not in names:
            arguments_left.append(argument)
    return arguments_left

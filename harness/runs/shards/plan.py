"""The plan of a run in shards: what is asked and what there is to read, frozen by the shard that comes first.

Every other shard reads the plan and lists nothing by itself. What a shard reads depends on the plan alone: a contiguous
stretch of the files, cut at about equal bytes. A long file of JSON Lines may be cut in the middle, at a line.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from harness.errors import InputError, UsageError
from harness.journal.changes import differing_settings
from harness.journal.inputs import difference, size_and_change
from harness.journal.records import MANIFEST, Manifest, encode
from harness.lake.store import Store
from harness.readers import Found, Part, length_to_cut, reader_for
from harness.runs.file_batches import BATCH_BYTES
from harness.runs.inputs import parts_of
from harness.runs.shards.layout import PLAN, Shard


class PlannedFile(Struct, frozen=True, omit_defaults=True, gc=False):
    """A file as it was when the plan was made.

    `version` tells it from what it becomes when it changes: the time of its last change in ns. `named` says that the
    command line names it, and not only its folder. `unpacked` is the length of a file that can be cut between any two
    of its lines or row groups, and 0 of others. `undecodable` has the bytes of a name that is no UTF-8.
    """

    file: str
    size: int
    version: str
    named: bool = False
    unpacked: int = 0
    undecodable: bytes = b""

    @property
    def weight(self) -> int:
        """About how much work it is, in bytes; a file of none is work as well."""
        return max(self.unpacked, self.size, 1)

    @property
    def found(self) -> Found:
        """The file, for a reader."""
        return Found(Path(os.fsdecode(self.undecodable or self.file)), self.named)


class Plan(Struct, frozen=True, omit_defaults=True):
    """What all shards of a run have to agree on: how many there are, what is asked, what there is to read.

    `paths` are the files and folders that the command line names; a run over the items of a benchmark has none.
    """

    shards: int
    manifest: Manifest
    paths: tuple[str, ...] = ()
    files: tuple[PlannedFile, ...] = ()


class Slice(Struct, frozen=True):
    """A stretch of a file, in bytes as they are unpacked; the lines or row groups that begin in it belong to it."""

    file: PlannedFile
    start: int
    stop: int

    @property
    def whole(self) -> bool:
        """Whether it is all of the file."""
        return self.start == 0 and self.stop == self.file.weight


def read_plan(store: Store) -> tuple[Plan, str] | None:
    """The plan of a run and its SHA-256; `None` where there is none.

    Raises
    ------
    InputError
        It cannot be read.
    """
    content = store.read(PLAN)
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=Plan), sha256(content).hexdigest()
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"not the plan of a run in shards: {error}", "Begin anew with another --out.", file=f"{store.place}/{PLAN}"
        ) from error


def frozen_plan(store: Store, asked: Plan, files: Callable[[], Iterable[PlannedFile]] = tuple) -> tuple[Plan, str]:
    """The plan of a run, made if this shard is the first, and its SHA-256.

    Parameters
    ----------
    store
        Where the run lies.
    asked
        The plan without its files.
    files
        Lists what there is to read; called where there is no plan yet.

    Raises
    ------
    UsageError
        The plan is of something else, or the run was not begun in shards; names the difference.
    InputError
        The plan cannot be read, or a file cannot be listed.
    """
    there = read_plan(store)
    if there is None:
        if store.read(MANIFEST) is not None:
            raise UsageError(f"{store.place} holds a run that was not made in shards", "Name another place with --out.")
        store.create(PLAN, encode(structs.replace(asked, files=tuple(files()))))
        there = read_plan(store)
        if there is None:
            raise InputError("the plan was removed", "Run the command again.", file=f"{store.place}/{PLAN}")
    if differs := _differences(there[0], asked):
        raise UsageError(f"{store.place} holds another run: {'; '.join(differs)}", "Name another place with --out.")
    return there


def _differences(plan: Plan, asked: Plan) -> list[str]:
    then, now = plan.manifest, asked.manifest
    differs = differing_settings(then, now)
    if then.command != now.command:
        return differs
    if plan.shards != asked.shards:
        differs.append(f"it was cut into {plan.shards:,} shards and is now cut into {asked.shards:,}")
    if plan.paths != asked.paths:
        differs.append(f"it was of {' '.join(plan.paths)} and is now of {' '.join(asked.paths)}")
    if inputs := difference(then.inputs, now.inputs):
        differs.append(f"its inputs are not as they were: {inputs}")
    if then.misstep != now.misstep:
        differs.append(f"it was begun by Misstep {then.misstep} and this is {now.misstep}")
    return differs


def planned_files(files: Iterable[Found]) -> Iterator[PlannedFile]:
    """The files as they are now, looked at and not read.

    Raises
    ------
    InputError
        One cannot be opened.
    """
    for found in files:
        size, version = state_of(found.path)
        name = os.fsencode(found.path)
        text = name.decode(errors="replace")
        undecodable = b"" if text.encode() == name else name
        unpacked = _length_to_cut(found) if size > BATCH_BYTES else 0
        yield PlannedFile(text, size, version, found.named, unpacked, undecodable)


def _length_to_cut(found: Found) -> int:
    part = next(parts_of(found), None)
    return length_to_cut(part, reader_for(part.format)) if isinstance(part, Part) else 0


def state_of(path: Path) -> tuple[int, str]:
    """Length and version of a file; a file that cannot be looked at counts as an empty one, as `file_state` has it."""
    try:
        size, modified = size_and_change(path)
    except OSError:
        return 0, "0"
    return size, str(modified)


def slices_of(plan: Plan, shard: Shard) -> list[Slice]:
    """What a shard reads, in order: a contiguous stretch of all files, of about the same bytes as every other's."""
    total = sum(file.weight for file in plan.files)
    place = 0
    own: list[Slice] = []
    for file in plan.files:
        for start, stop in _pieces(file):
            # The piece goes to the shard in whose share its middle lies.
            owner = shard.count * (2 * place + start + stop) // (2 * total)
            if owner == shard.number - 1:
                joined = own.pop().start if own and own[-1].file is file else start
                own.append(Slice(file, joined, stop))
        place += file.weight
    return own


def _pieces(file: PlannedFile) -> Iterator[tuple[int, int]]:
    step = BATCH_BYTES if file.unpacked else file.weight
    return ((start, min(start + step, file.weight)) for start in range(0, file.weight, step))

"""The files of a shard of `classify`: parts of some megabytes, each named by its content, and its marker last."""

from collections.abc import Iterable, Iterator
from hashlib import sha256

import msgspec
from msgspec import Struct, structs

from misstep.harness.errors import InputError
from misstep.harness.journal.classified import Judged
from misstep.harness.journal.inputs import FileState
from misstep.harness.journal.records import encode
from misstep.harness.runs.shards.layout import Shard
from misstep.harness.runs.shards.store import FolderStore

PART_BYTES = 16 << 20
"""About how many bytes a part has: what a shard and a merge hold at once."""

_ENDING = ".part"

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Judged]).decode


class WrittenPart(Struct, frozen=True):
    """A part of a shard: the SHA-256 of its content, which its name begins with, and its bytes."""

    sha256: str
    bytes: int

    def name(self, shard: Shard) -> str:
        """Its path; two writers of the same shard do not overwrite each other's parts unless they are equal."""
        return f"{shard.folder}/{self.sha256[:32]}{_ENDING}"


class PartCounts(Struct, frozen=True):
    """How much a shard has read: sessions (with those of sub-agents), unreadable ones, skipped files."""

    sessions: int = 0
    unreadable: int = 0
    skipped: int = 0

    def with_(self, judged: Judged) -> "PartCounts":
        """Return one more batch."""
        more = len(judged.items), len(judged.unreadable), len(judged.skipped)
        return PartCounts(*map(sum, zip(structs.astuple(self), more, strict=True)))


class Marker(Struct, frozen=True):
    """The marker of a shard that is done: the plan that it followed, its parts in order, the files that begin in it."""

    plan: str
    parts: tuple[WrittenPart, ...]
    files: tuple[FileState, ...]
    counts: PartCounts


def write_parts(
    store: FolderStore, shard: Shard, judged: Iterable[Judged], part_bytes: int
) -> tuple[list[WrittenPart], PartCounts]:
    """Write batches as parts, in order, as they come."""
    parts: list[WrittenPart] = []
    counts = PartCounts()
    waiting: list[Judged] = []
    size = 0
    for one in judged:
        waiting.append(one)
        counts = counts.with_(one)
        size += len(one.lines) + len(one.sessions)
        if size >= part_bytes:
            parts.append(_write_part(store, shard, waiting))
            waiting, size = [], 0
    if waiting:
        parts.append(_write_part(store, shard, waiting))
    return parts, counts


def _write_part(store: FolderStore, shard: Shard, judged: list[Judged]) -> WrittenPart:
    content = _encode(judged)
    part = WrittenPart(sha256(content).hexdigest(), len(content))
    store.write(part.name(shard), content)
    return part


def read_parts(store: FolderStore, shard: Shard, marker: Marker, command: str) -> Iterator[Judged]:
    """Return the batches of a finished shard in order, a part at a time; `command` is the line without `--shard`."""
    for part in marker.parts:
        file = f"{store.place}/{part.name(shard)}"
        content = store.read(part.name(shard))
        if content is None or not _is_as_written(part, content):
            message = "a part is missing" if content is None else "a part is not as it was written"
            raise InputError(f"shard {shard}: {message}", f"Run: {command} --shard {shard}", file=file)
        try:
            judged = _decode(content)
        except msgspec.DecodeError as error:
            message = f"not what this Misstep writes: {error}"
            raise InputError(message, "Begin anew with another --out.", file=file) from error
        yield from judged


def _is_as_written(part: WrittenPart, content: bytes | None) -> bool:
    return content is not None and sha256(content).hexdigest() == part.sha256


def is_whole(store: FolderStore, shard: Shard, marker: Marker) -> bool:
    """Return whether all parts of a shard are as they were written."""
    return all(_is_as_written(part, store.read(part.name(shard))) for part in marker.parts)


def write_marker(store: FolderStore, shard: Shard, marker: Marker) -> None:
    """Say that a shard is done: all else is written."""
    store.write(shard.marker, encode(marker))


def read_marker(store: FolderStore, shard: Shard, plan: str) -> Marker | None:
    """Return the marker of a shard that is done after this plan; `None` while it is not, or where it cannot be read."""
    content = store.read(shard.marker)
    if content is None:
        return None
    try:
        marker = msgspec.json.decode(content, type=Marker)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return marker if marker.plan == plan else None

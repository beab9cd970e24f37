"""What a packed folder says of itself, in `.misstep.json`: what was packed, how far it is, and whether it is whole.

Until it is whole, its files have hidden names (`.part-00000.parquet`), which no reader of a folder looks at.
"""

from typing import Literal

import msgspec
from msgspec import Struct

from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.inputs import difference
from misstep.harness.journal.records import Inputs
from misstep.harness.lake.packing import PackedPart
from misstep.harness.lake.store import Store
from misstep.harness.trajectory import Unreadable

MANIFEST = ".misstep.json"
_PACKED = ".parquet"


class AskedColumns(Struct, frozen=True):
    """What changes the bytes of a packed folder: inputs, columns, and the version of Misstep that began it."""

    inputs: Inputs
    messages: bool
    misstep: str


class Tally(Struct, frozen=True):
    """How far the inputs are packed, and what was counted until there.

    - `batches`, `chunks`: The batches of the inputs that are packed whole, and the chunks of the next one.
    - `text_bytes`: The length of their ATIF documents.
    - `renamed`: How many of them had an id that was taken.
    - `unreadable`: What could not be read.
    - `skipped`: The number of files that are not sessions.
    """

    batches: int = 0
    chunks: int = 0
    sessions: int = 0
    text_bytes: int = 0
    renamed: int = 0
    unreadable: tuple[Unreadable, ...] = ()
    skipped: int = 0


class PackManifest(Struct, frozen=True):
    """The state of a packed folder.

    - `tally`: How far it is.
    - `parts`: The files that are whole.
    - `fit`: How many times the estimate the last row group took.
    - `state`: Whether it is being packed, its whole files are given their names, or it is finished.
    """

    asked: AskedColumns
    tally: Tally = Tally()
    parts: tuple[PackedPart, ...] = ()
    fit: float = 1.0
    state: Literal["packing", "naming", "finished"] = "packing"
    schema: int = 1

    @property
    def bytes(self) -> int:
        """Return the length of all files."""
        return sum(part.bytes for part in self.parts)

    @property
    def row_groups(self) -> int:
        """Return the number of row groups in all files."""
        return sum(part.row_groups for part in self.parts)

    @property
    def ratio(self) -> float:
        """Return how many times longer the ATIF documents are than the files; 0 without files."""
        return self.tally.text_bytes / self.bytes if self.parts else 0.0


def write_manifest(store: Store, manifest: PackManifest) -> None:
    """Write it, in place of any that is there."""
    store.write(MANIFEST, msgspec.json.encode(manifest) + b"\n")


def standing(store: Store, columns: AskedColumns) -> PackManifest:
    """Return the state of the folder: that of an earlier command, or a new one."""
    content, place = store.read(MANIFEST), f"{store.place}/{MANIFEST}"
    if content is None:
        others = [name for name in store.names("") if name.endswith(_PACKED) and not name.startswith(".")]
        if others:
            raise UsageError(f"{store.place} holds {others[0]}, which `misstep pack` has not written", _ANOTHER)
        return PackManifest(columns)
    try:
        earlier = msgspec.json.decode(content, type=PackManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not the state of a packed folder: {error}", _ANOTHER, file=place) from error
    changed = difference(earlier.asked.inputs, columns.inputs)
    if changed:
        raise UsageError(f"{store.place} holds other sessions: {changed}", _ANOTHER)
    if earlier.asked.messages != columns.messages:
        has = "has" if earlier.asked.messages else "does not have"
        raise UsageError(f"{store.place} holds these sessions and {has} the column of messages", _ANOTHER)
    if earlier.state == "packing" and earlier.asked.misstep != columns.misstep:
        begun = f"{store.place} was begun by Misstep {earlier.asked.misstep} and this is {columns.misstep}"
        raise UsageError(begun, _ANOTHER)
    return earlier


_ANOTHER = "Name another folder with --out, or remove this one to pack anew."

"""List the files of a plan by its first shard; check them by the shard that reads them."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from misstep.harness.copies import is_address
from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.inputs import size_and_change
from misstep.harness.readers import FoundFile, Part, lengths_to_cut, reader_for
from misstep.harness.runs.file_batches import check_named, files_changed, found_files
from misstep.harness.runs.inputs import Changed, parts_of

LEAST_TO_CUT = 256 << 10
"""Bytes: a shorter file is read by one shard, as it takes a look into a file to know whether it can be cut."""


class PlannedFile(Struct, frozen=True, omit_defaults=True, gc=False):
    """A file as it was when the plan was made.

    `version` tells it from what it becomes when it changes: the time of its last change in ns. `named` says that the
    command line names it, and not only its folder. `lengths` has those of the row groups between which a file can be
    cut, unpacked, or the one length of a file that can be cut between any two lines. `undecodable` has the bytes of a
    name that is not UTF-8.
    """

    file: str
    size: int
    version: str
    named: bool = False
    lengths: tuple[int, ...] = ()
    undecodable: bytes = b""

    @property
    def weight(self) -> int:
        """About how much work it is, in bytes; a file of none is work as well."""
        return sum(self.lengths) or max(self.size, 1)


def planned(paths: Sequence[str], left_out: Path | None, changed: Changed) -> tuple[PlannedFile, ...]:
    """Return the files in all paths; files are looked at and not read."""
    for address in filter(is_address, paths):
        raise UsageError(f"shards read no address: {address}", "Copy it to a folder that all machines see.")
    named = [Path(path) for path in paths]
    check_named(named)
    files: dict[str, PlannedFile] = {}
    for one in map(_of_local, files_changed(found_files(named, left_out), changed)):
        files.setdefault(one.file, one)
    return tuple(files.values())


def _of_local(file: FoundFile) -> PlannedFile:
    size, version = _state_of(file.path)
    name = os.fsencode(file.path)
    text = name.decode(errors="replace")
    part = next(parts_of(file), None) if size > LEAST_TO_CUT else None
    lengths = lengths_to_cut(part, reader_for(part.format)) if isinstance(part, Part) else ()
    return PlannedFile(text, size, version, file.named, lengths, b"" if text.encode() == name else name)


def _state_of(path: Path) -> tuple[int, str]:
    """Length and version of a file; a file that cannot be looked at counts as an empty one, as `file_state` has it."""
    try:
        size, modified = size_and_change(path)
    except OSError:
        return 0, "0"
    return size, str(modified)


def fetched(files: Sequence[PlannedFile]) -> dict[str, FoundFile]:
    """Return the files by name, to read; they have to be as they were when the plan was made."""
    local = {one.file: FoundFile(Path(os.fsdecode(one.undecodable or one.file)), one.named) for one in files}
    require_unchanged(files, local)
    return local


def require_unchanged(files: Iterable[PlannedFile], local: Mapping[str, FoundFile]) -> None:
    """Refuse files of this machine that are not as they were when the plan was made, by name."""
    for one in files:
        if _state_of(local[one.file].path) != (one.size, one.version):
            raise _changed(one.file)


def _changed(file: str) -> InputError:
    message = "the file has changed since the first shard was begun"
    return InputError(message, "Restore it with its time, or begin anew with another --out.", file=file)

"""List the files of a plan by its first shard; fetch and check them by the shard that reads them.

The files at an address come in the order in which the folder of their copies would be walked, so that a run in shards
has the order of a run without.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from misstep.harness.copies import is_address
from misstep.harness.errors import InputError
from misstep.harness.journal.inputs import size_and_change
from misstep.harness.lake.addresses import StoredFile, copies_of, pinned_files, stored_files
from misstep.harness.lake.hub import is_of_hub
from misstep.harness.places import name_of_last_changes
from misstep.harness.readers import FoundFile, Part, lengths_to_cut, reader_for
from misstep.harness.readers.input.finding import is_left_out
from misstep.harness.runs.file_batches import check_named, files_changed, found_files
from misstep.harness.runs.inputs import EVER, Changed, parts_of

LEAST_TO_CUT = 256 << 10
"""Bytes: a shorter file is read by one shard, as it takes a look into a file to know whether it can be cut."""


class PlannedFile(Struct, frozen=True, omit_defaults=True, gc=False):
    """A file as it was when the plan was made.

    `version` tells it from what it becomes when it changes: the time of its last change in ns. `named` says that the
    command line names it, and not only its folder. `lengths` has those of the row groups between which a file can be
    cut, unpacked, or the one length of a file that can be cut between any two lines. `undecodable` has the bytes of a
    name that is not UTF-8. `stored` is a file at an address, and `beside` there what was written last to a database.
    """

    file: str
    size: int
    version: str
    named: bool = False
    lengths: tuple[int, ...] = ()
    undecodable: bytes = b""
    stored: StoredFile | None = None
    beside: StoredFile | None = None

    @property
    def weight(self) -> int:
        """About how much work it is, in bytes; a file of none is work as well."""
        return sum(self.lengths) or max(self.size, 1)


def planned(
    paths: Sequence[str], left_out: Path | None, changed: Changed
) -> tuple[Mapping[str, str], tuple[PlannedFile, ...]]:
    """The addresses among paths, each as it is pinned, and the files in all paths; files are looked at and not read."""
    there = {path: pinned_files(path) for path in paths if is_address(path)}
    check_named(Path(path) for path in paths if path not in there)
    files: dict[str, PlannedFile] = {}
    for at_addresses, neighbours in groupby(paths, there.__contains__):
        if at_addresses:
            to_read = [one for path in neighbours for one in _of_stored(*there[path], changed)]
        else:
            local = found_files([Path(path) for path in neighbours], left_out)
            to_read = [_of_local(one) for one in files_changed(local, changed)]
        for one in to_read:
            files.setdefault(one.file, one)
    return {path: pinned for path, (pinned, _) in there.items()}, tuple(files.values())


def _of_stored(pinned: str, files: Sequence[StoredFile], changed: Changed) -> Iterator[PlannedFile]:
    by_name = {one.name: one for one in files}
    for one in sorted(files, key=_place_in_walk):
        named = one.address == pinned
        beside = by_name.get(name_of_last_changes(one.name) or "")
        last = max(one.changed, beside.changed if beside else 0)
        if last and last / 1e9 not in changed:
            continue
        if named or not any(map(is_left_out, one.name.split("/"))):
            size, version = one.bytes, one.version
            if beside is not None:
                size, version = size + beside.bytes, f"{version} {beside.version}"
            yield PlannedFile(one.address, size, version, named, stored=one, beside=beside)


def _place_in_walk(file: StoredFile) -> list[tuple[bool, str]]:
    *folders, name = file.name.split("/")
    return [*((True, folder) for folder in folders), (False, name)]


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
    """Return the files by name, to read; those at an address are fetched, unless their copies are of that version."""
    stored = [stored for one in files for stored in (one.stored, one.beside) if stored is not None]
    _require_stored(files)
    copies = dict(zip(stored, copies_of(stored), strict=True)) if stored else {}
    local = {
        one.file: FoundFile(
            copies[one.stored] if one.stored else Path(os.fsdecode(one.undecodable or one.file)), one.named
        )
        for one in files
    }
    require_unchanged(files, local)
    return local


def require_unchanged(files: Iterable[PlannedFile], local: Mapping[str, FoundFile]) -> None:
    """Refuse files of this machine that are not as they were when the plan was made, by name; copies do not change."""
    for one in files:
        if one.stored is None and _state_of(local[one.file].path) != (one.size, one.version):
            raise _changed(one.file)


def _require_stored(files: Sequence[PlannedFile]) -> None:
    """Refuse files at addresses that are not as they were; a data set of the hub is pinned, and stays as it is."""
    listed: dict[str, dict[str, tuple[int, str]]] = {}
    for one in files:
        if one.stored is None or is_of_hub(one.file):
            continue
        source = one.file if one.named else one.stored.below
        if source not in listed:
            listed[source] = {
                now.file: (now.size, now.version) for now in _of_stored(source, stored_files(source), EVER)
            }
        if listed[source].get(one.file) != (one.size, one.version):
            raise _changed(one.file)


def _changed(file: str) -> InputError:
    message = "the file has changed since the first shard was begun"
    return InputError(message, "Restore it with its time, or begin anew with another --out.", file=file)

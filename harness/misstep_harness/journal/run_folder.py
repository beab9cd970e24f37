"""Write a run such that the same command resumes it after a kill, without repeated or lost records.

    with RunInProgress(folder, manifest, Records(Trajectory, "trajectories.jsonl"), Entry) as run:
        for case in cases[len(run.entries):]:
            run.append([solve(case)], Entry(case.id))
        run.finish(now())

Until the run is finished, `progress.jsonl` beside the records has one line for each finished batch of the inputs:

    {"length": 48213, "crc32": 3735928559, "entry": {…}}

`length` is the length of the file of records after that batch, in bytes; `beside` is that of the file beside it, where
a run has one. `crc32` covers the other fields. A process locks the journal before it reads anything in the folder.
Records that cost nothing are made again: everything after the last sound line of the journal is cut off. Records that
were paid for are all kept, and missing lines of the journal are made from them. Nothing is synced to disk: a killed
process loses nothing, a power cut may lose records.
"""

import itertools
import os
import sys
import zlib
from collections.abc import Callable, Collection, Iterable
from io import FileIO
from itertools import accumulate
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from misstep_harness.errors import Closing, InputError, UsageError, opening, write_all, writing
from misstep_harness.escaping import plain
from misstep_harness.journal.inputs import difference, differing_settings
from misstep_harness.journal.records import (
    MANIFEST,
    VERDICT_RECORDS,
    Manifest,
    Record,
    Records,
    appending,
    encode,
    encode_lines,
    is_shorter,
    read_manifest,
    read_records,
    write_manifest,
    written_in,
)
from misstep_harness.progress import say

PROGRESS = "progress.jsonl"
EARLIER = "earlier-"
"""The prefix of the folders of runs that were set aside."""

T = TypeVar("T")


class _Line(Struct, Generic[T], frozen=True, omit_defaults=True):
    length: int
    crc32: int
    entry: T
    beside: int = 0

    @property
    def sound(self) -> bool:
        return self.crc32 == _checksum(self.length, self.entry, self.beside)


def _line(length: int, entry: T, beside: int = 0) -> bytes:
    return encode(_Line(length, _checksum(length, entry, beside), entry, beside)) + b"\n"


def _checksum(length: int, entry: object, beside: int) -> int:
    checksum = zlib.crc32(encode(entry), length & 0xFFFFFFFF)
    return zlib.crc32(b"%d" % beside, checksum) if beside else checksum


def standing(folder: Path, manifest: Manifest, records: Records[Any] = VERDICT_RECORDS) -> Manifest | None:
    """Return the manifest of the run in a folder if it is the same run; `None` if the folder has no run."""
    recorded = (folder / records.file).exists()  # looked for first: whoever begins a run writes its manifest before
    earlier = read_manifest(folder)
    if earlier is None:
        if recorded:
            raise UsageError(f"{folder} has {records.file} but no {MANIFEST}", "Name another folder for the run.")
        return None
    differs = differing_settings(earlier, manifest)
    inputs = difference(earlier.inputs, manifest.inputs)
    if inputs:
        differs.append(f"its inputs are not as they were: {inputs}")
    if not earlier.finished and earlier.misstep != manifest.misstep:
        differs.append(f"it was begun by Misstep {earlier.misstep} and this is {manifest.misstep}")
    if differs:
        message = f"{folder} holds another run: {'; '.join(differs)}"
        raise UsageError(message, "Restore the earlier settings and inputs to continue it, or name another folder.")
    return earlier


def reopen_if_damaged(folder: Path, manifest: Manifest, *beside: str) -> None:
    """Make the same run, finished and with records or files beside that lost bytes, an unfinished one."""
    earlier = read_manifest(folder, whole=False)
    if earlier is None or not earlier.finished or differing_settings(earlier, manifest):
        return
    files = [earlier.written.file] if earlier.written is not None and is_shorter(folder, earlier.written) else []
    files += [name for name in beside if not _is_whole(folder / name)]
    if files:
        with locked(folder / PROGRESS):
            write_manifest(folder, msgspec.structs.replace(earlier, finished="", written=None))
        say(f"misstep: {plain(str(folder / files[0]))} lost bytes: what is missing is done again.")


def _is_whole(file: Path) -> bool:
    """Return whether a file of JSON lines, or of one indented object, ends as it was written."""
    try:
        with file.open("rb") as stream:
            length = stream.seek(0, os.SEEK_END)
            stream.seek(max(length - 3, 0))
            end = stream.read()
    except OSError:
        return False
    return end == b"\n}\n" if file.suffix == ".json" else not end or end.endswith(b"}\n")


def set_aside(folder: Path, names: Collection[str]) -> Path:
    """Move the files of a run into a folder of their own in it, but for some; a new run can begin in their place."""
    number = next(number for number in itertools.count(1) if not (folder / f"{EARLIER}{number}").exists())
    place = folder / f"{EARLIER}{number}"
    with locked(folder / PROGRESS):
        place.mkdir()
        for file in sorted(folder.iterdir(), key=lambda one: one.name != MANIFEST):  # without it this is not a run
            if file.name not in names and file.name != PROGRESS and not file.name.startswith(EARLIER):
                file.replace(place / file.name)
        (folder / PROGRESS).unlink()
    return place


class RunInProgress(Closing, Generic[Record, T]):
    """The open files of a run in progress, repaired after a kill; use it with `with`.

    `note_of` makes the entry from a record and its old entry, if there is one: it is for records that were paid for,
    each a batch of its own. Such a run that lost records is refused, unless it `goes_on`. `entries` has the entry of
    each finished batch, in order. `beside` is a further file in the folder, of which each batch may have lines.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        records: Records[Record],
        entry: type[T],
        note_of: Callable[[Record, T | None], T] | None = None,
        *,
        beside: str = "",
        goes_on: bool = False,
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.records = records
        self.finished = False
        self.entries: list[T] = []
        self._file, self._progress = folder / records.file, folder / PROGRESS
        self._beside_file = folder / beside if beside else None
        self._beside: FileIO | None = None
        self._length = self._beside_length = 0
        self._goes_on = goes_on
        self._streams: list[FileIO] = []
        try:
            self._open(entry, note_of)
        except BaseException:
            self.close()
            raise

    def _open(self, entry: type[T], note_of: Callable[[Record, T | None], T] | None) -> None:
        private = self.records.private
        make_folder(self.folder, 0o700 if private else 0o777)
        mode = 0o600 if private else 0o666
        earlier = standing(self.folder, self.manifest, self.records)
        if earlier is None or not earlier.finished:
            self._journal = self._closed_at_end(locked(self.folder / PROGRESS, mode))
            # What was read without the lock may have been true until another process let go of it.
            earlier = standing(self.folder, self.manifest, self.records)
        if earlier is None:
            write_manifest(self.folder, self.manifest)
        else:
            self.manifest = earlier
        self.finished = bool(self.manifest.finished)
        if self.finished:
            if self._streams:
                (self.folder / PROGRESS).unlink()
            return
        self._recorded = self._closed_at_end(_opened(self.folder / self.records.file, mode))
        if self._beside_file is not None:
            self._beside = self._closed_at_end(_opened(self._beside_file, mode))
        noted = _noted(self._journal, entry)
        if note_of is None:
            self._trust(noted)
        else:
            self._recover(noted, note_of)

    def _trust(self, noted: "list[_Line[T] | None]") -> None:
        """Keep the lines before the first impossible one, and cut off the rest of both files."""
        length = self._recorded.seek(0, os.SEEK_END)
        beside_length = self._beside.seek(0, os.SEEK_END) if self._beside is not None else 0
        sound: list[_Line[T]] = []
        for line in noted:
            if line is None or not self._length <= line.length <= length:
                break
            if not self._beside_length <= line.beside <= beside_length:
                break
            self.entries.append(line.entry)
            self._length, self._beside_length = line.length, line.beside
            sound.append(line)
        if len(sound) < len(noted):
            self._note_again([line.length for line in sound], [line.beside for line in sound])
        self._recorded.truncate(self._length)
        if self._beside is not None:
            self._beside.truncate(self._beside_length)

    def _recover(self, noted: "list[_Line[T] | None]", note_of: Callable[[Record, T | None], T]) -> None:
        """Keep every whole record, even without a journal line, and cut off a half-written last one."""
        file = self.folder / self.records.file
        entries = {line.length: line.entry for line in noted if line is not None}
        with file.open("rb") as stream:
            lengths = list(accumulate(len(line) for line in stream if line.endswith(b"\n")))
        records = read_records(file, self.records, unfinished=True)
        self.entries = [note_of(record, entries.get(end)) for record, end in zip(records, lengths, strict=True)]
        self._length = lengths[-1] if lengths else 0
        lost = sum(length > self._length for length in entries)
        if lost and not self._goes_on:
            message = f"{lost:,} of the {len(entries):,} answers that {PROGRESS} lists are missing"
            advice = f"Restore the file, or delete {PROGRESS} to ask for these answers again."
            raise InputError(message, advice, file=file)
        if lengths != list(entries) or None in noted:
            self._note_again(lengths)
        self._recorded.truncate(self._length)

    def _note_again(self, lengths: list[int], beside: Iterable[int] = itertools.repeat(0)) -> None:
        self._journal.truncate(0)
        write_all(self._journal, b"".join(map(_line, lengths, self.entries, beside)), self.folder / PROGRESS)

    def append(self, records: Iterable[Record], entry: T) -> None:
        """Add the records of one more batch and its entry."""
        self.append_lines(encode_lines(records), entry)

    def append_lines(self, lines: bytes, entry: T, beside: bytes = b"") -> None:
        """Add records that are JSON lines already, and lines of the file beside; otherwise as `append`."""
        if self._beside is not None and self._beside_file is not None:
            write_all(self._beside, beside, self._beside_file)
            self._beside_length += len(beside)
        write_all(self._recorded, lines, self._file)
        self._length += len(lines)
        write_all(self._journal, _line(self._length, entry, self._beside_length), self._progress)
        self.entries.append(entry)

    def finish(self, finished: str) -> None:
        """Record in `run.toml` that the run is finished, with the length of its records, and remove the journal."""
        length = written_in(self.folder, self.records.file)
        write_manifest(self.folder, msgspec.structs.replace(self.manifest, finished=finished, written=length))
        (self.folder / PROGRESS).unlink(missing_ok=True)

    def _closed_at_end(self, stream: FileIO) -> FileIO:
        self._streams.append(stream)
        return stream

    def close(self) -> None:
        """Close the files; all that was appended stays."""
        for stream in self._streams:
            stream.close()


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a run's folder if there is none; an `InputError` says why it cannot be made."""
    with opening(folder, "Name another folder with --out.", "the folder cannot be made"), writing(folder):
        folder.mkdir(mode, parents=True, exist_ok=True)


def make_new_folder(folder: Path) -> None:
    """Make a folder; one that has files is a `UsageError`."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty", "Name a folder that is not there yet.")
    make_folder(folder)


def _opened(file: Path, mode: int = 0o666) -> FileIO:
    with opening(file, "Check the folder's permissions.", "cannot write"), writing(file):
        return appending(file, mode)


def _lock(stream: FileIO) -> None:
    """Lock an open file without waiting; each system has a way of its own, and both raise where another has it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def locked(file: Path, mode: int = 0o666) -> FileIO:
    """Return an open file that only one process has at a time; it is made if it does not exist.

    It is the file that has that name now: the process that had the lock may have removed it.
    """
    while True:
        stream = _opened(file, mode)
        try:
            _lock(stream)
            if file.exists() and os.path.samestat(os.fstat(stream.fileno()), file.stat()):
                return stream
        except (BlockingIOError, PermissionError) as error:
            stream.close()
            message = f"another process is writing to {file.parent}"
            raise UsageError(message, "Wait until it ends, or stop it.") from error
        except FileNotFoundError:  # taken away between two looks at it
            pass
        except OSError as error:
            stream.close()
            advice = "Name a folder on a file system with locks."
            raise InputError(f"cannot be locked: {error.strerror}", advice, file=file) from error
        stream.close()


def _noted(journal: FileIO, entry: type[T]) -> "list[_Line[T] | None]":
    """The content of each line of the journal; `None` for a broken one. A half-written last line does not count."""
    decoder = msgspec.json.Decoder(_Line[entry])  # type: ignore[valid-type]
    journal.seek(0)
    *whole, half = journal.read().split(b"\n")
    lines = [_decoded(line, decoder) for line in whole]
    return [*lines, None] if half else lines


def _decoded(line: bytes, decoder: "msgspec.json.Decoder[_Line[T]]") -> "_Line[T] | None":
    try:
        entry = decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return entry if entry.sound else None

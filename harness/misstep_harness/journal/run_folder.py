"""Write a run such that the same command resumes it after a kill, without repeated or lost records.

    with RunInProgress(folder, manifest, Records(Trajectory, "trajectories.jsonl"), Entry) as run:
        for case in cases[len(run.entries):]:
            run.append([solve(case)], Entry(case.id))
        run.finish(now())

Until the run is finished, `progress.jsonl` beside the records has one line for each finished batch of the inputs:

    {"length": 48213, "crc32": 3735928559, "entry": {…}}

`length` is the length of the file of records after that batch, in bytes. `crc32` covers both other fields. A process
locks the journal before it reads anything in the folder. Records that cost nothing are made again: everything after the
last sound line of the journal is cut off. Records that were paid for are all kept, and missing lines of the journal are
made from them. Nothing is synced to disk: a killed process loses nothing, a power cut may lose records.
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
    read_manifest,
    read_records,
    write_manifest,
    written_in,
)

PROGRESS = "progress.jsonl"
EARLIER = "earlier-"
"""The prefix of the folders of runs that were set aside."""

T = TypeVar("T")


class _Line(Struct, Generic[T], frozen=True):
    length: int
    crc32: int
    entry: T

    @property
    def sound(self) -> bool:
        return self.crc32 == _checksum(self.length, self.entry)


def _line(length: int, entry: T) -> bytes:
    return encode(_Line(length, _checksum(length, entry), entry)) + b"\n"


def _checksum(length: int, entry: object) -> int:
    return zlib.crc32(encode(entry), length & 0xFFFFFFFF)


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
    each a batch of its own. `entries` has the entry of each finished batch, in order.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        records: Records[Record],
        entry: type[T],
        note_of: Callable[[Record, T | None], T] | None = None,
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.records = records
        self.finished = False
        self.entries: list[T] = []
        self._file, self._progress = folder / records.file, folder / PROGRESS
        self._length = 0
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
        noted = _noted(self._journal, entry)
        if note_of is None:
            self._trust(noted)
        else:
            self._recover(noted, note_of)

    def _trust(self, noted: "list[_Line[T] | None]") -> None:
        """Keep the lines before the first impossible one, and cut off the rest of both files."""
        length = self._recorded.seek(0, os.SEEK_END)
        lengths = []
        for line in noted:
            if line is None or not self._length <= line.length <= length:
                break
            self.entries.append(line.entry)
            self._length = line.length
            lengths.append(line.length)
        if len(lengths) < len(noted):
            self._note_again(lengths)
        self._recorded.truncate(self._length)

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
        if lost:
            message = f"{lost:,} of the {len(entries):,} answers that {PROGRESS} lists are missing"
            advice = f"Restore the file, or delete {PROGRESS} to ask for these answers again."
            raise InputError(message, advice, file=file)
        if lengths != list(entries) or None in noted:
            self._note_again(lengths)
        self._recorded.truncate(self._length)

    def _note_again(self, lengths: list[int]) -> None:
        self._journal.truncate(0)
        write_all(self._journal, b"".join(map(_line, lengths, self.entries)), self.folder / PROGRESS)

    def append(self, records: Iterable[Record], entry: T) -> None:
        """Add the records of one more batch and its entry."""
        self.append_lines(encode_lines(records), entry)

    def append_lines(self, lines: bytes, entry: T) -> None:
        """Add records that are JSON lines already; otherwise as `append`."""
        write_all(self._recorded, lines, self._file)
        self._length += len(lines)
        write_all(self._journal, _line(self._length, entry), self._progress)
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


class RecordsBeside(Closing):
    """An open file beside the records of a run in progress; use it with `with`.

    Append to it before the run's own records, and keep `length` in the entry of the same batch.
    """

    def __init__(self, file: Path, length: int) -> None:
        self.file, self.length, self._stream = file, length, _opened(file)
        size = self._stream.seek(0, os.SEEK_END)
        if size < length:
            self.close()
            advice = "Delete the run's folder to begin it anew."
            raise InputError(f"the file has {size:,} bytes of {length:,}", advice, file=file)
        self._stream.truncate(length)

    def append(self, lines: bytes) -> None:
        """Add records that are JSON lines already."""
        write_all(self._stream, lines, self.file)
        self.length += len(lines)

    def close(self) -> None:
        """Close the file; all that was appended stays."""
        self._stream.close()

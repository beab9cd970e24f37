"""A run in progress: killed at any moment, it is gone on with by the same command, nothing twice and nothing lost.

Beside `verdicts.jsonl` stands `progress.jsonl` until the run is finished, one line a finished stretch of the inputs:

    {"length": 48213, "entry": {…}}

`length` is how many bytes of `verdicts.jsonl` are good once that stretch is done; `entry` is what is to be known of
the stretch when everything is counted. Whatever stands behind the last whole line is cut off on resuming. Nothing is
forced onto the disk: a killed process loses nothing, a machine that loses power may.
"""

import fcntl
import hashlib
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Generic, TypeVar

import msgspec
from msgspec import Struct

from harness.errors import InputError, UsageError
from harness.records import MANIFEST, VERDICTS, Inputs, Manifest, encode, read_manifest, write_manifest

PROGRESS = "progress.jsonl"

_BLOCK = 1 << 16

T = TypeVar("T")


class _Line(Struct, Generic[T], frozen=True):
    length: int
    entry: T


def digest_files(paths: Iterable[Path]) -> Inputs:
    """How many files, how many bytes, and a digest over the names and contents of all, in order.

    A file that cannot be opened counts as one without bytes: whoever reads it says what is wrong with it.
    """
    together = hashlib.sha256()
    files = size = 0
    for path in paths:
        length, checksum = _checked(path)
        files += 1
        size += length
        together.update(os.fsencode(path) + b"\0%d %08x\n" % (length, checksum))
    return Inputs(files, size, together.hexdigest())


def _checked(path: Path) -> tuple[int, int]:
    """A file's length and CRC-32: enough to see that it changed, in a quarter of the time that decoding it takes."""
    length = checksum = 0
    try:
        with path.open("rb", buffering=0) as stream:
            while block := stream.read(_BLOCK):
                length += len(block)
                checksum = zlib.crc32(block, checksum)
    except OSError:
        return 0, 0
    return length, checksum


def begin(folder: Path, manifest: Manifest) -> Manifest:
    """Make `folder` the run of `manifest`, or find that it already is; the manifest that stands there then.

    Raises
    ------
    UsageError
        The folder holds a run of another command, other inputs or other questions, or another one's verdicts.
    InputError
        The folder cannot be made, or its manifest cannot be read.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made a folder: {error.strerror}", "Name another one.", file=folder) from error
    earlier = read_manifest(folder)
    if earlier is None:
        if (folder / VERDICTS).exists():
            raise UsageError(f"{folder} has {VERDICTS} but no {MANIFEST}", "Name another folder for the run.")
        write_manifest(folder, manifest)
        return manifest
    difference = _difference(earlier, manifest)
    if difference:
        raise UsageError(f"{folder} holds another run: {difference}", "Name another folder, or delete that one.")
    return earlier


def _difference(earlier: Manifest, now: Manifest) -> str:
    if earlier.command != now.command:
        return f"of `misstep {earlier.command}`"
    for name in sorted({*earlier.asked, *now.asked}):
        was, is_ = earlier.asked.get(name), now.asked.get(name)
        if was != is_:
            return f"{name} were {_shown(was)} and are now {_shown(is_)}"
    if earlier.inputs != now.inputs:
        return f"its inputs were {_size(earlier.inputs)} and are now {_size(now.inputs)}"
    if not earlier.finished and earlier.misstep != now.misstep:
        return f"it was begun by Misstep {earlier.misstep} and this is {now.misstep}"
    return ""


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _size(inputs: Inputs) -> str:
    files = "1 file" if inputs.files == 1 else f"{inputs.files:,} files"
    return f"{files} of {inputs.bytes:,} bytes ({inputs.digest[:8]})"


class RunInProgress(Generic[T]):
    """The open files of a run that is being written, repaired to the last finished stretch; closed by `with`.

    Parameters
    ----------
    folder
        A folder that `begin` has made a run.
    entry
        The type of what is noted of a stretch.

    Attributes
    ----------
    entries
        What was noted of each stretch that is finished, in order.

    Raises
    ------
    UsageError
        Another process is writing the run.
    """

    def __init__(self, folder: Path, entry: type[T]) -> None:
        self.folder = folder
        self.entries: list[T] = []
        self._length = 0
        self._journal: BinaryIO = _opened(folder / PROGRESS)
        self._verdicts: BinaryIO = _opened(folder / VERDICTS)
        try:
            fcntl.lockf(self._journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise UsageError(f"another process is writing {folder}", "Wait for it, or stop it.") from error
        self._repair(msgspec.json.Decoder(_Line[entry]))  # type: ignore[valid-type]

    def _repair(self, decoder: "msgspec.json.Decoder[_Line[T]]") -> None:
        written = self._verdicts.seek(0, os.SEEK_END)
        good = 0
        self._journal.seek(0)
        for line in self._journal:
            noted = _whole(line, decoder)
            if noted is None or not self._length <= noted.length <= written:
                break
            self.entries.append(noted.entry)
            self._length = noted.length
            good += len(line)
        self._journal.truncate(good)
        self._verdicts.truncate(self._length)

    def append(self, lines: bytes, entry: T) -> None:
        """Add the verdicts of one more stretch and what is to be noted of it."""
        self._verdicts.write(lines)
        self._verdicts.flush()
        self._length += len(lines)
        self._journal.write(encode(_Line(self._length, entry)) + b"\n")
        self._journal.flush()
        self.entries.append(entry)

    def close(self) -> None:
        """Close the files; what was appended stays."""
        self._verdicts.close()
        self._journal.close()

    def __enter__(self) -> "RunInProgress[T]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("a+b")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", "Check the folder's permissions.", file=file) from error


def _whole(line: bytes, decoder: "msgspec.json.Decoder[_Line[T]]") -> "_Line[T] | None":
    """What a line of the journal says; `None` for a line that was not written to its end."""
    if not line.endswith(b"\n"):
        return None
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def finish(folder: Path, manifest: Manifest, finished: str) -> None:
    """Say in `run.toml` that the run is finished, and take its journal away."""
    write_manifest(folder, msgspec.structs.replace(manifest, finished=finished))
    (folder / PROGRESS).unlink(missing_ok=True)

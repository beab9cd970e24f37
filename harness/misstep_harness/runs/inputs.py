"""Read the inputs of a command: files and folders to trajectories, broken ones and files that hold none.

A file that the user named must be of a known format. Files in folders that no reader recognises are skipped and
counted, with the reason; what looks like JSON and is broken is unreadable.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path

from msgspec import Struct

from misstep_harness.errors import (
    EmptyFile,
    InputError,
    MissingPrerequisite,
    NoTrajectory,
    ReaderFailed,
    UnknownFormat,
    UnreadableTrajectory,
)
from misstep_harness.journal.records import Inputs
from misstep_harness.places import last_changes_of, path_text
from misstep_harness.readers import FoundFile, Part, all_readers, find_files, plan, read_part, read_placed, reader_for
from misstep_harness.readers.files import lost_in, open_bytes
from misstep_harness.trajectory import Placed, Skipped, Trajectory, Unreadable

Batch = tuple[FoundFile | Part | Unreadable | Skipped, ...]

BATCH_BYTES = 4 << 20
"""About how many bytes a batch has: enough that handing it over costs nothing, few enough to hold several."""

BATCH_FILES = 256

_UNPACKED = {".parquet": 8}
"""About how many times as long agent runs are unpacked, by how the name of a file ends: a footer takes long to read."""


def found_files(paths: Sequence[Path], left_out: Path | None = None) -> Iterator[FoundFile]:
    """Return the files in `paths`, but for those in the folder `left_out` (a run does not read itself)."""
    if left_out is None:
        return find_files(paths)
    place = left_out.resolve()
    if not any(place.is_relative_to(path.resolve()) for path in paths):
        return find_files(paths)
    inside = cache(lambda folder: folder.resolve().is_relative_to(place))
    return (file for file in find_files(paths) if not inside(file.path.parent))


class Changed(Struct, frozen=True):
    """When files that are read were last changed: at `since` or later, and before `until`."""

    since: datetime | None = None
    until: datetime | None = None

    def __contains__(self, seconds: float) -> bool:
        early = self.since is not None and seconds < self.since.timestamp()
        return not early and (self.until is None or seconds < self.until.timestamp())

    def __str__(self) -> str:
        ends = (("since", self.since), ("before", self.until))
        return " and ".join(f"{word} {when:%Y-%m-%d %H:%M %Z}".rstrip() for word, when in ends if when)


def files_changed(files: Iterable[FoundFile], changed: Changed) -> Iterator[FoundFile]:
    """Return the files that were last changed at such a time."""
    return (file for file in files if changed == EVER or _is_of(file.path, changed))


def _is_of(path: Path, changed: Changed) -> bool:
    try:
        beside = last_changes_of(path)
        return max(one.stat().st_mtime for one in (path, beside) if one is not None) in changed
    except OSError:  # gone since it was listed: whoever reads it says so
        return True


def check_named(paths: Iterable[Path]) -> None:
    """Look into the files that the user named, before any work is done."""
    for file in find_files(path for path in paths if not path.is_dir()):
        next(parts_of(file), None)


def batches(files: Iterable[FoundFile], batch_bytes: int = BATCH_BYTES) -> Iterator[Batch]:
    """Return the files as batches, in order."""
    small: list[FoundFile] = []
    size = 0
    for file in files:
        own = _size(file.path)
        if small and (size + own > batch_bytes or len(small) == BATCH_FILES):
            yield tuple(small)
            small, size = [], 0
        if own > batch_bytes:
            for part in parts_of(file, batch_bytes):
                yield (part,)
        else:
            small.append(file)
            size += own
    if small:
        yield tuple(small)


def total_bytes(files: Iterable[FoundFile]) -> int:
    """About how many bytes there are to read; Parquet files as long as unpacked, other compressed ones as they are."""
    return sum(_size(file.path) * _UNPACKED.get(file.path.suffix, 1) for file in files)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone since it was listed: whoever reads it says so
        return 0


def placed_in(batch: Batch) -> Iterator[Placed | Unreadable | Skipped]:
    """Everything in a batch, in order, with the places where it was read."""
    return (one for _, one in read_in(batch))


def read_in(batch: Batch) -> Iterator[tuple[str, Placed | Unreadable | Skipped]]:
    """As `placed_in`, each with the name of the reader that read it; empty where none has."""
    for piece in batch:
        for part in parts_of(piece) if isinstance(piece, FoundFile) else (piece,):
            if isinstance(part, Part):
                for placed in read_placed(part, reader_for(part.format)):
                    yield part.format, placed
            else:
                yield "", part


def describe(batch: Batch) -> str:
    """Return the name of a batch in an error: its first file, and the line where it starts."""
    first = batch[0]
    if isinstance(first, Part):
        return f"{first.path}:{first.first_line}"
    name = str(first.path) if isinstance(first, FoundFile) else first.file
    return f"one of {len(batch)} files from {name}" if len(batch) > 1 else name


_JSON_START = re.compile(rb'\s*(?:\{\s*(?:"|\}|\Z)|\[\s*(?:[\[{"\]\-0-9]|true|false|null|\Z))')
_LOOKED_AT = 4096


def inputs_of_paths(paths: Iterable[Path]) -> Inputs:
    """Return the inputs in files and folders, for the manifest of a run: files, bytes and a digest."""
    from misstep_harness.journal.inputs import file_state, inputs_of_files

    return inputs_of_files(file_state(file.path) for file in find_files(paths))


def trajectories(paths: Iterable[Path]) -> Iterator[Trajectory | Unreadable | Skipped]:
    """Everything in the files and folders `paths`, in order, as a stream."""
    for file in find_files(paths):
        for part in parts_of(file):
            if isinstance(part, Part):
                yield from read_part(part, reader_for(part.format))
            else:
                yield part


def parts_of(source: FoundFile, part_bytes: int | None = None) -> Iterator[Part | Unreadable | Skipped]:
    """Return the parts of one file that can be read on their own, in order."""
    file = path_text(source.path)
    try:
        yield from plan(source.path, all_readers(), part_bytes)
    except UnknownFormat:
        if source.named:
            raise
        yield Skipped(file, "no known trajectory format")
    except EmptyFile as error:
        yield Unreadable(file, None, error.found) if source.named else Skipped(file, error.found)
    except UnreadableTrajectory as error:
        if source.named or isinstance(error, ReaderFailed) or _looks_like_json(source.path):
            yield from lost_in(source.path, error)
        else:
            yield Skipped(file, "no known trajectory format")
    except (InputError, MissingPrerequisite) as error:
        if source.named:
            raise
        yield Unreadable(file, None, error.found if isinstance(error, InputError) else error.line())


EVER = Changed()


def no_trajectory(paths: Iterable[Path | str], skipped: int, changed: Changed = EVER) -> NoTrajectory:
    """Return the error that there is nothing to read: so many files were skipped, and those of other times left out."""
    where = ", ".join(map(str, paths))
    if changed != EVER and not skipped:
        return NoTrajectory(f"no file was changed {changed}", "Give --since or --until another time.", file=where)
    others = f", only {skipped:,} file{'s' if skipped > 1 else ''} of no known format" if skipped else " in it"
    return NoTrajectory(f"no trajectory{others}", "See `misstep convert --help` for the formats.", file=where)


def _looks_like_json(path: Path) -> bool:
    """Whether a file that could not be read opens like JSON (TOML's `[name]` does not) or cannot be looked into."""
    try:
        with open_bytes(path) as stream:
            start = stream.read(_LOOKED_AT)
    except (EOFError, zlib.error, OSError, InputError):
        return True
    return _JSON_START.match(start) is not None

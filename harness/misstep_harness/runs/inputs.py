"""Read the inputs of a command: files and folders to trajectories, broken ones and files that hold none.

A file that the user named must be of a known format. Files in folders that no reader recognises are skipped and
counted, with the reason; what looks like JSON and is broken is unreadable.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
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
from misstep_harness.places import path_text
from misstep_harness.readers import FoundFile, Part, all_readers, find_files, plan, read_part, reader_for
from misstep_harness.readers.files import lost_in, open_bytes
from misstep_harness.trajectory import Skipped as Skipped
from misstep_harness.trajectory import Trajectory, Unreadable

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

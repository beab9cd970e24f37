"""A run that is opened once and passed on."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from misstep_harness.errors import InputError, UsageError
from misstep_harness.journal.records import MANIFEST, Manifest, Record, Records, read_manifest, read_records


def manifest_of(folder: Path, advice: str) -> Manifest:
    """Return the manifest of the run in a folder."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"{MANIFEST} is missing", advice, file=folder)
    return manifest


class OpenRun(Struct, frozen=True):
    """A run; each kind of run adds what it read of the records."""

    folder: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """The name by which people tell runs apart."""
        return self.folder.resolve().name

    def read(self, records: Records[Record], *, unfinished: bool = True) -> Iterator[Record]:
        """Read the records of the run as a stream, also of a run in progress."""
        return read_records(self.folder, records, unfinished=unfinished)

    def reader(self, records: Records[Record], *, unfinished: bool = False) -> Callable[[], Iterator[Record]]:
        """Return a function that reads the records as a stream, each time from the first."""
        return partial(self.read, records, unfinished=unfinished)

    def requested(self, name: str) -> str:
        """Return a setting of the run as text; empty if it is not on record."""
        return str(self.manifest.settings.get(name, ""))


def open_of(folder: Path, command: str) -> OpenRun:
    """Open a run of one command; a run of another is a `UsageError`."""
    manifest = manifest_of(folder, f"Name the folder that `misstep {command}` wrote.")
    if manifest.command != command:
        raise UsageError(f"{folder} is a run of `misstep {manifest.command}`", f"Name runs of `misstep {command}`.")
    return OpenRun(folder, manifest)


def check_named_once(folders: Sequence[Path]) -> None:
    """Refuse runs of which one is named twice."""
    resolved = [folder.resolve() for folder in folders]
    twice = next((folder for folder in resolved if resolved.count(folder) > 1), None)
    if twice is not None:
        raise UsageError(f"the run {twice.name} is named twice", "Name each run once.")


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """Return a name for each folder that no other has: its own, or with as many folders above it as it takes."""
    parts = [folder.resolve().parts for folder in folders]
    deepest = max(map(len, parts))
    lengths = range(1, deepest + 1)
    named = (["/".join(part[-length:]) for part in parts] for length in lengths)
    return next(names for names in named if len(set(names)) == len(names))

"""Check whether the files of a set are what the registry says."""

import gzip
import hashlib
import zlib
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep.harness.datasets.catalogue import DataFile, files_of
from misstep.harness.datasets.fetching import inside

State = Literal["ok", "differs", "missing"]


class CheckedFiles(Struct, frozen=True):
    """How many files of one set are right, and the names of those that differ or are missing."""

    name: str
    folder: str
    ok: int
    differs: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Return whether every file is there and right."""
        return not self.differs and not self.missing


def check(name: str, folder: Path) -> CheckedFiles:
    """Return every registered file of a set in `folder`, hashed."""
    states = {file.file: state_of(file, folder) for file in files_of(name)}
    return CheckedFiles(
        name,
        str(folder),
        sum(state == "ok" for state in states.values()),
        tuple(file for file, state in states.items() if state == "differs"),
        tuple(file for file, state in states.items() if state == "missing"),
    )


def state_of(file: DataFile, folder: Path) -> State:
    """Return whether one file of a set is there and is what the registry says; as upstream has it does as well."""
    path = inside(folder, file.file)
    if not path.is_file():
        return "missing"
    return "ok" if _content_sha256(path) in {file.sha256, file.upstream_sha256 or file.sha256} else "differs"


def _content_sha256(path: Path) -> str | None:
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error):
        return None

"""Where things are: the project's own files, the cache. Nothing here changes them.

In a checkout `data/` and `notebooks/` are at its top; in a wheel they are inside `misstep`.
"""

import os
from pathlib import Path

from misstep_harness.errors import InputError, UsageError
from misstep_harness.escaping import without_surrogates
from misstep_harness.path_names import address_text

_TOP = Path(__file__).resolve().parents[2]
_PACKED = Path(__file__).resolve().parents[1] / "misstep"
"""The package in a wheel."""


def data_folder() -> Path:
    """Return the project's own data files: published figures, the registry of data sets, recordings."""
    return _own("data")


def notebooks_folder() -> Path:
    """Return the notebooks that `misstep reproduce` runs."""
    return _own("notebooks")


def _own(name: str) -> Path:
    packed = _PACKED / f"_{name}"
    return packed if packed.is_dir() else _TOP / name


def cache_folder() -> Path:
    """Where fetched data sets, benchmark folders and cached runs go: `MISSTEP_CACHE`, else the user's cache folder."""
    named = os.environ.get("MISSTEP_CACHE")
    if named:
        folder = Path(named)
        there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
        if not there.is_dir():
            message = f"MISSTEP_CACHE is {folder}, and {there} is not a folder"
            raise UsageError(message, "Name a folder, or unset the variable.")
        return folder
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "misstep"


def path_text(path: Path) -> str:
    """Return a path as UTF-8 text, or the address that it is a local copy of; other bytes become U+FFFD."""
    return address_text(os.fsencode(path).decode(errors="replace"))


def recorded_path(path: Path) -> str:
    """Return a path as a record has it that is to be opened again; one that is not UTF-8 is an error."""
    if (text := str(path)) != without_surrogates(text):
        raise InputError("the path is not UTF-8, and no record can hold it", "Rename the folder.", file=path_text(path))
    return text


_DATABASES = (".db", ".vscdb", ".sqlite", ".sqlite3")


def last_changes_of(path: Path) -> Path | None:
    """Return the file with the latest writes of a SQLite database; `None` if there is none."""
    name = name_of_last_changes(path.name)
    beside = path.with_name(name) if name else None
    return beside if beside and beside.is_file() else None


def name_of_last_changes(name: str) -> str | None:
    """Return the name of that file for a database; `None` where a file is not a database by its name."""
    return f"{name}-wal" if name.endswith(_DATABASES) else None

"""Paths to files: folders are walked, links followed, every file reached once."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from misstep_harness.errors import InputError

_HIDDEN_BY_THEIR_WRITER = (".aider.chat.history.md",)
_BESIDE_A_DATABASE = (".db-wal", ".db-shm", ".vscdb-wal", ".vscdb-shm", ".vscdb.backup", ".idx")


class FoundFile(Struct, frozen=True):
    """A file to read; `named` when the user named it, rather than a folder that holds it."""

    path: Path
    named: bool


def find_files(paths: Iterable[Path]) -> Iterator[FoundFile]:
    """Return the files among `paths` and in the folders among them, in order of name, as a stream.

    A folder or file that was already reached through a link is not given again; hard links are files of their own.
    Below a named folder what is hidden is left out (but not a chat history that its tool hides), and so are pipes,
    devices and what is kept beside a database. A folder that cannot be listed is given like a file: whoever opens it
    says why.
    """
    walk = _Walk()
    for path in paths:
        try:
            path.stat()
            if path.is_dir():
                for file in walk.files(path):
                    yield FoundFile(file, named=False)
            elif walk.is_new(os.path.realpath(path)):
                yield FoundFile(path, named=True)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", "Check the path.", file=path) from error
        except ValueError as error:
            raise InputError(f"not a path: {error}", "Check the path.", file=repr(str(path))) from error


class _Walk:
    def __init__(self) -> None:
        self._entered: set[tuple[int, int]] = set()
        self._reached: set[str] = set()

    def is_new(self, real: str) -> bool:
        if real in self._reached:
            return False
        self._reached.add(real)
        return True

    def files(self, top: Path) -> Iterator[Path]:
        pending = [top]
        while pending:
            here = pending.pop()
            try:
                status = here.stat()
                if (status.st_dev, status.st_ino) in self._entered:
                    continue
                self._entered.add((status.st_dev, status.st_ino))
                real = os.path.realpath(here)
                with os.scandir(here) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError:
                if here is top:
                    raise
                yield here
                continue
            folders = []
            for entry in entries:
                if is_left_out(entry.name):
                    continue
                if _is(entry.is_dir):
                    folders.append(here / entry.name)
                elif _is(entry.is_file):
                    reached = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(real, entry.name)  # noqa: PTH118 (100,000 of them)
                    if self.is_new(reached):
                        yield here / entry.name
            pending.extend(reversed(folders))


def is_left_out(name: str) -> bool:
    """Return whether a name below a named folder is passed over: it is hidden, or kept beside a database."""
    hidden = name.startswith(".") and name not in _HIDDEN_BY_THEIR_WRITER
    return hidden or name.endswith(_BESIDE_A_DATABASE)


def _is(kind: Callable[[], bool]) -> bool:
    try:
        return kind()
    except OSError:  # a link to itself
        return False

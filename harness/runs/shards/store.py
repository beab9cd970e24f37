"""The folder of a run of several machines.

A content is there whole or not at all: it is written under a temporary name and then moved. Several writers may write
the same name at once; the last one wins.
"""

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from misstep.harness.errors import CannotWrite, InputError, is_full, writing

_BUILDING = ".building"
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


class FolderStore:
    """A folder with named contents, which several machines may share; names have `/` between their parts."""

    def __init__(self, folder: Path) -> None:
        self.place = str(folder)
        self.folder = folder
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """Return the content under a name; `None` if it has none."""
        file = self._folder / name
        try:
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _refused("read", error, str(file)) from error

    def write(self, name: str, content: bytes) -> None:
        """Write a content, in place of any that is there."""
        with _built(self._folder / name) as building:
            building.write_bytes(content)
            building.replace(self._folder / name)

    def create(self, name: str, content: bytes) -> bool:
        """Write a content if nothing has that name yet, and return whether it was written.

        A place without such a step (an object store, a file system without links) may let two writers at once both
        believe that they were the first; the last one wins.
        """
        file = self._folder / name
        with _built(file) as building:
            building.write_bytes(content)
            try:
                os.link(building, file)
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                if file.exists():
                    return False
                building.replace(file)
        return True

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder and below it, sorted; half-written ones too."""
        files = (file for file in (self._folder / folder).rglob("*") if file.is_file())
        return sorted(file.relative_to(self._folder).as_posix() for file in files)

    def remove(self, name: str) -> None:
        """Remove a content if it is there."""
        file = self._folder / name
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise _refused("removed", error, str(file)) from error


@contextmanager
def _built(file: Path) -> Iterator[Path]:
    """Yield a temporary name beside a file, gone afterwards. It names no process: writers are on many machines."""
    building = file.with_name(_temporary(file.name))
    try:
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            yield building
    except OSError as error:
        raise _refused("written", error, str(file)) from error
    finally:
        with suppress(OSError):
            building.unlink(missing_ok=True)


def _temporary(name: str) -> str:
    return f".{name}.{uuid.uuid4().hex}{_BUILDING}"


def _refused(what: str, error: OSError, place: str) -> InputError | CannotWrite:
    reason = error.strerror or str(error)
    if is_full(error):
        return CannotWrite(place, reason)
    return InputError(f"cannot be {what}: {reason}", "Check the place and its permissions.", file=place)

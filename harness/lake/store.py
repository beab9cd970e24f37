"""Where a run of several machines lies: a folder, or an address such as `s3://bucket/run`, by one interface.

A content is there whole or not at all: it is written under a temporary name and then moved. Several writers may write
the same name at once; the last one wins.
"""

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Protocol

from misstep.harness.errors import CannotWrite, InputError, is_full, writing
from misstep.harness.lake.addresses import check_address, is_address
from misstep.harness.lake.drivers import opened, reaching

_BUILDING = ".building"
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


class Store(Protocol):
    """A place with named contents; names are relative and have `/` between their parts.

    Every method raises an `InputError` or a `MissingPrerequisite` if the place says no, and `CannotWrite` if it is
    full.
    """

    place: str
    """The folder or address."""

    folder: Path | None
    """The folder, where it is one."""

    def read(self, name: str) -> bytes | None:
        """Return the content under a name; `None` if it has none."""

    def write(self, name: str, content: bytes) -> None:
        """Write a content, in place of any that is there."""

    def create(self, name: str, content: bytes) -> bool:
        """Write a content if nothing has that name yet, and return whether it was written.

        A place without such a step (an object store, a file system without links) may let two writers at once both
        believe that they were the first; the last one wins.
        """

    def put(self, name: str, file: Path) -> None:
        """Write the content of a file, however long."""

    def move(self, name: str, to: str) -> None:
        """Give a content another name, in place of any that is there."""

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder and below it, sorted; half-written ones too."""

    def remove(self, name: str) -> None:
        """Remove a content if it is there."""


def open_store(place: str) -> Store:
    """Return the store at a place: a folder, or an fsspec address `scheme://…`."""
    return _AddressStore(place) if is_address(place) else FolderStore(Path(place))


class FolderStore:
    """A folder, which several machines may share."""

    def __init__(self, folder: Path) -> None:
        self.place = str(folder)
        self.folder: Path | None = folder
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """See `Store`."""
        file = self._folder / name
        try:
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _refused("read", error, str(file)) from error

    def write(self, name: str, content: bytes) -> None:
        """See `Store`."""
        with _built(self._folder / name) as building:
            building.write_bytes(content)
            building.replace(self._folder / name)

    def create(self, name: str, content: bytes) -> bool:
        """See `Store`."""
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

    def put(self, name: str, file: Path) -> None:
        """See `Store`."""
        with _built(self._folder / name) as building:
            shutil.copyfile(file, building)
            building.replace(self._folder / name)

    def move(self, name: str, to: str) -> None:
        """See `Store`."""
        file = self._folder / name
        try:
            file.replace(self._folder / to)
        except OSError as error:
            raise _refused("moved", error, str(file)) from error

    def names(self, folder: str) -> list[str]:
        """See `Store`."""
        files = (file for file in (self._folder / folder).rglob("*") if file.is_file())
        return sorted(file.relative_to(self._folder).as_posix() for file in files)

    def remove(self, name: str) -> None:
        """See `Store`."""
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


class _AddressStore:
    def __init__(self, address: str) -> None:
        check_address(address)
        self.place = address.rstrip("/")
        self.folder: Path | None = None
        self._files, root = opened(self.place)
        self._root = root.rstrip("/")

    def read(self, name: str) -> bytes | None:
        with reaching(self._named(name)):
            try:
                content: bytes = self._files.cat_file(self._at(name))
            except FileNotFoundError:
                return None
            return content

    def write(self, name: str, content: bytes) -> None:
        with reaching(self._named(name)):
            self._into(name, lambda building: self._files.pipe_file(building, content))

    def create(self, name: str, content: bytes) -> bool:
        with reaching(self._named(name)):
            if self._files.exists(self._at(name)):
                return False
        self.write(name, content)
        return True

    def put(self, name: str, file: Path) -> None:
        with reaching(self._named(name)):
            self._into(name, lambda building: self._files.put_file(str(file), building))

    def move(self, name: str, to: str) -> None:
        with reaching(self._named(name)):
            self._files.mv(self._at(name), self._at(to))

    def names(self, folder: str) -> list[str]:
        with reaching(self._named(folder)):
            self._files.invalidate_cache()
            names: list[str] = self._files.find(self._at(folder))
        return sorted(PurePosixPath(name).relative_to(self._root).as_posix() for name in names)

    def remove(self, name: str) -> None:
        with reaching(self._named(name)), suppress(FileNotFoundError):
            self._files.rm_file(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _into(self, name: str, write: Callable[[str], object]) -> None:
        place = PurePosixPath(self._at(name))
        building = str(place.with_name(_temporary(place.name)))
        self._files.makedirs(str(place.parent), exist_ok=True)
        write(building)
        self._files.mv(building, str(place))

    def _named(self, name: str) -> str:
        return f"{self.place}/{name}"


def _temporary(name: str) -> str:
    return f".{name}.{uuid.uuid4().hex}{_BUILDING}"


def _refused(what: str, error: OSError, place: str) -> InputError | CannotWrite:
    reason = error.strerror or str(error)
    if is_full(error):
        return CannotWrite(place, reason)
    return InputError(f"cannot be {what}: {reason}", "Check the place and its permissions.", file=place)

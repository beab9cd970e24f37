"""Files beneath a folder that untrusted programs wrote: no link is followed, no device is read, sizes are capped.

Every path is opened by one `openat2` that the kernel keeps beneath the folder, or step by step without following
links where the kernel has no such call.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from misstep_harness.errors import InputError, UnsafePath

LARGEST = 64 << 20
"""Bytes of a file that are read as one."""

DEEPEST = 100
"""Levels of folders that are walked; an open folder is held for each."""

_OPENAT2 = 437
_NO_MAGIC_LINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_NO_SUCH_CALL = (errno.ENOSYS, errno.EPERM)
_SAFE = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY"))
_COPIED = 1 << 26
_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
_NO_LINK = "Put the file or folder itself there."


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def relative(path: str | os.PathLike[str]) -> str:
    """Return a path relative to the workspace's root, `""` for the root itself."""
    text = os.fspath(path)
    parts = PurePosixPath(text).parts
    if text.startswith("/") or ".." in parts or "\0" in text:
        raise UnsafePath(
            f"{text!r} is not a path within the workspace", "Give a path relative to its root, without `..`."
        )
    return "/".join(part for part in parts if part != ".")


def open_beneath(folder: int, path: str, flags: int) -> int:
    """Open a path beneath an open folder without following a link in any part of it."""
    if not path:
        return os.open(".", flags | _SAFE, dir_fd=folder)
    how = _OpenHow(flags | _SAFE, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGIC_LINKS)
    opened = number = -1
    if _libc is not None:
        opened = _libc.syscall(_OPENAT2, folder, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        number = ctypes.get_errno()
    if opened >= 0:
        return opened
    if number in _NO_SUCH_CALL:
        *parents, name = path.split("/")
        at = os.dup(folder)
        try:
            for parent in parents:
                at, before = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | _SAFE, dir_fd=at), at
                os.close(before)
            return os.open(name, flags | _SAFE, dir_fd=at)
        finally:
            os.close(at)
    raise OSError(number, os.strerror(number), path)


@contextmanager
def folder_at(root: Path | int, path: str = "") -> Iterator[int]:
    """Return a folder beneath another, open while the block runs."""
    flags = os.O_RDONLY | os.O_DIRECTORY
    top = os.open(root, flags | os.O_CLOEXEC) if isinstance(root, Path) else os.dup(root)
    try:
        opened = open_beneath(top, path, flags)
    finally:
        os.close(top)
    try:
        yield opened
    finally:
        os.close(opened)


def status(root: Path, path: str) -> os.stat_result | None:
    """Return the status of a path, links not followed; none if nothing is there."""
    parent, _, name = path.rpartition("/")
    try:
        with folder_at(root, parent) as folder:
            return os.stat(name or ".", dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise


def read_file(root: Path, path: str, largest: int = LARGEST) -> bytes:
    """Return the content of a regular file."""
    try:
        with folder_at(root) as folder:
            opened = open_beneath(folder, path, os.O_RDONLY)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise UnsafePath(f"{path!r} is a link, a socket or a pipe and is not read") from None
        raise
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            raise UnsafePath(f"{path!r} is not a regular file")
        content = file.read(largest + 1)
    if len(content) > largest:
        raise UnsafePath(f"{path!r} has more than {largest:,} bytes and is not read")
    return content


def file_of(folder: Path, path: str, largest: int = LARGEST) -> bytes | None:
    """Return the content of a file in a folder that a stranger wrote; none if it has no such file."""
    try:
        return read_file(folder, path, largest)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnsafePath as error:
        raise InputError(error.found, _NO_LINK, file=folder) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "Check its permissions.", file=folder / path) from error


def folder_of(folder: Path, path: str) -> Path | None:
    """Return a folder in a folder that a stranger wrote; none if it has no such folder."""
    there = status(folder, path)
    if there is not None and stat.S_ISLNK(there.st_mode):
        raise InputError(f"{path!r} is a link and is not followed", _NO_LINK, file=folder)
    return folder / path if there is not None and stat.S_ISDIR(there.st_mode) else None


def folders_with(folder: Path, name: str) -> Iterator[Path]:
    """Return the folders in a folder, by name, that have a file of this name; a link to such a folder is refused."""
    for file in sorted(folder.glob(f"*/{name}")):
        if (inner := folder_of(folder, file.parent.name)) is not None:
            yield inner


def without_links(path: Path) -> bool:
    """Return whether no part of a path is a link, so that what it names is where it says."""
    return os.path.realpath(path) == os.path.abspath(path)  # noqa: PTH100 (`absolute` leaves `..` in it)


def inside(folder: Path, path: str) -> Path:
    """Return a path of a folder that a stranger wrote, where it leads to something in that folder, by links too."""
    try:
        real, root = os.path.realpath(folder / path), os.path.realpath(folder)
    except ValueError as error:  # a NUL, half a surrogate pair
        raise InputError(f"{path!r} is not a path: {error}", "Name a file in the folder.", file=folder) from error
    if not Path(real).is_relative_to(root):
        raise InputError(f"{path!r} leads out of the folder {root}", "Copy the file into it.", file=folder)
    if os.path.exists(real) and not (os.path.isfile(real) or os.path.isdir(real)):  # noqa: PTH110, PTH112, PTH113
        raise InputError(f"{path!r} is a pipe, a socket or a device", "Put a file there.", file=folder)
    return folder / path


def write_file(folder: int, name: str, content: bytes, mode: int, owner: int | None) -> None:
    """Write a file into an open folder in one step; a former one, a link too, is replaced and never followed."""
    draft = f".misstep-{os.getpid()}-{os.urandom(6).hex()}"
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600, dir_fd=folder)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(content)
            _own(opened, mode, owner)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        raise


def _own(opened: int, mode: int, owner: int | None) -> None:
    if owner is not None:
        os.fchown(opened, owner, owner)
    os.fchmod(opened, mode & 0o777)


def make_folder(parent: int, name: str, mode: int, owner: int | None) -> None:
    """Make a folder in an open folder."""
    os.mkdir(name, 0o700, dir_fd=parent)
    opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _SAFE, dir_fd=parent)
    try:
        _own(opened, mode | 0o700, owner)
    finally:
        os.close(opened)


def make_folders(root: Path, path: str, owner: int | None) -> None:
    """Make a folder beneath a root, and those above it, as far as nothing is there."""
    if path and status(root, path) is None:
        parent, _, name = path.rpartition("/")
        make_folders(root, parent, owner)
        with folder_at(root, parent) as into:
            make_folder(into, name, 0o755, owner)


def copy_file(source: tuple[int, str], target: tuple[int, str], owner: int | None) -> bool:
    """Copy a regular file from one open folder into another with mode and time; false where it is none (any more)."""
    read = os.open(source[1], os.O_RDONLY | _SAFE, dir_fd=source[0])
    try:
        status = os.fstat(read)
        if not stat.S_ISREG(status.st_mode):
            return False
        write = os.open(target[1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600, dir_fd=target[0])
        try:
            with suppress(OSError):  # between two file systems; where one has clones, this makes one
                while os.copy_file_range(read, write, _COPIED):
                    pass
            while os.sendfile(write, read, None, _COPIED):
                pass
            _own(write, status.st_mode, owner)
            os.utime(write, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(write)
    finally:
        os.close(read)
    return True


def make_link(folder: int, name: str, target: str, owner: int | None) -> None:
    """Make a symbolic link in an open folder."""
    os.symlink(target, name, dir_fd=folder)
    if owner is not None:
        os.chown(name, owner, owner, dir_fd=folder, follow_symlinks=False)


def make_special(folder: int, name: str, mode: int, owner: int | None) -> None:
    """Make a pipe or a socket in an open folder."""
    os.mknod(name, stat.S_IFMT(mode) | stat.S_IMODE(mode) & 0o777, dir_fd=folder)
    if owner is not None:
        os.chown(name, owner, owner, dir_fd=folder, follow_symlinks=False)


def change_mode(parent: int, name: str, mode: int) -> None:
    """Change the permissions of a file or folder; a link is refused."""
    opened = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        if not stat.S_ISLNK(os.fstat(opened).st_mode):
            Path(f"/proc/self/fd/{opened}").chmod(stat.S_IMODE(mode))
    finally:
        os.close(opened)


def remove_tree(folder: int, name: str) -> None:
    """Remove whatever has this name in an open folder, if anything has; links are removed, not followed."""
    too_deep: list[str] = [name]
    while too_deep:
        _remove(folder, too_deep.pop(), (folder, too_deep), DEEPEST)


def _remove(folder: int, name: str, top: tuple[int, list[str]], levels: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        change_mode(folder, name, 0o700)
    else:
        return
    if not levels:  # what is nested too deeply is moved up and removed from there
        moved = f".misstep-{os.urandom(8).hex()}"
        os.rename(name, moved, src_dir_fd=folder, dst_dir_fd=top[0])
        top[1].append(moved)
        return
    with folder_at(folder, name) as inner:
        for entry in os.listdir(inner):  # noqa: PTH208 (an open folder)
            _remove(inner, entry, top, levels - 1)
    os.rmdir(name, dir_fd=folder)

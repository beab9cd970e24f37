"""Walking and copying whole trees that untrusted programs wrote."""

import math
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.errors import UnsafePath

SMALLEST = 4096
"""Bytes that a file counts as at least, so that many empty ones fill a limit as well."""


class FoundTree(Struct, frozen=True):
    """An entry of a tree: its path, what it is, and the open folder that it is in while it is walked."""

    path: str
    name: str
    folder: int
    status: os.stat_result


_LONGEST = 4_000
"""Bytes of a path that the system still takes as one, with something before it."""


def within_reach(path: str) -> bool:
    """Return whether a path can be opened by its name: it is not too long, and not nested too deeply."""
    return path.count("/") < beneath.DEEPEST - 1 and len(os.fsencode(path)) < _LONGEST


def walk(root: Path, *, all_of_it: bool = True) -> Iterator[FoundTree]:
    """Everything beneath a folder, each folder before what is in it; links are not followed."""
    with beneath.folder_at(root) as top:
        yield from _walk(top, "", beneath.DEEPEST, all_of_it=all_of_it)


def _walk(folder: int, prefix: str, levels: int, *, all_of_it: bool) -> Iterator[FoundTree]:
    for name in sorted(os.listdir(folder)):
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:  # a program is at work here
            continue
        if not all_of_it and not within_reach(prefix + name):
            continue
        yield FoundTree(prefix + name, name, folder, status)
        if not stat.S_ISDIR(status.st_mode):
            continue
        if not levels:
            raise UnsafePath(f"the folders of {prefix.partition('/')[0]!r} are nested too deeply")
        with suppress(FileNotFoundError, NotADirectoryError), beneath.folder_at(folder, name) as inner:
            yield from _walk(inner, f"{prefix}{name}/", levels - 1, all_of_it=all_of_it)


def regular_files(root: Path) -> Iterator[str]:
    """Return the paths of the regular files beneath a folder; no link is followed."""
    return (entry.path for entry in walk(root) if stat.S_ISREG(entry.status.st_mode))


def copy_tree(source: Path, target: Path, owner: int | None) -> int:
    """Copy folders, files, links, pipes and sockets into an empty folder; devices are left out."""
    total = 0
    for entry in walk(source):
        parent = entry.path.rpartition("/")[0]
        with beneath.folder_at(target, parent) as into:
            total += copy_entry(entry, into, owner)
    return total


def copy_entry(entry: FoundTree, into: int, owner: int | None) -> int:
    """Copy one entry of a walk into an open folder, without what is in it; gives the bytes that it counts as."""
    mode = entry.status.st_mode
    if stat.S_ISDIR(mode):
        beneath.make_folder(into, entry.name, mode, owner)
    elif stat.S_ISLNK(mode):
        beneath.make_link(into, entry.name, os.readlink(entry.name, dir_fd=entry.folder), owner)
    elif stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        beneath.make_special(into, entry.name, mode, owner)
    elif not stat.S_ISREG(mode) or not beneath.copy_file((entry.folder, entry.name), (into, entry.name), owner):
        return 0
    return size(entry.status)


def size(status: os.stat_result) -> int:
    """Return the bytes on the disk that a file counts as."""
    return max(status.st_blocks * 512, SMALLEST)


def open_up(root: Path) -> dict[str, int]:
    """Let the owner read every file and list every folder of a tree that programs wrote."""
    closed: dict[str, int] = {}
    mode = stat.S_IMODE(root.stat().st_mode)
    if mode & 0o700 != 0o700:
        closed[""] = mode
        root.chmod(mode | 0o700)
    with beneath.folder_at(root) as top:
        _open_up(top, "", closed, beneath.DEEPEST)
    return closed


def _open_up(folder: int, prefix: str, closed: dict[str, int], levels: int) -> None:
    for name in os.listdir(folder):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        is_folder = stat.S_ISDIR(status.st_mode)
        needed = 0o700 if is_folder else 0o400
        if (is_folder or stat.S_ISREG(status.st_mode)) and status.st_mode & needed != needed:
            closed[prefix + name] = stat.S_IMODE(status.st_mode)
            beneath.change_mode(folder, name, status.st_mode | needed)
        if is_folder and levels:
            with beneath.folder_at(folder, name) as inner:
                _open_up(inner, f"{prefix}{name}/", closed, levels - 1)


def set_modes(root: Path, modes: Mapping[str, int]) -> None:
    """Give files and folders their modes, setuid bits and all, contents before their folder; `""` is the root."""
    for path in sorted(modes, reverse=True):
        parent, _, name = path.rpartition("/")
        if not path:
            root.chmod(stat.S_IMODE(modes[path]))
            continue
        with suppress(FileNotFoundError), beneath.folder_at(root, parent) as folder:
            beneath.change_mode(folder, name, modes[path])


def bytes_beneath(root: Path) -> float:
    """What a tree counts as on the disk, also while programs change it; infinite where it is nested too deeply."""
    with beneath.folder_at(root) as top:
        return _bytes(top, beneath.DEEPEST)


def _bytes(folder: int, levels: int) -> float:
    if not levels:
        return math.inf
    total = 0.0
    for name in os.listdir(folder):
        with suppress(OSError):  # it has just gone, or become something else: it is counted the next time
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            total += size(status)
            if stat.S_ISDIR(status.st_mode):
                with _listed(folder, name, status.st_mode) as inner:
                    total += _bytes(inner, levels - 1)
    return total


@contextmanager
def _listed(parent: int, name: str, mode: int) -> Iterator[int]:
    """Return a folder, open; one that its owner has closed is opened for a moment."""
    closed = mode & 0o500 != 0o500 and os.geteuid() != 0
    if closed:
        beneath.change_mode(parent, name, mode | 0o500)
    try:
        with beneath.folder_at(parent, name) as inner:
            if closed:
                os.fchmod(inner, stat.S_IMODE(mode))
                closed = False
            yield inner
    finally:
        if closed:
            beneath.change_mode(parent, name, mode)

"""What is at a path of a tree or of a snapshot: a regular file or a symbolic link, with its content."""

import os
import stat
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.errors import UnsafePath

GIT = ".git"
"""The folder of the repository itself, which is not part of the project's files."""


class Node(Struct, frozen=True):
    """A regular file or a link: what it is, and the folder and path where its content is."""

    kind: Literal["file", "link"]
    mode: int
    size: int
    root: Path
    path: str

    @property
    def executable(self) -> bool:
        """Return whether its owner may run it."""
        return self.kind == "file" and bool(self.mode & 0o100)

    def content(self, largest: int = beneath.LARGEST) -> bytes:
        """Return the bytes of a file, or the target of a link."""
        if self.kind == "file":
            return beneath.read_file(self.root, self.path, largest)
        parent, _, name = self.path.rpartition("/")
        with beneath.folder_at(self.root, parent) as folder:
            return os.fsencode(os.readlink(name, dir_fd=folder))


def node_at(root: Path, path: str, status: os.stat_result) -> Node | None:
    """Return the node of a status; none for folders, devices, sockets and pipes."""
    if stat.S_ISREG(status.st_mode):
        return Node("file", stat.S_IMODE(status.st_mode), status.st_size, root, path)
    if stat.S_ISLNK(status.st_mode):
        return Node("link", 0o777, status.st_size, root, path)
    return None


def same(one: Node | None, other: Node | None) -> bool:
    """Return whether two nodes are alike to whoever reads them: kind, content, and whether they may be run."""
    if one is None or other is None:
        return one is other
    if (one.kind, one.executable, one.size) != (other.kind, other.executable, other.size):
        return False
    if (one.root, one.path) == (other.root, other.path):
        return True
    return one.content(one.size) == other.content(other.size)


def not_a_folder(path: str) -> UnsafePath:
    """Return the error of a path that goes through something other than a folder."""
    return UnsafePath(f"{path!r} is not a folder but a file or a link", "Remove it first.")


class Snapshot(Struct, frozen=True):
    """The files of a workspace as they were; only the workspace that took it can restore it."""

    owner: int
    number: int


class TreeEntry(Struct, frozen=True):
    """Something in a tree or a snapshot: its path, its kind and full mode, and where the content is."""

    path: str
    mode: int
    node: Node | None

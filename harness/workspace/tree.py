"""What a workspace asks of the tree that keeps its files and snapshots: overlays and copies answer alike."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from misstep.harness.workspace.nodes import Node
from misstep.harness.workspace.sandbox import Mounts

GIT = ".git"
"""The folder of the repository itself, which is not part of the project's files."""


class Snapshot(Struct, frozen=True):
    """The files of a workspace as they were; only the workspace that took it can restore it."""

    owner: int
    number: int


class TreeEntry(Struct, frozen=True):
    """Something that is in a tree: its path, the folder that it is in, its kind and mode as of a status.

    `node` is its content, where it has one.
    """

    path: str
    root: Path
    mode: int
    node: Node | None


class Tree(Protocol):
    """The files of a workspace now and at each snapshot."""

    def mounts(self, read_only: tuple[Path, ...]) -> Mounts:
        """Return what a sandbox needs to show the files and take writes."""

    def node(self, path: str) -> Node | None:
        """Return what stands at a path now."""

    def is_folder(self, path: str) -> bool:
        """Return whether a folder stands at a path now."""

    def files(self) -> Iterator[str]:
        """Return the paths of all regular files, in no order."""

    def entries(self) -> Iterator[TreeEntry]:
        """Everything beneath the root that is within reach (`trees.within_reach`), each folder before its content."""

    def write(self, path: str, content: bytes) -> None:
        """Write a file; its folders are made."""

    def remove(self, path: str) -> None:
        """Remove the file or link at a path."""

    def take(self) -> int:
        """Keep the files as they are; gives the snapshot's number."""

    def restore(self, number: int) -> None:
        """Make the files what they were."""

    def may_differ(self, number: int) -> Iterable[str]:
        """Paths among which are all whose node differs between a snapshot and now."""

    def node_then(self, number: int, path: str) -> Node | None:
        """Return what stood at a path when a snapshot was taken."""

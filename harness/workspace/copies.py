"""Snapshots as copies, where the kernel lays no layers: a file is copied once for each of its contents.

A file counts as unchanged while its inode, size and times are what they were when its content was last known; the time
of an inode's change cannot be set by a program. What has changed only a moment ago is copied again, as two changes
may have one time.
"""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from misstep.harness import beneath
from misstep.harness.workspace.nodes import Node, TreeEntry, node_at, not_a_folder
from misstep.harness.workspace.sandbox import Mounts
from misstep.harness.workspace.trees import FoundTree, bytes_beneath, copy_tree, regular_files, walk

_MOMENT_NS = 20_000_000
_Signature = tuple[int, int, int, int]


class _Entry(Struct, frozen=True):
    mode: int
    node: Node | None


class CopiedTree:
    """The files of a workspace as a copy of the base, and snapshots as tables of contents.

    - `base`: The folder that is copied; it must not change as long as the workspace is open.
    - `owner`: The user who runs commands, where that is not the one of this process.
    """

    def __init__(self, base: Path, folder: Path, owner: int | None) -> None:
        self._live, self._store, self._owner = folder / "files", folder / "kept", owner
        self._live.mkdir()
        self._store.mkdir(0o700)
        copy_tree(base, self._live, owner)
        if owner is not None:
            os.chown(self._live, owner, owner)
        self._live.chmod(stat.S_IMODE(base.stat().st_mode) | 0o700)
        self._bytes = int(bytes_beneath(self._live))
        self._snapshots: list[dict[str, _Entry]] = []
        self._count = 0
        self._known: dict[_Signature, tuple[Path, str]] = {}
        for entry in walk(self._live):
            self._know(entry.status, base, entry.path)

    def _know(self, status: os.stat_result, root: Path, path: str) -> None:
        if stat.S_ISREG(status.st_mode) and time.time_ns() - status.st_ctime_ns > _MOMENT_NS:
            self._known[_signature(status)] = (root, path)

    def mounts(self, read_only: tuple[Path, ...]) -> Mounts:
        """Return what a sandbox needs: the one folder with all files."""
        return Mounts(self._live, read_only=read_only, allowance=self._bytes)

    def node(self, path: str) -> Node | None:
        """Return the node at a path now."""
        status = beneath.status(self._live, path)
        return None if status is None else node_at(self._live, path, status)

    def is_folder(self, path: str) -> bool:
        """Return whether a folder is at a path now."""
        status = beneath.status(self._live, path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def files(self) -> Iterator[str]:
        """Return the paths of all regular files."""
        return regular_files(self._live)

    def entries(self) -> Iterator[TreeEntry]:
        """Everything beneath the root that is within reach, each folder before what is in it."""
        live = self._live
        for entry in walk(live, all_of_it=False):
            yield TreeEntry(entry.path, live, entry.status.st_mode, node_at(live, entry.path, entry.status))

    def write(self, path: str, content: bytes) -> None:
        """Write a file; a former one is replaced."""
        parent, _, name = path.rpartition("/")
        there = self.node(path)
        self._make_folders(parent)
        with beneath.folder_at(self._live, parent) as folder:
            beneath.write_file(folder, name, content, 0o644 if there is None else there.mode, self._owner)

    def _make_folders(self, path: str) -> None:
        if not path:
            return
        parent, _, name = path.rpartition("/")
        self._make_folders(parent)
        status = beneath.status(self._live, path)
        if status is None:
            with beneath.folder_at(self._live, parent) as folder:
                beneath.make_folder(folder, name, 0o755, self._owner)
        elif not stat.S_ISDIR(status.st_mode):
            raise not_a_folder(path)

    def remove(self, path: str) -> None:
        """Remove a file or link."""
        parent, _, name = path.rpartition("/")
        with beneath.folder_at(self._live, parent) as folder:
            os.unlink(name, dir_fd=folder)

    def take(self) -> int:
        """Keep a copy of each content that is not yet known."""
        entries = {tree_entry.path: self._kept_entry(self._separated(tree_entry)) for tree_entry in walk(self._live)}
        self._snapshots.append({path: entry for path, entry in entries.items() if entry is not None})
        return len(self._snapshots) - 1

    def _separated(self, entry: FoundTree) -> FoundTree:
        if entry.status.st_nlink < 2 or not stat.S_ISREG(entry.status.st_mode):
            return entry
        draft = f".misstep-{os.getpid()}-{os.urandom(6).hex()}"
        beneath.copy_file((entry.folder, entry.name), (entry.folder, draft), self._owner)
        os.replace(draft, entry.name, src_dir_fd=entry.folder, dst_dir_fd=entry.folder)
        status = os.stat(entry.name, dir_fd=entry.folder, follow_symlinks=False)
        return FoundTree(entry.path, entry.name, entry.folder, status)

    def _kept_entry(self, entry: FoundTree) -> _Entry | None:
        mode = stat.S_IMODE(entry.status.st_mode)
        if any(kind(entry.status.st_mode) for kind in (stat.S_ISDIR, stat.S_ISFIFO, stat.S_ISSOCK)):
            return _Entry(entry.status.st_mode, None)
        node = node_at(self._live, entry.path, entry.status)
        if node is None:
            return None
        known = self._known.get(_signature(entry.status))
        if known is None:
            self._count += 1
            name = str(self._count)
            with beneath.folder_at(self._store) as storage:
                if node.kind == "link":
                    os.symlink(os.readlink(entry.name, dir_fd=entry.folder), name, dir_fd=storage)
                else:
                    beneath.copy_file((entry.folder, entry.name), (storage, name), None)
            known = (self._store, name)
            self._know(entry.status, *known)
        return _Entry(mode, Node(node.kind, node.mode, node.size, *known))

    def restore(self, number: int) -> None:
        """Remove what a snapshot does not have, and put back what has changed since."""
        entries, right, gone = self._snapshots[number], set[str](), set[str]()
        for path, status in list(_statuses(self._live)):
            parent, _, name = path.rpartition("/")
            entry = entries.get(path)
            if parent not in gone and entry is not None and self._is(status, entry):
                right.add(path)
                continue
            gone.add(path)
            if parent not in gone:
                with beneath.folder_at(self._live, parent) as folder:
                    beneath.remove_tree(folder, name)
        for path, entry in entries.items():
            if path not in right:
                self._put_back(path, entry)

    def _is(self, status: os.stat_result, entry: _Entry) -> bool:
        if entry.node is None:
            return stat.S_IFMT(status.st_mode) == stat.S_IFMT(entry.mode)
        return self._known.get(_signature(status)) == (entry.node.root, entry.node.path)

    def _put_back(self, path: str, entry: _Entry) -> None:
        parent, _, name = path.rpartition("/")
        with beneath.folder_at(self._live, parent) as folder:
            if entry.node is None and not stat.S_ISDIR(entry.mode):
                beneath.make_special(folder, name, entry.mode, self._owner)
            elif entry.node is None:
                beneath.make_folder(folder, name, entry.mode, self._owner)
            elif entry.node.kind == "link":
                beneath.make_link(folder, name, os.fsdecode(entry.node.content()), self._owner)
            else:
                above, _, original = entry.node.path.rpartition("/")
                with beneath.folder_at(entry.node.root, above) as source:
                    beneath.copy_file((source, original), (folder, name), self._owner)

    def may_differ(self, number: int) -> Iterator[str]:
        """Return every path whose content is not known to be the snapshot's."""
        entries, changed = self._snapshots[number], set[str]()
        for path, status in _statuses(self._live):
            changed.add(path)
            entry = entries.get(path)
            if entry is None or not self._is(status, entry):
                yield path
        yield from (path for path in entries if path not in changed)

    def node_then(self, number: int, path: str) -> Node | None:
        """Return the entry at a path when a snapshot was taken."""
        entry = self._snapshots[number].get(path)
        return None if entry is None else entry.node


def _statuses(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    return ((entry.path, entry.status) for entry in walk(root))


def _signature(status: os.stat_result) -> _Signature:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

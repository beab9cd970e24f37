"""Snapshots as copies (clones where the file system has them): a file is copied once for each of its contents.

A file counts as unchanged while its inode, size and times are what they were when its content was last known; the time
of an inode's change cannot be set by a program. What has changed only a moment ago is copied again, as two changes
may have one time.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from misstep_harness import beneath
from misstep_harness.workspace.nodes import Node, TreeEntry, node_at, not_a_folder
from misstep_harness.workspace.sandbox import Mounts
from misstep_harness.workspace.trees import FoundTree, bytes_beneath, copy_tree, regular_files, set_modes, walk

_MOMENT_NS = 20_000_000
_Signature = tuple[int, int, int, int]


class CopiedTree:
    """The files of a workspace as a copy of the base, and snapshots as tables of contents.

    A snapshot holds what can be opened by its name; the rest is removed when it is restored.

    - `base`: The folder that is copied; it must not change as long as the workspace is open.
    - `owner`: The user who runs commands, where that is not the one of this process.
    """

    def __init__(self, base: Path, folder: Path, owner: int | None) -> None:
        self.root, self._store, self._owner = folder / "files", folder / "kept", owner
        folder.mkdir()
        folder.chmod(0o711)
        self.root.mkdir()
        self._store.mkdir(0o700)
        copy_tree(base, self.root, owner)
        if owner is not None:
            os.chown(self.root, owner, owner)
        self.root.chmod(stat.S_IMODE(base.stat().st_mode) | 0o700)
        self._bytes = int(bytes_beneath(self.root))
        self._snapshots: list[Mapping[str, TreeEntry]] = []
        self._count = 0
        self._known: dict[_Signature, tuple[Path, str]] = {}
        for entry in walk(self.root):
            self._know(entry.status, base, entry.path)

    def _know(self, status: os.stat_result, root: Path, path: str) -> None:
        if stat.S_ISREG(status.st_mode) and time.time_ns() - status.st_ctime_ns > _MOMENT_NS:
            self._known[_signature(status)] = (root, path)

    def mounts(self, read_only: tuple[Path, ...]) -> Mounts:
        """Return what a sandbox needs: the one folder with all files."""
        return Mounts(self.root, read_only, allowance=self._bytes)

    def node(self, path: str) -> Node | None:
        """Return the node at a path now."""
        status = beneath.status(self.root, path)
        return None if status is None else node_at(self.root, path, status)

    def is_folder(self, path: str) -> bool:
        """Return whether a folder is at a path now."""
        status = beneath.status(self.root, path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def files(self) -> Iterator[str]:
        """Return the paths of all regular files."""
        return regular_files(self.root)

    def entries(self) -> Iterator[TreeEntry]:
        """Yield the root (`""`) and everything beneath it that is within reach, each folder before what is in it."""
        yield TreeEntry("", self.root.stat().st_mode, None)
        for found in walk(self.root, all_of_it=False):
            yield TreeEntry(found.path, found.status.st_mode, node_at(self.root, found.path, found.status))

    def write(self, path: str, content: bytes) -> None:
        """Write a file; a former one is replaced."""
        parent, _, name = path.rpartition("/")
        there = self.node(path)
        self._make_folders(parent)
        with beneath.folder_at(self.root, parent) as folder:
            beneath.write_file(folder, name, content, 0o644 if there is None else there.mode, self._owner)

    def _make_folders(self, path: str) -> None:
        if not path:
            return
        parent, _, name = path.rpartition("/")
        self._make_folders(parent)
        status = beneath.status(self.root, path)
        if status is None:
            with beneath.folder_at(self.root, parent) as folder:
                beneath.make_folder(folder, name, 0o755, self._owner)
        elif not stat.S_ISDIR(status.st_mode):
            raise not_a_folder(path)

    def remove(self, path: str) -> None:
        """Remove a file or link."""
        parent, _, name = path.rpartition("/")
        with beneath.folder_at(self.root, parent) as folder:
            os.unlink(name, dir_fd=folder)

    def take(self) -> int:
        """Keep a copy of each content within reach that is not yet known."""
        root = TreeEntry("", self.root.stat().st_mode, None)
        entries = [self._entry(self._separated(found)) for found in walk(self.root, all_of_it=False)]
        self._snapshots.append({entry.path: entry for entry in (root, *entries) if entry is not None})
        return len(self._snapshots) - 1

    def _separated(self, entry: FoundTree) -> FoundTree:
        if entry.status.st_nlink < 2 or not stat.S_ISREG(entry.status.st_mode):
            return entry
        draft = f".misstep-{os.getpid()}-{os.urandom(6).hex()}"
        beneath.copy_file((entry.folder, entry.name), (entry.folder, draft), self._owner)
        os.replace(draft, entry.name, src_dir_fd=entry.folder, dst_dir_fd=entry.folder)
        status = os.stat(entry.name, dir_fd=entry.folder, follow_symlinks=False)
        return FoundTree(entry.path, entry.name, entry.folder, status)

    def _entry(self, found: FoundTree) -> TreeEntry | None:
        mode = found.status.st_mode
        if any(kind(mode) for kind in (stat.S_ISDIR, stat.S_ISFIFO, stat.S_ISSOCK)):
            return TreeEntry(found.path, mode, None)
        node = node_at(self.root, found.path, found.status)
        if node is None:
            return None
        known = self._known.get(_signature(found.status))
        if known is None:
            self._count += 1
            name = str(self._count)
            with beneath.folder_at(self._store) as storage:
                if node.kind == "link":
                    os.symlink(os.readlink(found.name, dir_fd=found.folder), name, dir_fd=storage)
                else:
                    beneath.copy_file((found.folder, found.name), (storage, name), None)
            known = (self._store, name)
            self._know(found.status, *known)
        return TreeEntry(found.path, mode, Node(node.kind, node.mode, node.size, *known))

    def restore(self, number: int) -> None:
        """Make the files those of a snapshot."""
        self.lay_out(self._snapshots[number])

    def lay_out(self, entries: Mapping[str, TreeEntry]) -> None:
        """Remove what is not among the entries, and put back what is missing or changed; folders come first."""
        right: set[str] = set()
        for found in walk(self.root):
            entry = entries.get(found.path)
            if entry is None or not self._is(found.status, entry):
                beneath.remove_tree(found.folder, found.name)
                continue
            right.add(found.path)
            if stat.S_ISDIR(entry.mode) and found.status.st_mode & 0o700 != 0o700:
                beneath.change_mode(found.folder, found.name, found.status.st_mode | 0o700)
        for path, entry in entries.items():
            if path and path not in right:
                self._put_back(path, entry)
        modes = {path: entry.mode for path, entry in entries.items() if path not in right or stat.S_ISDIR(entry.mode)}
        set_modes(self.root, modes)

    def _is(self, status: os.stat_result, entry: TreeEntry) -> bool:
        if entry.node is not None:
            return self._known.get(_signature(status)) == (entry.node.root, entry.node.path)
        return status.st_mode == entry.mode or (stat.S_ISDIR(status.st_mode) and stat.S_ISDIR(entry.mode))

    def _put_back(self, path: str, entry: TreeEntry) -> None:
        parent, _, name = path.rpartition("/")
        with beneath.folder_at(self.root, parent) as folder:
            if stat.S_ISDIR(entry.mode):
                beneath.make_folder(folder, name, entry.mode, self._owner)
            elif entry.node is None:
                beneath.make_special(folder, name, entry.mode, self._owner)
            elif stat.S_ISLNK(entry.mode):
                beneath.make_link(folder, name, os.fsdecode(entry.node.content()), self._owner)
            else:
                above, _, original = entry.node.path.rpartition("/")
                with beneath.folder_at(entry.node.root, above) as source:
                    beneath.copy_file((source, original), (folder, name), self._owner)

    def may_differ(self, number: int) -> Iterator[str]:
        """Return every path whose content is not known to be the snapshot's."""
        entries, present = self._snapshots[number], {""}
        for found in walk(self.root):
            present.add(found.path)
            entry = entries.get(found.path)
            if entry is None or not self._is(found.status, entry):
                yield found.path
        yield from (path for path in entries if path not in present)

    def node_then(self, number: int, path: str) -> Node | None:
        """Return the entry at a path when a snapshot was taken."""
        entry = self._snapshots[number].get(path)
        return None if entry is None else entry.node


def _signature(status: os.stat_result) -> _Signature:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

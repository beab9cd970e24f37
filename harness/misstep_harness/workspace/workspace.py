"""A tree of files in which commands run sandboxed, with snapshots that no command reaches.

Snapshots as copies (clones where the file system has them): a file is copied once for each of its contents.

A file counts as unchanged while its inode, size and times are what they were when its content was last known; the time
of an inode's change cannot be set by a program. What has changed only a moment ago is copied again, as two changes
may have one time.
"""

import itertools
import os
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self, TypeVar

from msgspec.structs import replace

from misstep_harness import beneath
from misstep_harness.errors import InputError, UnsafePath
from misstep_harness.workspace.differences import file_diff
from misstep_harness.workspace.nodes import GIT, Node, Snapshot, TreeEntry, node_at, not_a_folder, same
from misstep_harness.workspace.sandbox import NO_VARIABLES, Checkout, Finished, Limits, Mounts, Sandbox
from misstep_harness.workspace.trees import FoundTree, bytes_beneath, copy_tree, open_up, regular_files, set_modes, walk

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


_PREFIX = "misstep-"
_LOCK = "lock"
_numbers = itertools.count(1)
_locks: dict[Path, int] = {}
_Result = TypeVar("_Result")


class Workspace:
    """A copy of a folder to work in, thrown away at the end of a `with` block.

    The folder is never written to and must not change while the workspace is open. Paths are relative to its root. One
    thing is done at a time: calls from several threads wait for each other. `checkout` is the project that the folder
    is a tree of; what is installed in it is shown read-only. With `inside` the folder is a whole root file system,
    whose files the sandbox's user owns, and commands run in that folder of it.
    """

    def __init__(
        self,
        base: Path,
        *,
        sandbox: Sandbox,
        read_only: Sequence[Path] = (),
        environment: Mapping[str, str] = NO_VARIABLES,
        checkout: Checkout | None = None,
        inside: str = "",
    ) -> None:
        if not base.is_dir():
            raise InputError("is not a folder", "Give the folder whose files are to be worked on.", file=base)
        _remove_left_over()
        base = base.resolve()
        self.sandbox = sandbox
        self._checkout = _of_tree(checkout, base)
        self._read_only, self._environment = tuple(read_only), dict(environment)
        self._lock = threading.RLock()
        self._number, self._inside = next(_numbers), inside
        self.folder = own_folder()
        self._end = weakref.finalize(self, remove_own, self.folder)
        try:
            self._tree = CopiedTree(base, self.folder / "tree", sandbox.owner)
        except BaseException:
            self.discard()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def run(
        self, command: Sequence[str], *, limits: Limits | None = None, environment: Mapping[str, str] = NO_VARIABLES
    ) -> Finished:
        """Run a command in the root of the workspace to its end."""
        with self._lock:
            mounts = replace(self._tree.mounts(self._read_only), checkout=self._checkout, inside=self._inside)
            variables = {**self._environment, **environment}
            return self.sandbox.run(command, mounts, limits=limits or Limits(), environment=variables)

    def read(self, path: str) -> bytes:
        """Return the content of a regular file."""
        name = _file_name(path)
        with self._lock:
            node = self._settled(lambda: self._tree.node(name))
            if node is None and self._tree.is_folder(name):
                raise UnsafePath(f"{path!r} is a folder")
            if node is None:
                raise FileNotFoundError(f"no file {path!r} in the workspace")
            if node.kind != "file":
                raise UnsafePath(f"{path!r} is a link and is not followed")
            return self._settled(node.content)

    def write(self, path: str, data: bytes) -> None:
        """Write a file and the folders that it needs; a link at the path is replaced."""
        name = _file_name(path)
        with self._lock:
            if self._settled(lambda: self._tree.is_folder(name)):
                raise UnsafePath(f"{path!r} is a folder")
            self._settled(lambda: self._tree.write(name, data))

    def remove(self, path: str) -> None:
        """Remove a file or a link."""
        name = _file_name(path)
        with self._lock:
            if self._settled(lambda: self._tree.node(name)) is None:
                raise FileNotFoundError(f"no file {path!r} in the workspace")
            self._settled(lambda: self._tree.remove(name))

    def put_files(self, contents: Mapping[str, bytes | None]) -> None:
        """Write files by their paths, and remove those whose content is `None`."""
        for path, data in contents.items():
            if data is not None:
                self.write(path, data)
            elif self.exists(path):
                self.remove(path)

    def exists(self, path: str) -> bool:
        """Return whether a file, a link or a folder is at a path."""
        name = beneath.relative(path)
        with self._lock:
            return self._settled(lambda: self._tree.node(name) is not None or self._tree.is_folder(name))

    def files(self) -> list[str]:
        """Return the paths of all regular files, sorted, without the folder `.git`."""
        with self._lock:
            return sorted(self._settled(lambda: [path for path in self._tree.files() if _is_of_project(path)]))

    @contextmanager
    def entries(self) -> Iterator[tuple[TreeEntry, ...]]:
        """The entries here within reach, the root (`""`) and `.git` too, with full modes; it is read in the block."""
        with self._lock:
            closed = open_up(self._tree.root) if os.geteuid() else {}
            try:
                yield tuple(
                    replace(entry, mode=stat.S_IFMT(entry.mode) | closed.get(entry.path, stat.S_IMODE(entry.mode)))
                    for entry in self._tree.entries()
                )
            finally:
                set_modes(self._tree.root, closed)

    def lay_out(self, entries: Iterable[TreeEntry]) -> None:
        """Make the files those of some entries, whatever is here now."""
        table = {entry.path: entry for entry in entries}
        with self._lock:
            self._settled(lambda: self._tree.lay_out(table))

    def take(self) -> Snapshot:
        """Keep the files as they are."""
        with self._lock:
            return Snapshot(self._number, self._settled(self._tree.take))

    def restore(self, snapshot: Snapshot) -> None:
        """Make the files what they were; may be done again, and after restoring another."""
        with self._lock:
            number = self._own(snapshot)
            self._settled(lambda: self._tree.restore(number))

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Make the files what they were when the block ends."""
        snapshot = self.take()
        try:
            yield
        finally:
            self.restore(snapshot)

    def changed(self, snapshot: Snapshot) -> tuple[str, ...]:
        """Return the files and links that were added, removed or changed since, sorted, without the folder `.git`."""
        with self._lock:
            number = self._own(snapshot)
            then, now = self._tree.node_then, self._tree.node
            paths = self._settled(lambda: sorted(set(filter(_is_of_project, self._tree.may_differ(number)))))
            return self._settled(lambda: tuple(path for path in paths if not same(then(number, path), now(path))))

    def diff(self, snapshot: Snapshot, paths: Collection[str] | None = None) -> str:
        """Return what was changed since (in some paths) as git prints it; of what is not text that it differs."""
        with self._lock:
            number = self._own(snapshot)
            then, now = self._tree.node_then, self._tree.node
            changed = (path for path in self.changed(snapshot) if paths is None or path in paths)
            return "".join(file_diff(path, then(number, path), now(path)) for path in changed)

    def discard(self) -> None:
        """Remove the workspace and its snapshots from the machine."""
        with self._lock:
            self._end()

    def _own(self, snapshot: Snapshot) -> int:
        if snapshot.owner != self._number:
            raise ValueError("this snapshot was taken by another workspace")
        return snapshot.number

    def _settled(self, act: Callable[[], _Result]) -> _Result:
        """Do something; if a program has closed a file or folder to its owner, open it again before."""
        try:
            return act()
        except PermissionError:
            if os.geteuid() == 0:
                raise
            open_up(self._tree.root)
            return act()


open_workspace = Workspace


def _of_tree(checkout: Checkout | None, base: Path) -> Checkout | None:
    if checkout is None:
        return None
    shown = (path for path in checkout.shown if not (base / path).exists() and (base / path).parent.is_dir())
    return replace(checkout, shown=tuple(shown))


def _file_name(path: str) -> str:
    name = beneath.relative(path)
    if not name:
        raise UnsafePath("the root of the workspace is not a file")
    return name


def _is_of_project(path: str) -> bool:
    return path.partition("/")[0] != GIT


def own_folder() -> Path:
    """Return a new temporary folder that is removed by the next run if this process is killed."""
    import fcntl  # Windows has none; what needs no sandbox imports this module there

    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    folder.chmod(0o711)
    draft = folder / f"{_LOCK}.new"
    opened = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(opened, fcntl.LOCK_EX)
    draft.rename(folder / _LOCK)  # it is held from the moment that it can be found
    _locks[folder] = opened
    return folder


def remove_own(folder: Path) -> None:
    """Remove such a folder."""
    with suppress(FileNotFoundError), beneath.folder_at(folder.parent) as parent:
        beneath.remove_tree(parent, folder.name)
    with suppress(KeyError):
        os.close(_locks.pop(folder))


def _remove_left_over() -> None:
    """Remove the folders of processes that were killed: those whose lock nobody holds any more."""
    import fcntl

    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError):
            opened = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(opened).st_uid == os.geteuid():
                    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    with beneath.folder_at(lock.parent.parent) as parent:
                        beneath.remove_tree(parent, lock.parent.name)
            finally:
                os.close(opened)

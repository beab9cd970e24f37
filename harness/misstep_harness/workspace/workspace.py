"""A tree of files in which commands run sandboxed, with snapshots that no command reaches."""

import itertools
import os
import stat
import tempfile
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self, TypeVar

from msgspec.structs import replace

from misstep_harness import beneath
from misstep_harness.errors import InputError, UnsafePath
from misstep_harness.workspace.copies import CopiedTree
from misstep_harness.workspace.differences import file_diff
from misstep_harness.workspace.nodes import GIT, Snapshot, TreeEntry, same
from misstep_harness.workspace.sandbox import NO_VARIABLES, Checkout, Finished, Limits, Sandbox
from misstep_harness.workspace.trees import open_up, set_modes

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

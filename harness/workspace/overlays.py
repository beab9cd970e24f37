"""Snapshots as layers: a snapshot freezes the layer that took the writes, and a new one is laid over it.

Nothing is copied and nothing is mounted on the machine: each sandboxed command mounts the layers for itself. The host
reads them as the kernel would show them: the topmost entry counts, a character device 0/0 hides what is below, and an
opaque folder (`user.overlay.opaque`) hides the folders below it.
Source: the kernel's `Documentation/filesystems/overlayfs.rst`.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from misstep.harness import beneath
from misstep.harness.errors import UnsafePath
from misstep.harness.workspace.nodes import Node, TreeEntry, node_at, not_a_folder
from misstep.harness.workspace.sandbox import Mounts
from misstep.harness.workspace.trees import bytes_beneath, walk, within_reach

Layers = tuple[Path, ...]
"""Folders, the topmost first."""

_OPAQUE = "user.overlay.opaque"
_MOST_LAYERS = 20
"""Layers of a mount; the kernel takes their names on one page."""


class OverlayTree:
    """The files of a workspace as layers over a base that is never written to.

    - `base`: The lowest layer; the user who runs commands must own its files.
    - `owner`: The user who runs commands, where that is not the one of this process.
    """

    def __init__(self, base: Path, folder: Path, owner: int | None) -> None:
        self._folder, self._owner = folder, owner
        self._mode = stat.S_IMODE(base.stat().st_mode) | 0o700
        self._frozen: Layers = (base,)
        self._snapshots: list[Layers] = []
        self._bytes: dict[Path, int] = {base: 0}
        self._count = 0
        self._upper, self._work = self._new("upper"), self._new("work")

    def _new(self, kind: str) -> Path:
        self._count += 1
        path = self._folder / f"{kind}{self._count}"
        path.mkdir()
        if self._owner is not None:
            os.chown(path, self._owner, self._owner)
        path.chmod(self._mode)
        return path

    @property
    def _layers(self) -> Layers:
        return (self._upper, *self._frozen)

    def mounts(self, read_only: tuple[Path, ...]) -> Mounts:
        """Return what a sandbox needs; the kernel empties its own folder for work when it mounts."""
        held = sum(self._bytes[layer] for layer in self._frozen)
        return Mounts(self._upper, self._frozen[::-1], self._work, read_only, -held)

    def node(self, path: str) -> Node | None:
        """Return the node at a path now."""
        return _node(self._layers, path)

    def is_folder(self, path: str) -> bool:
        """Return whether a folder is at a path now."""
        return bool(_showing(self._layers, path))

    def files(self) -> Iterator[str]:
        """Return the paths of all regular files."""
        return (path for path, _, status in merged(self._layers) if stat.S_ISREG(status.st_mode))

    def entries(self) -> Iterator[TreeEntry]:
        """Everything beneath the root that is within reach, each folder before what is in it."""
        for path, root, status in merged(self._layers, all_of_it=False):
            yield TreeEntry(path, root, status.st_mode, node_at(root, path, status))

    def write(self, path: str, content: bytes) -> None:
        """Write a file into the upper layer."""
        parent, _, name = path.rpartition("/")
        there = self.node(path)
        self._make_folders(parent)
        with beneath.folder_at(self._upper, parent) as folder:
            beneath.write_file(folder, name, content, 0o644 if there is None else there.mode, self._owner)

    def remove(self, path: str) -> None:
        """Remove a file or link: from the upper layer, and by a whiteout from those below."""
        parent, _, name = path.rpartition("/")
        self._make_folders(parent)
        with beneath.folder_at(self._upper, parent) as folder:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            if _find(self._layers, path) is not None:  # not beneath an opaque folder, which would list the whiteout
                os.mknod(name, stat.S_IFCHR | 0o600, 0, dir_fd=folder)

    def _make_folders(self, path: str) -> None:
        if not path:
            return
        self._make_folders(path.rpartition("/")[0])
        there = beneath.status(self._upper, path)
        if there is not None and stat.S_ISDIR(there.st_mode):
            return
        shown = _find(self._layers, path)
        if shown is not None and not stat.S_ISDIR(shown[1].st_mode):
            raise not_a_folder(path)
        parent, _, name = path.rpartition("/")
        with beneath.folder_at(self._upper, parent) as folder:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            mode = 0o755 if shown is None else stat.S_IMODE(shown[1].st_mode)
            beneath.make_folder(folder, name, mode, self._owner)
            if shown is None:  # nothing of a folder that was removed may show through
                _make_opaque(folder, name)

    def take(self) -> int:
        """Freeze the upper layer, unless nothing is in it."""
        if any(self._upper.iterdir()):
            self._bytes[self._upper] = int(min(bytes_beneath(self._upper), 1 << 62))
            self._frozen, self._upper = self._layers, self._new("upper")
            if len(self._frozen) > _MOST_LAYERS:
                self._frozen = self._merged_into_one()
        self._snapshots.append(self._frozen)
        return len(self._snapshots) - 1

    def _merged_into_one(self) -> Layers:
        *layers, base = self._frozen
        one = self._new("merged")
        for path, root, status in merged(tuple(layers), whiteouts=True):
            parent, _, name = path.rpartition("/")
            with beneath.folder_at(one, parent) as into, beneath.folder_at(root, parent) as source:
                if stat.S_ISDIR(status.st_mode):
                    beneath.make_folder(into, name, status.st_mode, self._owner)
                    if any(_is_opaque(layer, path) for layer in _showing(tuple(layers), path)):
                        _make_opaque(into, name)
                else:  # nothing writes to a frozen file, so that it may have two names
                    os.link(name, name, src_dir_fd=source, dst_dir_fd=into, follow_symlinks=False)
        self._bytes[one] = sum(self._bytes[layer] for layer in layers)
        return (one, base)

    def restore(self, number: int) -> None:
        """Lay a new upper layer over those of a snapshot."""
        if any(self._upper.iterdir()):
            with beneath.folder_at(self._folder) as folder:
                beneath.remove_tree(folder, self._upper.name)
            self._upper = self._new("upper")
        self._frozen = self._snapshots[number]

    def may_differ(self, number: int) -> Iterator[str]:
        """Whatever the layers that only one of the two has say something about."""
        then, now = self._snapshots[number], self._layers
        common = set(then) & set(now)
        whole: set[str] = set()
        for layer in (set(then) | set(now)) - common:
            for entry in walk(layer):
                yield entry.path
                if not stat.S_ISDIR(entry.status.st_mode) or _is_opaque(layer, entry.path):
                    whole.add(entry.path)  # a file or a whiteout may be at the place of a folder
        for path in whole:
            for layers in (then, now):
                yield from (inner for inner, _, _ in merged(layers, path))

    def node_then(self, number: int, path: str) -> Node | None:
        """Return the entry at a path when a snapshot was taken."""
        return _node(self._snapshots[number], path)


def _node(layers: Layers, path: str) -> Node | None:
    shown = _find(layers, path)
    return None if shown is None else node_at(shown[0], path, shown[1])


def _find(layers: Layers, path: str) -> tuple[Path, os.stat_result] | None:
    for layer in _showing(layers, path.rpartition("/")[0]):
        status = beneath.status(layer, path)
        if status is not None:
            return None if _is_whiteout(status) else (layer, status)
    return None


def _showing(layers: Layers, folder: str) -> Layers:
    """Return the layers whose entries a folder shows; none where the path is not a folder."""
    if not folder:
        return layers
    showing: list[Path] = []
    for layer in _showing(layers, folder.rpartition("/")[0]):
        status = beneath.status(layer, folder)
        if status is not None and stat.S_ISDIR(status.st_mode):
            showing.append(layer)
        if status is not None and (not stat.S_ISDIR(status.st_mode) or _is_opaque(layer, folder)):
            break
    return tuple(showing)


def merged(
    layers: Layers, folder: str = "", *, whiteouts: bool = False, all_of_it: bool = True, levels: int = beneath.DEEPEST
) -> Iterator[tuple[str, Path, os.stat_result]]:
    """Path, layer and status of everything that layers show beneath a folder, each folder before what is in it."""
    if not levels:
        raise UnsafePath(f"the folders of {folder.partition('/')[0]!r} are nested too deeply")
    shown: dict[str, tuple[Path, os.stat_result]] = {}
    for layer in _showing(layers, folder):
        with beneath.folder_at(layer, folder) as opened:
            for name in os.listdir(opened):  # noqa: PTH208 (an open folder)
                if name not in shown:
                    shown[name] = (layer, os.stat(name, dir_fd=opened, follow_symlinks=False))
    for name, (layer, status) in sorted(shown.items()):
        path = f"{folder}/{name}" if folder else name
        if not all_of_it and not within_reach(path):
            continue
        if whiteouts or not _is_whiteout(status):
            yield path, layer, status
        if stat.S_ISDIR(status.st_mode):
            yield from merged(layers, path, whiteouts=whiteouts, all_of_it=all_of_it, levels=levels - 1)


def _is_whiteout(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def _is_opaque(layer: Path, path: str) -> bool:
    with suppress(OSError), beneath.folder_at(layer, path) as folder:
        return os.getxattr(folder, _OPAQUE) == b"y"
    return False


def _make_opaque(parent: int, name: str) -> None:
    with beneath.folder_at(parent, name) as folder:
        os.setxattr(folder, _OPAQUE, b"y")

"""Keep snapshots of a workspace that outlive its process: contents by their digest, and a list of the paths.

FOLDER/progress.json        paths with full modes, and the digest of that
FOLDER/objects/3f/9a…       a content, once for all snapshots that have it
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

import msgspec

from misstep_harness.errors import SnapshotDamaged
from misstep_harness.journal.records import replace_file
from misstep_harness.workspace.nodes import Node, TreeEntry
from misstep_harness.workspace.workspace import Workspace

Kind = Literal["file", "link", "folder", "pipe", "socket"]

_KINDS: dict[int, Kind] = {
    stat.S_IFREG: "file",
    stat.S_IFLNK: "link",
    stat.S_IFDIR: "folder",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
}
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entry of a snapshot: the path (percent-encoded), its kind and full mode, and the digest of its content."""

    path: str
    kind: Kind
    mode: int
    content: str = ""

    @property
    def place(self) -> str:
        """Return the path as the system names it."""
        return os.fsdecode(unquote_to_bytes(self.path))


class _Manifest(msgspec.Struct, frozen=True):
    digest: str
    lines: tuple[_Line, ...]


def content_digest(workspace: Workspace) -> str:
    """Return the digest of all paths, kinds, full modes and contents, but not of owners and times."""
    return _digest(tuple(_lines(workspace, _sha256)))


class KeptSnapshots:
    """Snapshots by name in a folder that no command of the workspace reaches."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, name: str, workspace: Workspace) -> str:
        """Keep a workspace as it is under a name, in the place of what had that name, and give its content's digest."""
        file = self._file(name)
        lines = tuple(_lines(workspace, self._store))
        manifest = _Manifest(_digest(lines), lines)
        replace_file(file, msgspec.json.encode(manifest))
        self._remove_unused()
        return manifest.digest

    def digest(self, name: str) -> str | None:
        """Return the digest of a snapshot that was read and checked whole; none if there is none or it is damaged."""
        try:
            manifest = self._manifest(name)
            for content in {line.content for line in manifest.lines if line.content}:
                self._content(content, name)
        except SnapshotDamaged:
            return None
        return manifest.digest

    def restore(self, name: str, workspace: Workspace) -> None:
        """Make a workspace what it was, whatever is there now; all contents are read and checked before."""
        workspace.lay_out([self._entry(line, name) for line in self._manifest(name).lines])

    def _entry(self, line: _Line, name: str) -> TreeEntry:
        form = next(form for form, kind in _KINDS.items() if kind == line.kind)
        if line.kind not in ("file", "link"):
            return TreeEntry(line.place, form | line.mode, None)
        length, path = len(self._content(line.content, name)), self._object(line.content).relative_to(self._folder)
        return TreeEntry(line.place, form | line.mode, Node("file", line.mode, length, self._folder, str(path)))

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name of a snapshot")
        return self._folder / f"{name}.json"

    def _object(self, digest: str) -> Path:
        return self._folder / "objects" / digest[:2] / digest[2:]

    def _store(self, content: bytes) -> str:
        """Keep a content, once; one that is there and damaged is kept again."""
        digest = _sha256(content)
        file = self._object(digest)
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_bytes() != content:
            replace_file(file, content)
        return digest

    def _content(self, digest: str, name: str) -> bytes:
        try:
            content = self._object(digest).read_bytes()
        except OSError as error:
            raise _damaged(self._file(name), f"the content {digest[:12]} cannot be read: {error.strerror}") from error
        if _sha256(content) != digest:
            raise _damaged(self._file(name), f"the content {digest[:12]} is not what was kept")
        return content

    def _manifest(self, name: str) -> _Manifest:
        file = self._file(name)
        try:
            manifest = msgspec.json.decode(file.read_bytes(), type=_Manifest)
        except OSError as error:
            raise _damaged(file, f"cannot be read: {error.strerror}") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise _damaged(file, f"is not a list of files: {error}") from error
        if _digest(manifest.lines) != manifest.digest:
            raise _damaged(file, "the list of files is not what was kept")
        return manifest

    def _remove_unused(self) -> None:
        try:
            manifests = [self._manifest(file.stem) for file in self._folder.glob("*.json")]
        except SnapshotDamaged:
            return
        used = {line.content for manifest in manifests for line in manifest.lines}
        for file in (self._folder / "objects").glob("*/*"):
            if file.parent.name + file.name not in used:
                file.unlink(missing_ok=True)


def _lines(workspace: Workspace, store: Callable[[bytes], str]) -> Iterator[_Line]:
    """Return what is in a workspace, in one order; `store` gives the digest of a content."""
    with workspace.entries() as entries:
        for entry in sorted(entries, key=lambda one: os.fsencode(one.path)):
            kind = _KINDS.get(stat.S_IFMT(entry.mode))
            if kind is not None:
                mode = 0o777 if kind == "link" else stat.S_IMODE(entry.mode)
                content = "" if entry.node is None else store(entry.node.content(entry.node.size))
                yield _Line(quote(os.fsencode(entry.path)), kind, mode, content)


def _digest(lines: tuple[_Line, ...]) -> str:
    return _sha256(msgspec.json.encode(lines))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _damaged(file: Path, damage: str) -> SnapshotDamaged:
    return SnapshotDamaged(f"{file}: {damage}", "Restore another snapshot, or begin in another folder.")

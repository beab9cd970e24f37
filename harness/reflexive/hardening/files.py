"""The files of the target as they are at one moment: a value, never a device."""

import fnmatch
import stat
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Literal, ParamSpec

from msgspec import Struct

from misstep.harness.errors import MisstepError
from misstep.harness.workspace.nodes import TreeEntry
from misstep.harness.workspace.workspace import Workspace

P = ParamSpec("P")

MOST_BYTES = 1 << 18

MOST_BYTES_IN_ALL = 1 << 24
_MOST_LINKS = 16

Kind = Literal["file", "folder", "link", "other"]
_KINDS: Mapping[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


class UnreadableFile(MisstepError):
    """A file of the target that is needed and cannot be read as text; says why."""


class Malformed(UnreadableFile):
    """A file of the target that its program refuses; says where and why."""


def or_why(fault: Callable[P, str]) -> Callable[P, str]:
    """Wrap what looks for a fault: a file that cannot be read is the fault."""

    @wraps(fault)
    def or_fault(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return fault(*args, **kwargs)
        except UnreadableFile as error:
            return error.found

    return or_fault


class TargetEntry(Struct, frozen=True):
    """An entry at a path; `content` is `None` if it is too large to be read."""

    kind: Kind
    mode: int
    content: bytes | None = None


class Files:
    """The files of a target at one moment, by path; `""` is the root."""

    def __init__(self, entries: Mapping[str, TargetEntry]) -> None:
        self.entries = dict(entries)
        self._paths = sorted(self.entries)

    def at(self, path: str) -> TargetEntry | None:
        """Return the entry at a path after all links; `None` if nothing is there, or the links lead nowhere."""
        return None if (place := self._place(path)) is None else self.entries.get(place)

    def _place(self, path: str) -> str | None:
        todo, at = path.split("/")[::-1], list[str]()
        links = 0
        while todo:
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                del at[-1:]
                continue
            entry = self.entries.get("/".join([*at, part]))
            if entry is None or entry.kind != "link":
                at.append(part)
                continue
            links += 1
            target = (entry.content or b"").decode("utf-8", "surrogateescape")
            if links > _MOST_LINKS or not target:
                return None
            if target.startswith("/"):
                at.clear()
            todo += target.split("/")[::-1]
        return "/".join(at)

    def is_folder(self, path: str) -> bool:
        """Return whether a folder is at a path."""
        return (entry := self.at(path)) is not None and entry.kind == "folder"

    def text(self, path: str) -> str:
        """Return the text of a file."""
        file = self.at(path)
        if file is None:
            why = "No such file or directory"
        elif file.kind != "file":
            why = "Is a directory" if file.kind == "folder" else "Not a regular file"
        elif file.content is None:
            why = "File too large"
        elif b"\0" in file.content:
            why = "binary file"
        else:
            return file.content.decode("utf-8", "replace")
        raise UnreadableFile(f"/{path}: {why}")

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file that say something, without comments."""
        bare = (line.strip() for line in self.text(path).split("\n"))
        return [line for line in bare if line and not line.startswith("#")]

    def matching(self, pattern: str) -> list[str]:
        """Return the paths that a pattern of the shell matches, sorted; `*` stays within a folder, `**` does not."""
        folder, _, last = pattern.rpartition("/")
        if folder and not set(folder) & set("*?["):
            if (place := self._place(folder)) is None:
                return []
            pattern = f"{place}/{last}".lstrip("/")
        return [path for path in self._paths if _matches(path, pattern)]

    def mode(self, path: str) -> int | None:
        """Return the mode of the entry at a path."""
        return None if (entry := self.at(path)) is None else entry.mode


def _matches(path: str, pattern: str) -> bool:
    if pattern.endswith("/**"):
        return path.startswith(pattern.removesuffix("**"))
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def files_of(workspace: Workspace) -> Files:
    """Return the files of a workspace, now."""
    with workspace.entries() as entries:
        return Files(dict(seen_in(entries)))


def seen_in(entries: Iterable[TreeEntry]) -> Iterable[tuple[str, TargetEntry]]:
    """Return the entry at each path; one too large, alone or with all before it, comes without its content."""
    left = MOST_BYTES_IN_ALL
    for entry in entries:
        kind = _KINDS.get(stat.S_IFMT(entry.mode), "other")
        content = None
        if entry.node is not None and entry.node.size <= min(MOST_BYTES, left):
            content = entry.node.content(MOST_BYTES)
            left -= len(content)
        yield entry.path, TargetEntry(kind, stat.S_IMODE(entry.mode), content)

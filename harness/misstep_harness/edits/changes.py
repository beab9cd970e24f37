"""Hold what an edit says, whatever its format: files, their hunks, and what became of them."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal, Protocol

from msgspec import Struct

from misstep_harness.errors import EditRefused

_WORDLIKE = re.compile(r"[^\s`'\"<>|*?:;,]{1,250}")
_WITHOUT_DOT = frozenset({"Makefile", "Dockerfile", "LICENSE", "README", "BUILD", "TARGETS", "Gemfile", "Rakefile"})
_LABEL = re.compile(r"(?i)(?:file|filename|file[ _]path|path|in|update|edit|modify|create|new file)\s{0,3}:?\s{1,3}")
_INFO = re.compile(r"(?:`{3,}|~{3,})\s{0,3}(\S*)(?:[ \t]{1,3}(\S+))?\s*")
_QUOTED = re.compile(r"\\(?:([0-7]{3})|(.))", re.DOTALL)
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}


def checked_path(path: str) -> str:
    """Return a path in POSIX form beneath the root, without `.` and doubled slashes."""
    if not path.strip():
        raise EditRefused("malformed", "no file is named", "Name the file above its changes.")
    if any(ord(sign) < 32 or ord(sign) == 127 for sign in path):
        message = f"the path {path!r} has control characters"
        raise EditRefused("path_escape", message, "Give a path relative to the root.")
    parts = path.split("/")
    inside = [part for part in parts if part not in ("", ".")]
    if parts[0] == "" or ".." in parts or not inside or "\\" in path or re.match(r"[A-Za-z]:|~", path):
        raise EditRefused("path_escape", f"the path {path!r} may lead out", "Give a path relative to the root, with /.")
    if any(part.casefold() == ".git" for part in inside):
        raise EditRefused("path_escape", f"the path {path!r} leads into .git", "Give a path of the working tree.")
    return "/".join(inside)


def unquoted(path: str) -> str:
    """Return a path of a diff's header: without the time behind a tab, and out of git's quotes."""
    path = path.split("\t")[0].strip()
    if len(path) < 2 or path[0] != '"' or path[-1] != '"':
        return path
    text = _QUOTED.sub(_unescaped, path[1:-1])
    return text.encode("latin-1", "replace").decode("utf-8", "replace") if text != path[1:-1] else text


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 8) & 255)
    return _ESCAPES.get(escape[2], escape[2].encode("utf-8", "replace")).decode("latin-1")


def named_path(line: str, known: str = "") -> str:
    """Return the path that a line holds and nothing else, with or without fence, marks and label; else empty."""
    line = line.strip()[:400]
    if fence := _INFO.fullmatch(line):
        words = [word for word in (fence[2], (fence[1] or "").rpartition(":")[2]) if word]
        return next((word for word in words if ("." in word or "/" in word) and _is_path(word)), "")
    bare = line.strip("#*`'\" \t:").replace("\\_", "_")  # as Markdown writes an underscore
    if label := _LABEL.match(bare):
        bare = bare[label.end() :].strip("*`'\" \t:")
    return bare if bare and (bare == known or _is_path(bare)) else ""


def _is_path(word: str) -> bool:
    last = word.rsplit("/", 1)[-1]
    has_end = "." in last.strip(".") or last.startswith(".") or "/" in word.strip("/")
    return word in _WITHOUT_DOT or bool(_WORDLIKE.fullmatch(word) and has_end and not word.endswith("..."))


def is_fence(line: str) -> bool:
    """Return whether a line opens or closes a block of Markdown; one with backticks further on is code in a line."""
    return line.startswith("~~~") or (line.startswith("```") and "`" not in line.lstrip("`"))


Tag = Literal[" ", "-", "+"]
Read = Callable[[str], str | None]
"""The text of a file by its path, `None` if there is none."""

NO_NEWLINE = "\\ No newline at end of file"


class Line(Struct, frozen=True):
    """One line of a hunk without its line end: kept, deleted or added."""

    tag: Tag
    text: str


class Hunk(Struct, frozen=True):
    """One place of a file and what becomes of it.

    - `at`: The line that the edit names, from 1.
    - `anchors`: Lines above the place, outermost first.
    - `at_end`: Its last line is the file's last.
    - `tagged`, `markless`: Each line is written with its mark; kept lines were written without theirs.
    - `old_open`, `new_open`: No line end follows the last line, before and after.
    - `rules`: The leniencies that reading it took.
    """

    lines: tuple[Line, ...]
    at: int | None = None
    anchors: tuple[str, ...] = ()
    at_end: bool = False
    tagged: bool = True
    markless: bool = False
    old_open: bool = False
    new_open: bool = False
    crlf: bool = False
    rules: tuple[str, ...] = ()

    @property
    def old(self) -> list[str]:
        """Return the lines that must be there."""
        return [line.text for line in self.lines if line.tag != "+"]

    @property
    def new(self) -> list[str]:
        """Return the lines that will be there."""
        return [line.text for line in self.lines if line.tag != "-"]


class FileEdit(Struct, frozen=True):
    """What becomes of one file; `move_to` is its new path, where it gets one."""

    path: str
    hunks: tuple[Hunk, ...] = ()
    kind: Literal["update", "create", "delete"] = "update"
    move_to: str = ""
    rules: tuple[str, ...] = ()


class Edits(Struct, frozen=True):
    """All that one reply changes.

    - `path`: The file that the reply was asked to change, if one was.
    - `in_turn`: Each hunk is of the text that the one before it left; otherwise all are of the file as it was.
    - `says_end`: The format can tell whether the last line has a line end.
    """

    files: tuple[FileEdit, ...]
    path: str = ""
    in_turn: bool = False
    says_end: bool = False


class Receipt(Struct, frozen=True):
    """What was done at a place: by which `rule` (`exact`, or leniencies), at which `lines`; (0, 0) is a whole file."""

    path: str
    rule: str
    lines: tuple[int, int]


class Applied(Struct, frozen=True):
    """What an edit makes of the files: path → new text, `None` where the file is deleted; a receipt for each place."""

    files: Mapping[str, str | None]
    receipts: tuple[Receipt, ...]


class EditFormat(Protocol):
    """A module that reads one form of changes; its `INSTRUCTIONS`, if any, tell a model how to write it."""

    NAME: str

    def parse(self, text: str, path: str = "") -> Edits:
        """Return what a reply changes; `path` is the file where it names none."""

    def apply(self, edits: Edits, read: Read) -> Applied:
        """Return all of it, or nothing."""

    def render(self, path: str, before: str | None, after: str | None) -> str:
        """Return the change from one text to another in this format; `None` is not a file."""


def marked_lines(texts: Iterable[str]) -> tuple[list[tuple[Tag, str]], bool]:
    """Take the marks off lines, and tell whether kept lines were written without one, which then all were."""
    lines = list(texts)
    markless = any(line.strip() and line[0] not in " +-" for line in lines)
    tags: dict[str, Tag] = {"-": "-", "+": "+"}
    marks = "+-" if markless else "+- "
    return [(tags.get(line[:1], " "), line[1:] if line[:1] and line[0] in marks else line) for line in lines], markless


def hunk_of(lines: Iterable[tuple[Tag, str]], endless: Collection[int] = (), **fields: object) -> Hunk:
    """Return a hunk of lines split at LF: a CR at the end of all (but the places `endless`) is their line end."""
    marked = list(lines)
    ended = {text.endswith("\r") for place, (_, text) in enumerate(marked) if text and place not in endless}
    crlf = ended == {True}
    if len(ended) > 1:
        message = "some lines of a hunk end in CRLF and others in LF"
        raise EditRefused("mixed_line_endings", message, "Write one of them throughout.")
    written_lines = tuple(Line(tag, text.removesuffix("\r") if crlf else text) for tag, text in marked)
    return Hunk(written_lines, crlf=crlf, **fields)  # type: ignore[arg-type]

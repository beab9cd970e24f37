"""Hold what an edit says, whatever its format: files, their hunks, and what became of them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal, Protocol

from msgspec import Struct

from misstep_harness.errors import EditRefused

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

"""What a rater sees of a case, before it becomes a page."""

from typing import Literal

from msgspec import Struct

from misstep.harness.trajectory import Trajectory


class Meaning(Struct, frozen=True):
    """A label or subcategory."""

    name: str
    title: str
    meaning: str = ""
    subcategories: tuple["Meaning", ...] = ()


class TextFile(Struct, frozen=True):
    """A file with a note, such as why its text is not shown; `is_diff` if it is the change of a file."""

    path: str
    text: str = ""
    note: str = ""
    is_diff: bool = False


class MaterialPart(Struct, frozen=True):
    """The files of one part of a case; `left_out` more are not shown, and `note` is for the rater."""

    id: str
    title: str
    files: tuple[TextFile, ...] = ()
    left_out: int = 0
    note: str = ""


class Material(Struct, frozen=True):
    """A case with the labels that it may get; `problem` says why the run cannot be read."""

    id: str
    question: str
    labels: tuple[Meaning, ...]
    instruction: str = ""
    outcome: Literal["passed", "failed", "unknown"] = "unknown"
    facts: tuple[tuple[str, str], ...] = ()
    run: Trajectory | None = None
    problem: str = ""
    parts: tuple[MaterialPart, ...] = ()

"""What a rater is shown of a case, before it becomes a page: texts, the run, and what may be said of it."""

from typing import Literal

from msgspec import Struct

from misstep.harness.trajectory import Trajectory


class Meaning(Struct, frozen=True):
    """A label or subcategory: its name in the data, its title, and what it means."""

    name: str
    title: str
    meaning: str = ""
    subcategories: tuple["Meaning", ...] = ()


class TextFile(Struct, frozen=True):
    """A file: its text, and a note such as why that is not shown; `is_diff` where it is the change of a file."""

    path: str
    text: str = ""
    note: str = ""
    is_diff: bool = False


class MaterialPart(Struct, frozen=True):
    """The files of one part of a case; `left_out` more are not shown, and `note` says what a rater should know."""

    id: str
    title: str
    files: tuple[TextFile, ...] = ()
    left_out: int = 0
    note: str = ""


class Material(Struct, frozen=True):
    """A case: what was asked, the run, its parts, and the labels that it may get.

    `problem` says why the run is not shown, if there is one that cannot be read.
    """

    id: str
    question: str
    labels: tuple[Meaning, ...]
    instruction: str = ""
    outcome: Literal["passed", "failed", "unknown"] = "unknown"
    facts: tuple[tuple[str, str], ...] = ()
    run: Trajectory | None = None
    problem: str = ""
    parts: tuple[MaterialPart, ...] = ()

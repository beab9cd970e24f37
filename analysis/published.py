"""Figures as the papers print them: `data/published/<paper>.toml`, one loader.

A figure is kept as a string, with the place where it stands. What could be worked out again from other printed
figures says so (`check` and `inputs`); the judgement is computed by `analysis.papers`, never stored.
"""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harness.places import data_folder
from analysis.tables import Row, Unit
from harness.errors import InputError, UsageError


class Figure(Struct, frozen=True, forbid_unknown_fields=True):
    """One printed figure.

    `value` is the number where `printed` is not one by itself ("42,807k", "Three"); `inputs` name other figures;
    `approximate` where the paper says "about" of a number whose last zeros carry no information.
    """

    id: str
    place: str
    row: str
    column: str
    printed: str
    unit: Unit
    value: str | None = None
    check: str | None = None
    inputs: dict[str, str] = {}
    approximate: bool = False
    note: str = ""

    @property
    def digits(self) -> str:
        """The number alone, digits as printed: without sign words, thousands separators and the percent sign."""
        return (self.value or self.printed).replace(",", "").strip("~<>≈% ")

    @property
    def number(self) -> float:
        """The number; a share is printed in percent and given as a fraction."""
        return float(self.digits) / (100 if self.unit == "share" else 1)


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    """One combination of the raters' labels, and how many items have it."""

    labels: tuple[int, ...]
    items: int


class Reconstruction(Struct, frozen=True, forbid_unknown_fields=True):
    """Ratings that print the figures at `place`; one possibility among many, not the authors' data."""

    id: str
    place: str
    patterns: tuple[Pattern, ...]


class Paper(Struct, frozen=True, forbid_unknown_fields=True):
    """A paper's printed figures."""

    slug: str
    title: str
    authors: str
    figure: tuple[Figure, ...] = ()
    reconstruction: tuple[Reconstruction, ...] = ()

    def __getitem__(self, id: str) -> Figure:  # noqa: A002 (the file's own word)
        """The figure with an id.

        Raises
        ------
        UsageError
            There is none.
        """
        for figure in self.figure:
            if figure.id == id:
                return figure
        raise UsageError(f"{self.slug} has no printed figure {id!r}")


def published_papers() -> tuple[str, ...]:
    """The slugs of the papers whose figures are at hand."""
    return tuple(sorted(file.stem for file in (data_folder() / "published").glob("*.toml")))


def load_paper(slug: str) -> Paper:
    """The printed figures of a paper.

    Raises
    ------
    UsageError
        No such paper.
    InputError
        The file breaks the form, or names a figure twice or one that is not there.
    """
    file = data_folder() / "published" / f"{slug}.toml"
    if not file.exists():
        raise UsageError(f"no published figures of {slug!r}", f"Known: {', '.join(published_papers())}.")
    return read_paper(file)


def read_paper(file: Path) -> Paper:
    """The printed figures in a file of this form; raises as `load_paper`."""
    try:
        raw: dict[str, Any] = msgspec.toml.decode(file.read_bytes())
        paper = msgspec.convert(raw, Paper)
    except msgspec.MsgspecError as error:
        raise InputError(str(error), "See data/published/wink.toml for the form.", file=file) from error
    ids = [figure.id for figure in paper.figure]
    for figure in paper.figure:
        if ids.count(figure.id) > 1:
            raise InputError("named twice", "Give each figure its own id.", file=file, field=figure.id)
        for name in figure.inputs.values():
            if name not in ids:
                raise InputError(f"no figure {name!r} to work it out from", file=file, field=figure.id)
    return paper


def published_row(figure: Figure, quantity: str | None = None, *, n: int | None = None, group: str = "") -> Row:
    """A printed figure as a row of a table."""
    return Row(
        quantity=quantity or figure.row,
        value=figure.number,
        n=n,
        evidence="published",
        source=figure.place,
        unit=figure.unit,
        printed=figure.printed,
        group=group,
    )

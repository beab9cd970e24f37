"""What people said about the items of a benchmark folder; nothing but analysis opens these files."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harness.errors import InputError


class AskedItem(Struct, frozen=True):
    """An item, as far as analysis needs it: its id, the run it is about, and what else the set says."""

    id: str
    trajectory: str | dict[str, Any] | None = None
    trajectory_id: str | None = None
    step: int | None = None
    extra: dict[str, Any] = {}


class GoldLabel(Struct, frozen=True):
    """One rater's label for one item."""

    item: str
    rater: str
    label: str


class MarkedError(Struct, frozen=True):
    """One error that people marked in a run: its label, its step where that can be placed, and where upstream says."""

    trajectory: str
    label: str
    step: int | None = None
    location: str = ""
    root_cause: bool | None = None


def read_items(folder: Path) -> Iterator[AskedItem]:
    """The items of a benchmark folder, in order; raises `InputError` with file and line."""
    return _lines(folder / "items.jsonl", AskedItem)


def read_marked_errors(folder: Path) -> Iterator[MarkedError]:
    """The errors that people marked in the runs of a benchmark folder; raises `InputError` with file and line."""
    return _lines(folder / "gold_errors.jsonl", MarkedError)


def read_gold(folder: Path) -> Iterator[GoldLabel]:
    """The labels of a benchmark folder, in order.

    Raises
    ------
    InputError
        The file is missing or lacks a column.
    """
    path = folder / "gold.csv"
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                yield msgspec.convert(row, GoldLabel)
    except (OSError, msgspec.ValidationError) as error:
        raise InputError(f"no gold labels: {error}", "Load the data set again.", file=path) from error


def _lines(path: Path, type_: Any) -> Iterator[Any]:
    decoder = msgspec.json.Decoder(type_)
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    yield decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise InputError(str(error), file=path, line=number) from error
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", "Load the data set again.", file=path) from error

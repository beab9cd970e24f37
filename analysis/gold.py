"""What people said about the items of a benchmark folder; nothing but analysis opens these files."""

import csv
from codecs import BOM_UTF8
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harness.errors import InputError

_GOLD_FORM = "gold.csv has the columns item, rater and label, and one row an item and rater."


class Inline(Struct, frozen=True):
    """A run that stands in the item itself; nothing of it is decoded."""


class AskedItem(Struct, frozen=True):
    """An item, as far as analysis needs it: its id, the run it is about, and what else the set says."""

    id: str
    trajectory: str | Inline | None = None
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
    """The labels of a benchmark folder, in order; an empty label is a missing one.

    Raises
    ------
    InputError
        The file is missing, lacks a column, or a line is not of its form; names the line.
    """
    for _, row in _gold_lines(folder / "gold.csv"):
        yield row


def check_gold(folder: Path, labels: Collection[str]) -> None:
    """Read all labels of a benchmark folder before anything is asked about it.

    Parameters
    ----------
    folder
        The benchmark's folder.
    labels
        The labels that there may be; empty where they are open.

    Raises
    ------
    InputError
        As `read_gold`, or a label is none of the labels, or a rater has labelled an item twice; names the line.
    """
    path = folder / "gold.csv"
    seen: set[tuple[str, str]] = set()
    for line, row in _gold_lines(path):
        if labels and row.label not in labels:
            said = f"{row.label!r} is none of the labels {', '.join(labels)}"
            raise InputError(said, "Name every label in benchmark.toml.", file=path, line=line, field="label")
        if (row.item, row.rater) in seen:
            said = f"a second label of {row.rater!r} for {row.item!r}"
            raise InputError(said, "Keep one row an item and rater.", file=path, line=line)
        seen.add((row.item, row.rater))


def _gold_lines(path: Path) -> Iterator[tuple[int, GoldLabel]]:
    """Line number and label of each row that has one."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream, strict=True)
            lacking = [column for column in GoldLabel.__struct_fields__ if column not in (reader.fieldnames or ())]
            if lacking:
                raise InputError(f"no column {lacking[0]!r}", _GOLD_FORM, file=path, line=1)
            for row in reader:
                given = [row[column] for column in GoldLabel.__struct_fields__]
                if None in given or None in row:
                    raise InputError("too few or too many cells", _GOLD_FORM, file=path, line=reader.line_num)
                label = GoldLabel(*given)
                if label.label:
                    yield reader.line_num, label
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", _GOLD_FORM, file=path) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"no table in UTF-8: {error}", _GOLD_FORM, file=path) from error


def _lines(path: Path, type_: Any) -> Iterator[Any]:
    decoder = msgspec.json.Decoder(type_)
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                written = line.removeprefix(BOM_UTF8) if number == 1 else line
                if not written.strip():
                    continue
                try:
                    yield decoder.decode(written)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    raise InputError(str(error), file=path, line=number) from error
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", "Load the data set again.", file=path) from error

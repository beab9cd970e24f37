"""What people said about the items of a benchmark folder; nothing but analysis opens these files."""

import csv
import io
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.beneath import inside
from misstep_harness.errors import InputError
from misstep_harness.forms import json_form
from misstep_harness.items import Inline, read_items
from misstep_harness.journal.records import replace_file

_SHOWN = 3
_ERRORS_FORM = "gold_errors.jsonl has a JSON object an error, with trajectory and label."
_GOLD_FORM = "gold.csv has the columns item, rater and label, and one row an item and rater."
SUBCATEGORIES = "gold_subcategories.csv"
CONSTRUCTIONS = "gold_construction.csv"
_FORM = "gold_construction.csv has the columns item, family, set, variant and partner, and one row an item."


class BenchmarkItem(Struct, frozen=True):
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


_marked_error = msgspec.json.Decoder(MarkedError)


class _ItemOnly(Struct, gc=False):
    id: str


def item_ids(folder: Path) -> frozenset[str]:
    """Return the ids of all items of a benchmark folder."""
    return frozenset(item.id for item in read_items(folder, _ItemOnly))


def read_marked_errors(folder: Path) -> Iterator[MarkedError]:
    """The errors that people marked in the runs of a benchmark folder; raises `InputError` with file and line."""
    path = inside(folder, "gold_errors.jsonl")
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                text = line.removeprefix(BOM_UTF8) if number == 1 else line
                if text.strip():
                    yield json_form(text, _marked_error, path, number, _ERRORS_FORM)
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", _ERRORS_FORM, file=path) from error


def read_gold(folder: Path, items: Collection[str] | None = None) -> Iterator[GoldLabel]:
    """Return the labels of a benchmark folder, in order; an empty label is a missing one."""
    path = inside(folder, "gold.csv")
    unknown: dict[str, int] = {}
    for line, row in gold_lines(path):
        if items is not None and row.item not in items:
            unknown.setdefault(row.item, line)
        yield row
    if unknown:
        raise _of_unknown_items(path, unknown)


def write_gold(folder: Path, labels: Iterable[GoldLabel]) -> None:
    """Write the labels of a benchmark folder, in order."""
    with io.StringIO(newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("item", "rater", "label"))
        writer.writerows((label.item, label.rater, label.label) for label in labels)
        replace_file(folder / "gold.csv", text.getvalue().encode())


def _of_unknown_items(path: Path, unknown: dict[str, int]) -> InputError:
    shown = ", ".join(repr(item) for item in islice(unknown, _SHOWN))
    more = f" and {len(unknown) - _SHOWN:,} more" if len(unknown) > _SHOWN else ""
    n = "an item" if len(unknown) == 1 else f"{len(unknown):,} items"
    advice = "Correct the ids, or take these rows out."
    message = f"there are labels of {n} that items.jsonl does not have: {shown}{more}"
    return InputError(message, advice, file=path, line=next(iter(unknown.values())), field="item")


def check_gold(folder: Path, labels: Collection[str], items: Collection[str] | None = None) -> None:
    """Read all labels of a benchmark folder before anything is asked about it."""
    path = inside(folder, "gold.csv")
    seen: set[tuple[str, str]] = set()
    unknown: dict[str, int] = {}
    for line, row in gold_lines(path):
        if items is not None and row.item not in items:
            unknown.setdefault(row.item, line)
        if labels and row.label not in labels:
            message = f"{row.label!r} is none of the labels {', '.join(labels)}"
            raise InputError(message, "Name every label in benchmark.toml.", file=path, line=line, field="label")
        if (row.item, row.rater) in seen:
            message = f"{row.rater!r} labels {row.item!r} twice"
            raise InputError(message, "Keep one row for each item and rater.", file=path, line=line)
        seen.add((row.item, row.rater))
    if unknown:
        raise _of_unknown_items(path, unknown)


def check_columns(header: Sequence[str] | None, wanted: Sequence[str], path: Path, form: str) -> None:
    """Refuse a table that lacks a column, or has one that nothing would read; names file, line and column."""
    columns = list(header or ())
    lacking = [column for column in wanted if column not in columns]
    if lacking:
        has = f"; the columns are {', '.join(columns[:_SHOWN])}" if columns else ""
        raise InputError(f"the column {lacking[0]!r} is missing{has}", form, file=path, line=1, field=lacking[0])
    if len(columns) > len(wanted):
        further = next((name for name in columns if name not in wanted), "")
        twice = next((name for name in wanted if columns.count(name) > 1), "")
        message = f"there are two columns {twice!r}" if twice else f"nothing reads the column {further!r}"
        advice = f"{form} Keep anything else in a file of another name."
        raise InputError(message, advice, file=path, line=1, field=twice or further or None)


def gold_lines(path: Path) -> Iterator[tuple[int, GoldLabel]]:
    """Line number and label of each row that has one."""
    for line, row in _rows(path, GoldLabel.__struct_fields__, _GOLD_FORM):
        cells = [row[column] for column in GoldLabel.__struct_fields__]
        if None in cells or None in row:
            problem = "the row and the header have different numbers of cells"
            raise InputError(problem, _GOLD_FORM, file=path, line=line)
        label = GoldLabel(*cells)
        if label.label:
            yield line, label


def _rows(path: Path, columns: Sequence[str], form: str) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream, strict=True)
            check_columns(reader.fieldnames, columns, path, form)
            for row in reader:
                yield reader.line_num, row
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", form, file=path) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"not a CSV table in UTF-8: {error}", form, file=path) from error


class Construction(Struct, frozen=True):
    """How a generated case was made: its family of tasks, its set and its variant."""

    item: str
    family: str
    set: str = ""
    variant: str = ""
    partner: str = ""


def read_subcategories(folder: Path) -> tuple[GoldLabel, ...]:
    """Return the subcategories that raters gave; none without the file."""
    file = inside(folder, SUBCATEGORIES)
    return tuple(label for _, label in gold_lines(file)) if file.is_file() else ()


def read_constructions(folder: Path) -> dict[str, Construction]:
    """Item → how it was made; empty without the file."""
    file = inside(folder, CONSTRUCTIONS)
    if not file.is_file():
        return {}
    columns = Construction.__struct_fields__
    rows = _rows(file, columns, _FORM)
    return {row["item"]: Construction(*(row[column] or "" for column in columns)) for _, row in rows}


def families_of(constructions: dict[str, Construction]) -> dict[str, str]:
    """Item → its cluster: cases of one family of tasks are not independent of each other."""
    return {
        item: f"family {construction.family}" for item, construction in constructions.items() if construction.family
    }

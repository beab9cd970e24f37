"""A file of labels in any form that is read, as one table; its content says which form it has, never its name."""

from collections import Counter
from pathlib import Path

from msgspec import Struct

from misstep.analysis.labels.content import decoded, read_content, shown
from misstep.analysis.labels.records import LabelRecords, is_json, json_records, label_text, packed_records
from misstep.analysis.labels.rows import SHAPES, LabelRows, check_header, csv_rows
from misstep.analysis.labels.sheets import is_workbook, sheet_rows
from misstep.analysis.labels.tools import TOOLS, label_studio, tool_of
from misstep.harness.errors import InputError


class Source(Struct, frozen=True):
    """The table of a file, with the tool whose export it is, if any, and remarks on how it was read."""

    sheet: LabelRows
    tool: str = ""
    remarks: tuple[str, ...] = ()


def read_source(path: Path, item_field: str = "", what: str = "labels", shapes: str = SHAPES) -> Source:
    """The table of a file of labels: CSV, a workbook, JSON or JSON Lines, packed or not; `-` is standard input."""
    file = shown(path)
    content = read_content(path, what)
    if is_workbook(content):
        packed = packed_records(content, file)
        return _of_table(*sheet_rows(content, file)) if packed is None else _of_records(packed, item_field)
    text = decoded(content, file)
    if not is_json(text):
        return _of_table(csv_rows(text, file, what, shapes), [])
    return _of_records(json_records(text, file), item_field)


def _of_records(records: LabelRecords, item_field: str) -> Source:
    tool = tool_of(records)
    if tool is None:
        return _of_table(*_flat(records))
    ratings = TOOLS[tool][1](records, item_field)
    return Source(ratings.table(), tool, tuple(ratings.remarks()))


def _of_table(sheet: LabelRows, remarks: list[str]) -> Source:
    if label_studio.is_flat(sheet):
        sheet, more = label_studio.flat_cells(sheet)
        return Source(sheet, remarks=(*remarks, *more))
    return Source(sheet, remarks=tuple(remarks))


def _flat(records: LabelRecords) -> tuple[LabelRows, list[str]]:
    names = Counter(name for record in records.values for name in record)
    cells = {name: [label_text(record.get(name)) for record in records.values] for name in names}
    nested = [name for name, column in cells.items() if None in column]
    flat = {name: [cell or "" for cell in column] for name, column in cells.items() if name not in nested}
    if not flat:
        message = "no labels: an empty list, or no export of " + ", ".join(TOOLS)
        raise InputError(message, 'Give objects such as {"item": …, "rater": …, "label": …}.', file=records.file)
    header = [name.strip() for name in flat]
    sheet = LabelRows(records.file, "", "", header, [*flat.values()], records.places, records.unit)
    check_header(sheet)
    return sheet, [f"not looked at, as it holds objects: {', '.join(map(repr, nested))}"] if nested else []

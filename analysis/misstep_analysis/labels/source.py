"""A file of labels in any form that is read, as one table; its content says which form it has, never its name."""

import io
import re
import struct
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_analysis.labels.records import (
    LabelRecords,
    folder_records,
    is_json,
    json_records,
    label_text,
    packed_records,
)
from misstep_analysis.labels.rows import (
    MOST_BYTES,
    SHAPES,
    LabelRows,
    check_header,
    csv_rows,
    decoded,
    read_content,
    shown,
)
from misstep_analysis.labels.tools import TOOLS, label_studio, tool_of
from misstep_harness.errors import InputError, MissingPrerequisite
from misstep_harness.values import plain

_ZIP = b"PK\x03\x04"
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
)

_CELL = re.compile(rb"""\br=["']([A-Za-z]{1,3})(\d{1,7})["']""")
_MOST_CELLS = 5_000_000
"""Cells from the first to the furthest of a sheet: the library keeps room for all of them."""


class Source(Struct, frozen=True):
    """The table of a file, with the tool whose export it is, if any, and remarks on how it was read."""

    sheet: LabelRows
    tool: str = ""
    remarks: tuple[str, ...] = ()


def read_source(path: Path, item_field: str = "", what: str = "labels", shapes: str = SHAPES) -> Source:
    """The table of a file of labels: CSV, a workbook, JSON or JSON Lines, packed or not; `-` is standard input."""
    file = shown(path)
    if path.is_dir():
        records = folder_records(path)
        if records is None or tool_of(records) is None:
            advice = "Give a file; a folder is read if its .jsonl files are an annotation tool's, one an annotator."
            raise InputError("a folder without such files", advice, file=file)
        return _of_records(records, item_field)
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
        listed_in = _records_within(records)
        return _of_table(*_flat(records)) if listed_in is None else _of_records(listed_in, item_field)
    ratings = TOOLS[tool][1](records, item_field)
    return Source(ratings.table(), tool, tuple(ratings.remarks()))


def _records_within(records: LabelRecords) -> LabelRecords | None:
    """Return the one list of objects that a document of one object holds, as what servers answer does."""
    lists = [
        value
        for value in (records.values[0].values() if len(records.values) == 1 else ())
        if isinstance(value, list) and value and all(isinstance(part, dict) for part in value)
    ]
    if len(lists) != 1:
        return None
    return LabelRecords(records.file, lists[0], list(range(1, len(lists[0]) + 1)), "record")


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


def is_workbook(content: bytes) -> bool:
    """Return whether a file is packed as workbooks are."""
    return content.startswith(_ZIP)


def sheet_rows(content: bytes, file: str) -> tuple[LabelRows, list[str]]:
    """Return the header and the columns of a workbook's first sheet with content, and remarks on other sheets."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum
    except ImportError as error:
        advice = "Run `pip install 'misstep[sheets]'`, or save the sheet as CSV."
        raise MissingPrerequisite(f"{file} is a workbook, and python-calamine is not installed", advice) from error
    try:
        _check_size(content, file)
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
        names = [one.name for one in workbook.sheets_metadata if one.typ == SheetTypeEnum.WorkSheet]
        tables = {name: workbook.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in names}
    except (*_BROKEN, CalamineError) as error:
        advice = "Save it as .xlsx without a password, or as CSV."
        reason = str(error) or "it ends too early"
        raise InputError(f"not a workbook that can be read: {reason}", advice, file=file) from error
    filled = [name for name, rows in tables.items() if any(map(_has_content, rows))]
    if not filled:
        raise InputError("no labels: the workbook is empty", SHAPES, file=file)
    remarks = [f"sheet {filled[0]!r} is read"] if len(filled) > 1 else []
    remarks += [f"other sheets are not looked at: {', '.join(map(repr, filled[1:]))}"] if len(filled) > 1 else []
    numbered = [(number, row) for number, row in enumerate(tables[filled[0]], start=1) if _has_content(row)]
    if len(numbered) < 2:
        raise InputError("no labels: the first sheet has a header only", SHAPES, file=file)
    places = [number for number, _ in numbered]
    texts = [[cell if isinstance(cell, str) else plain(cell) for cell in row] for _, row in numbered]
    columns = [column for column in zip(*texts, strict=True) if any(cell.strip() for cell in column)]
    header = [column[0].strip() for column in columns]
    sheet = LabelRows(file, "", "", header, [column[1:] for column in columns], places[1:])
    check_header(sheet)
    return sheet, remarks


def _check_size(content: bytes, file: str) -> None:
    """Refuse a workbook that would fill the memory, by the size of its parts or by a cell far out in a sheet."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        parts = [part for part in packed.infolist() if part.filename.endswith(".xml")]
        if sum(part.file_size for part in packed.infolist()) > MOST_BYTES:
            raise InputError(f"the workbook is larger than {MOST_BYTES // 2**20} MiB", "Save it as CSV.", file=file)
        for part in parts:
            columns, rows, last = 0, 0, b""
            for cell in _CELL.finditer(packed.read(part)):
                column, row = int.from_bytes(cell[1].upper().rjust(3, b"\0")), int(cell[2])
                last = cell[0] if column > columns or row > rows else last
                columns, rows = max(columns, column), max(rows, row)
            if _letters(columns) * rows > _MOST_CELLS:
                problem = f"a cell far out ({last.decode()}) gives a sheet {_letters(columns) * rows:,} cells"
                raise InputError(problem, "Delete the cells outside of the table, or save it as CSV.", file=file)


def _letters(column: int) -> int:
    """Return the number of a column from the bytes of its letters, A being 1."""
    number = 0
    for letter in column.to_bytes(3):
        number = 26 * number + max(0, letter - 64)
    return number


def _has_content(row: list[Any]) -> bool:
    return any(cell.strip() if isinstance(cell, str) else cell is not None for cell in row)

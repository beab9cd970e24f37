"""Tables as files: CSV for spreadsheets, JSON for programs, both with every field of every row."""

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import msgspec

from analysis.escaping import printable
from analysis.tables import Row, Table
from harness.errors import InputError
from harness.records import replace_file

COLUMNS: tuple[str, ...] = Row.__struct_fields__
"""The columns of the CSV, in order: the fields of a row."""

_FORMULA = re.compile(r"[=+\-@\t\r](?![\d.,]+%?$)")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]*")


def document(table: Table) -> dict[str, Any]:
    """A table as one JSON value: its own fields, and `rows` as a list of objects that have all fields of a row.

    What is not finite becomes `None`: JSON has no word for it, and the row's `reason` says why.
    """
    fields: dict[str, Any] = msgspec.structs.asdict(table)
    return fields | {"rows": [{name: _finite(getattr(row, name)) for name in COLUMNS} for row in table.rows]}


def from_document(value: Any) -> Table:
    """The table that `document` made this of.

    Raises
    ------
    InputError
        The value is no table; names the field.
    """
    try:
        return msgspec.convert(value, Table)
    except msgspec.ValidationError as error:
        raise InputError(f"no table: {error}", "Make it again with analysis.report.show.") from error


def json_text(table: Table) -> str:
    """A table as one JSON document."""
    return json.dumps(document(table), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def csv_text(table: Table) -> str:
    """A table as CSV, a line a row; `None` is an empty field.

    Text loses its control codes; what a spreadsheet would take for a formula is preceded by an apostrophe.
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_field(getattr(row, name)) for name in COLUMNS] for row in table.rows)
    return lines.getvalue()


def write_table(table: Table, folder: Path) -> tuple[Path, Path]:
    """Write `<folder>/<paper>/<name>.csv` and `.json`; gives their paths.

    Raises
    ------
    InputError
        Paper or name is no slug, and so no name of a file.
    """
    for slug in (table.paper, table.name):
        if not _SLUG.fullmatch(slug):
            raise InputError(f"{slug!r} cannot name a table's file", "Use small letters, digits, '_' and '-'.")
    place = folder / table.paper
    place.mkdir(parents=True, exist_ok=True)
    as_csv, as_json = place / f"{table.name}.csv", place / f"{table.name}.json"
    replace_file(as_csv, csv_text(table).encode())
    replace_file(as_json, json_text(table).encode())
    return as_csv, as_json


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _field(value: Any) -> Any:
    if not isinstance(value, str):
        return _finite(value)
    text = printable(value)
    return f"'{text}" if _FORMULA.match(text) else text

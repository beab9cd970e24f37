"""Tables as CSV: lists are JSON text, what is missing is empty, and nothing is a formula to a spreadsheet."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from misstep.analysis.tables.files import csv_field
from misstep.harness.journal.records import encode
from misstep.studies.kinds.columns import ExportedTable, Values


def write_csv(file: Path, table: ExportedTable, rows: Iterable[Values]) -> int:
    """Write the rows of a table under the names of its columns; gives their number."""
    names = [column.name for column in table.columns]
    n = 0
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(csv_field, names))
        for row in rows:
            writer.writerow([_field(row[name]) for name in names])
            n += 1
    return n


def _field(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return encode(value).decode() if isinstance(value, list | tuple | dict) else csv_field(value)

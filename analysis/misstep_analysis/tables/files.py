"""Tables as files that people take away: CSV for spreadsheets, JSON for programs, Markdown for issues and README files.

CSV and JSON have every field of every row, figures with all their digits; Markdown has the page's texts.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from misstep_analysis.tables import Evidence, Row, Table, Unit
from misstep_analysis.tables.text import markdown_text
from misstep_harness.errors import InputError
from misstep_harness.escaping import printable
from misstep_harness.journal.records import replace_file


class FigureRow(Struct, frozen=True):
    """One figure of the run, with its interval and its evidence.

    - `table`: The table of the run's page.
    - `group`: The heading above it in the table.
    - `quantity`: The quantity.
    - `value`: The figure; null if it is a text or not defined.
    - `text`: The text, if it is not a figure.
    - `low`, `high`: The bounds of its interval.
    - `n`: The number of things that it is computed from.
    - `unit`: The unit: a share, a count, a coefficient and so on.
    - `evidence`: `generated` if it was measured on cases whose truth is known by construction, `real` if on recorded
      data.
    - `method`: The way in which value and interval were computed.
    - `reason`: The reason for a missing value, or a warning.
    - `source`: The data that it was measured on.
    """

    table: str
    group: str
    quantity: str
    value: float | None
    text: str | None
    low: float | None
    high: float | None
    n: int | None
    unit: Unit
    evidence: Evidence
    method: str
    reason: str
    source: str


def figures_of(tables: Sequence[Table]) -> Iterator[FigureRow]:
    """Return the figures of some tables, in their order."""
    return (_figure(table.title, row) for table in tables for row in table.rows)


def is_generated(tables: Sequence[Table]) -> bool:
    """Return whether all figures of some tables are measured on generated cases."""
    return {row.evidence for table in tables for row in table.rows} == {"generated"}


def _figure(title: str, row: Row) -> FigureRow:
    text = row.value if isinstance(row.value, str) else None
    value = None if text is not None or row.value is None else finite(float(row.value))
    low, high, how = finite(row.low), finite(row.high), (row.method, row.reason, row.source)
    return FigureRow(title, row.group, row.quantity, value, text, low, high, row.n, row.unit, row.evidence, *how)


def document(table: Table) -> dict[str, Any]:
    """Return a table as one JSON value: its own fields but `drawn`, and `rows` as a list of objects.

    An infinite figure becomes `None`: JSON has no word for it, and the row's `reason` says why.
    """
    fields: dict[str, Any] = msgspec.structs.asdict(table)
    rows = [{name: finite(getattr(row, name)) for name in Row.__struct_fields__} for row in table.rows]
    del fields["drawn"]
    return fields | {"rows": rows}


def from_document(value: Any) -> Table:
    """Return the table of a `document`."""
    try:
        return msgspec.convert(value, Table)
    except msgspec.ValidationError as error:
        raise InputError(f"not a table: {error}", "Make the file again with analysis.pages.show.") from error


def json_text(table: Table) -> str:
    """Return a table as one JSON document."""
    return json.dumps(document(table), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """Return a value as a file can hold it: `None` if it is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


COLUMNS: tuple[str, ...] = Row.__struct_fields__
_FORMULA = re.compile(r"[=+\-@\t\r](?![\d.,]+%?$)")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]*")


def csv_text(table: Table) -> str:
    """Return a table as CSV, a line a row; `None` is an empty field."""
    return csv_of(COLUMNS, ([getattr(row, name) for name in COLUMNS] for row in table.rows))


def csv_of(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return values as CSV under a header.

    Text loses its control codes; an apostrophe precedes text that a spreadsheet would take for a formula.
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(map(csv_field, header))
    writer.writerows(map(csv_field, row) for row in rows)
    return lines.getvalue()


FORMATS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "csv": ("CSV", csv_text),
    "json": ("JSON", json_text),
    "md": ("Markdown", markdown_text),
}
"""Ending of a file's name → what the format is called, and how a table is written in it."""


def file_addresses(table: Table) -> dict[str, str]:
    """Return the name of each format → the table's file, below the folder of tables."""
    return {called: f"{table.paper}/{table.name}.{ending}" for ending, (called, _) in FORMATS.items()}


def check_names(table: Table) -> None:
    """Refuse a table whose paper or name is not a slug, and so not a name of a file."""
    for slug in (table.paper, table.name):
        if not _SLUG.fullmatch(slug):
            message = f"{slug!r} is not a valid name for a table's file"
            raise InputError(message, "Use small letters, digits, '_' and '-'.")


def write_table(table: Table, folder: Path) -> dict[str, Path]:
    """Write `<folder>/<paper>/<name>` in every format."""
    check_names(table)
    place = folder / table.paper
    place.mkdir(parents=True, exist_ok=True)
    paths = {ending: place / f"{table.name}.{ending}" for ending in FORMATS}
    for ending, (_, text_of) in FORMATS.items():
        replace_file(paths[ending], text_of(table).encode())
    return paths


def csv_field(value: Any) -> Any:
    """Return a value as a field of a CSV: text without control codes and without what opens a formula."""
    if isinstance(value, tuple):
        value = "; ".join(value)
    if not isinstance(value, str):
        return finite(value)
    text = printable(value)
    return f"'{text}" if _FORMULA.match(text) else text

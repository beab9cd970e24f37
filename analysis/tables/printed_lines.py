"""A table as lines to print: a line a figure, each cell a text, in the words and digits of the page."""

from msgspec import Struct

from misstep.analysis.tables import Row, Table
from misstep.analysis.tables.grid import grid, methods
from misstep.analysis.tables.wording import count_text, interval_text
from misstep.harness.escaping import one_line

HEADS: dict[str, str] = {
    "quantity": "Quantity",
    "value": "Value",
    "interval": "Interval",
    "n": "n",
    "evidence": "Evidence",
    "status": "Status",
    "remark": "Remark",
}

ALWAYS = frozenset({"quantity", "value", "evidence"})
"""The columns that a printed table has even if they are empty."""


class Printed(Struct, frozen=True):
    """A table to print: its columns, and under each heading, which may be empty, its lines with a text a column.

    The last of the notes says how the figures were computed.
    """

    title: str
    columns: tuple[str, ...]
    sections: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
    finding: str
    notes: tuple[str, ...]


def printed(table: Table) -> Printed:
    """Return the lines of a table, its rows in their order, under the headings of its groups."""
    shown = {id(cell.row): cell.value for line in grid(table).lines() for cell in line.cells if cell}
    lines = [(one_line(row.group), _line(row, shown[id(row)])) for row in table.rows]
    columns = [name for name in HEADS if name in ALWAYS or any(line[name] for _, line in lines)]
    sections = tuple(
        (group, tuple(tuple(line[name] for name in columns) for own, line in lines if own == group))
        for group in dict.fromkeys(group for group, _ in lines)
    )
    computed = [f"How the figures and intervals were computed: {'; '.join(methods(table))}."] if methods(table) else []
    notes = tuple(one_line(note) for note in (*table.notes, *computed))
    return Printed(one_line(table.title), tuple(columns), sections, one_line(table.finding), notes)


def _line(row: Row, value: str) -> dict[str, str]:
    texts = {
        "quantity": row.quantity,
        "value": value,
        "interval": interval_text(row),
        "n": count_text(row.n),
        "evidence": row.evidence,
        "status": row.status or "",
        "remark": "" if row.status == "reproduced" else row.reason,
    }
    return {name: one_line(text) for name, text in texts.items()}

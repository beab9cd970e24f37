"""A table as Markdown: a table with pipes, as GitHub shows it, with the finding above and the notes below.

The shape, with made-up figures:

    ### Pears

    Ripe pears are 12.5% (9.8–14.1%) of the harvest.

    | Quantity | Value | Interval | Evidence |
    | :-- | --: | --: | :-- |
    | Ripe | 12.5% | 9.8–14.1% | real |

Such a table has no rows that span it: a group's heading is a column of its own.
"""

import re

from msgspec import Struct

from misstep_analysis.tables import Row, Table
from misstep_analysis.tables.grid import grid, methods
from misstep_analysis.tables.wording import count_text, interval_text
from misstep_harness.escaping import one_line

_MARKUP = re.compile(r"([\\`*_\[\]<>|~$&#@])")
_OPENS_A_BLOCK = re.compile(r"^(?:[-+=]|\d{1,9}(?=[.)](?: |$)))")
_ADDRESS = re.compile(r"(?i)(?<=https)(?=://)|(?<=http)(?=://)|(?<=ftp)(?=://)|(?<=www)(?=\.)")
_TO_THE_RIGHT = frozenset({"value", "interval", "n"})

HEADS: dict[str, str] = {
    "quantity": "Quantity",
    "value": "Value",
    "interval": "Interval",
    "n": "n",
    "evidence": "Evidence",
    "status": "Status",
    "remark": "Remark",
}

_ALWAYS = frozenset({"quantity", "value", "evidence"})
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


def markdown_text(table: Table) -> str:
    """Return a table as Markdown: title, finding, a line a figure, notes."""
    shown = printed(table)
    grouped = any(heading for heading, _ in shown.sections)
    heads = [*(["Group"] if grouped else []), *(HEADS[name] for name in shown.columns)]
    rules = [*([":--"] if grouped else []), *("--:" if name in _TO_THE_RIGHT else ":--" for name in shown.columns)]
    lines = [_line(heads), _line(rules)]
    for heading, rows in shown.sections:
        lines += [_line([escaped(text) for text in ([heading] if grouped else []) + list(row)]) for row in rows]
    texts = [f"### {escaped(shown.title)}", _paragraph(shown.finding), "\n".join(lines), *map(_paragraph, shown.notes)]
    return "\n\n".join(text for text in texts if text) + "\n"


def escaped(text: str) -> str:
    """Return text in one line without markup, an end of a cell, a mention or an address that becomes a link."""
    return _ADDRESS.sub("\\\\", _MARKUP.sub(r"\\\1", text))


def _paragraph(text: str) -> str:
    return _OPENS_A_BLOCK.sub(lambda start: f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}", escaped(text))


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def printed(table: Table) -> Printed:
    """Return the lines of a table, its rows in their order, under the headings of its groups."""
    shown = {id(cell.row): cell.value for line in grid(table).lines() for cell in line.cells if cell}
    lines = [(one_line(row.group), _texts(row, shown[id(row)])) for row in table.rows]
    columns = [name for name in HEADS if name in _ALWAYS or any(line[name] for _, line in lines)]
    sections = tuple(
        (group, tuple(tuple(line[name] for name in columns) for own, line in lines if own == group))
        for group in dict.fromkeys(group for group, _ in lines)
    )
    computed = [f"How the figures and intervals were computed: {'; '.join(methods(table))}."] if methods(table) else []
    notes = tuple(one_line(note) for note in (*table.notes, *computed))
    return Printed(one_line(table.title), tuple(columns), sections, one_line(table.finding), notes)


def _texts(row: Row, value: str) -> dict[str, str]:
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

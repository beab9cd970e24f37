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

from misstep.analysis.tables import Table
from misstep.analysis.tables.printed_lines import HEADS, printed

_MARKUP = re.compile(r"([\\`*_\[\]<>|~$&#@])")
_OPENS_A_BLOCK = re.compile(r"^(?:[-+=]|\d{1,9}(?=[.)](?: |$)))")
_ADDRESS = re.compile(r"(?i)(?<=https)(?=://)|(?<=http)(?=://)|(?<=ftp)(?=://)|(?<=www)(?=\.)")
_TO_THE_RIGHT = frozenset({"value", "interval", "n"})


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

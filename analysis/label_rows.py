"""The rows of a user's CSV file, of labels or of printed figures, and the line of the file that each stands on.

The delimiter is a comma, a semicolon or a tab, whichever the header has most of; text is UTF-8 with or without a byte
order mark; lines end in any of the three ways; quoted cells may hold delimiters, quotes (doubled) and line breaks.
Rows without any content are left out.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from harness.errors import InputError

MOST_BYTES = 512 * 2**20

_DELIMITERS = ",;\t"
_SHAPES = "Give a column of items and one a rater, or the columns item,rater,label."


class LabelRows(Struct, frozen=True):
    """A header and the columns below it, all of one length.

    Parameters
    ----------
    file
        Where they come from, as the user named it.
    text
        The whole file.
    delimiter
        What separates its cells.
    header
        The names of the columns, trimmed.
    columns
        The cells of each column, as written.
    """

    file: str
    text: str
    delimiter: str
    header: list[str]
    columns: list[Sequence[str]]

    def line(self, row: int) -> int:
        """The line of the file, from 1, on which a row ends (-1 is the header); counted only for an error."""
        reader = _reader(self.text, self.delimiter)
        with_content: Iterator[int] = (reader.line_num for cells in reader if _has_content(cells))
        return next(islice(with_content, row + 1, None))

    def error(self, row: int, found: str, advice: str, column: str | None = None) -> InputError:
        """An error that names the file, the line of a row and, where it is one, the column."""
        return InputError(found, advice, file=self.file, line=self.line(row), field=column)


def read_rows(path: Path, what: str = "labels", shapes: str = _SHAPES) -> LabelRows:
    """The header and the columns of a CSV file.

    Parameters
    ----------
    path
        The file.
    what
        What its rows hold, in the plural.
    shapes
        What its columns may be, as one sentence of advice.

    Raises
    ------
    InputError
        The file cannot be read, is no UTF-8, no CSV, has no rows, an unnamed or repeated column, or a row that is
        shorter or longer than the header.
    """
    text = _text(path, what)
    delimiter = _delimiter(text)
    columns = split_columns(text, delimiter)
    if columns is None:
        columns = _parsed_columns(text, delimiter, path)
    if not columns or len(columns[0]) < 2:
        raise InputError(f"no {what}: the file is empty or has a header only", shapes, file=path)
    header = [column[0].strip() for column in columns]
    sheet = LabelRows(str(path), text, delimiter, header, [column[1:] for column in columns])
    _check_header(sheet, shapes)
    return sheet


def split_columns(text: str, delimiter: str) -> list[Sequence[str]] | None:
    """The columns of a plain CSV by splitting strings, which takes a third of the time that parsing does.

    `None` for a text that must be parsed: one with quotes, old line ends, blank lines, rows of unequal length or a line
    that may hold a cell longer than the parser takes.
    """
    if '"' in text:
        return None
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    delimiters = {line.count(delimiter) for line in lines}
    if max(map(len, lines)) > csv.field_size_limit():
        return None
    if len(delimiters) > 1 or "\r" in text.replace("\r\n", ""):
        return None
    width = delimiters.pop() + 1
    cells = delimiter.join(lines).split(delimiter)
    columns: list[Sequence[str]] = [cells[position::width] for position in range(width)]
    return columns if all(map(str.strip, columns[0])) else None


def _parsed_columns(text: str, delimiter: str, path: Path) -> list[Sequence[str]]:
    reader = _reader(text, delimiter)
    try:
        rows = [cells for cells in reader if _has_content(cells)]
    except csv.Error as error:
        advice = 'Close every quote, and double a quote inside quotes ("").'
        raise InputError(f"not valid CSV: {error}", advice, file=path, line=reader.line_num) from error
    width = len(rows[0]) if rows else 0
    if any(len(row) != width for row in rows):
        odd = next(position for position, row in enumerate(rows) if len(row) != width)
        found = f"{len(rows[odd])} cells where the header has {width}"
        advice = "Give each row one cell a column; quote a cell that holds the delimiter."
        raise LabelRows(str(path), text, delimiter, rows[0], []).error(odd - 1, found, advice)
    return list(zip(*rows, strict=True))


def _reader(text: str, delimiter: str) -> Any:  # the type of csv.reader has no name
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _has_content(cells: list[str]) -> bool:
    return any(cell and not cell.isspace() for cell in cells)


def _text(path: Path, what: str) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", f"Give a CSV file of {what}.", file=path) from error
    if len(content) > MOST_BYTES:
        raise InputError(
            f"the file is larger than {MOST_BYTES // 2**20} MiB", f"Leave out everything but the {what}s.", file=path
        )
    if (nul := content.find(b"\0")) >= 0:
        # Text in UTF-16 has one beside every plain letter.
        what = "not UTF-8 but UTF-16" if 3 * content.count(b"\0") > len(content) else "a NUL character"
        line = content.count(b"\n", 0, nul) + 1
        raise InputError(what, "Save the file as UTF-8 CSV, as text alone.", file=path, line=line)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", "Save the file as UTF-8 CSV.", file=path, line=line) from error


def _delimiter(text: str) -> str:
    """The delimiter that splits the header into the most cells."""
    header = next((line for line in io.StringIO(text, newline="") if not line.isspace()), "")
    return max(_DELIMITERS, key=lambda delimiter: len(next(csv.reader([header], delimiter=delimiter), [])))


def _check_header(sheet: LabelRows, shapes: str) -> None:
    if len(sheet.header) < 2:
        found = f"one column, {sheet.header[0]!r}"
        raise InputError(
            found, f"{shapes} Separate cells by comma, semicolon or tab.", file=sheet.file, line=sheet.line(-1)
        )
    for position, name in enumerate(sheet.header):
        if not name and position > 0:
            raise sheet.error(-1, f"column {position + 1} has no name", "Name each column in the first line.")
        if name in sheet.header[:position]:
            first = sheet.header.index(name) + 1
            found = f"columns {first} and {position + 1} are both called {name!r}"
            raise sheet.error(-1, found, "Give each column a name of its own.")

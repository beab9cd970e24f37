"""The rows of a user's table, of labels or of printed figures, and the line of the file that each is on."""

import csv
import io
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, structs

from misstep_harness.errors import InputError
from misstep_harness.places import path_text

ScaleLevel = Literal["nominal", "ordinal", "interval"]
Keep = Literal["first", "last"]
Decimal = Literal["point", "comma"]
RatersIn = Literal["columns", "rows"]


class Reading(Struct, frozen=True):
    """How a file of labels is to be read.

    - `raters`: Those to compare, in this order, taken as they are; all if empty, unless one does not look like a rater.
    - `level`: Ordinal and interval labels must be numbers, unless `order` gives their order.
    - `keep`: Which of several ratings of one item by one rater counts; several are an error if not given.
    - `raters_in`: Where the raters of a table with a row an item or a row a rater are; told by names if not given.
    """

    raters: Sequence[str] = ()
    level: ScaleLevel = "nominal"
    order: Sequence[str] = ()
    item: str = ""
    rater: str = ""
    labels: Sequence[str] = ()
    by: str = ""
    keep: Keep | None = None
    missing: Sequence[str] = ()
    decimal: Decimal | None = None
    fewest_raters: int = 2
    raters_in: RatersIn | None = None


_DELIMITERS = ",;\t"
_DECLARED = re.compile(r"\Asep=[,;\t](?=[\r\n])")
"""A first line by which spreadsheets are told how cells are separated."""

csv.field_size_limit(max(csv.field_size_limit(), 1 << 26))  # a comment may be long: Python takes 128 KiB in a cell

SHAPES = "Give a column of items and one a rater, or the columns item,rater,label."

MOST_BYTES = 512 * 2**20
STANDARD_INPUT = Path("-")
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31
"""What zlib calls a stream with the header and the sum of gzip."""


class LabelRows(Struct, frozen=True):
    """A header and the columns below it, all of one length.

    - `places`: Where it is not CSV: the number of the record of each row, from 1.
    """

    file: str
    text: str
    delimiter: str
    header: list[str]
    columns: list[Sequence[str]]
    places: Sequence[int] = ()
    unit: str = "line"

    def line(self, row: int) -> int:
        """Return the line of the file, from 1, on which a row ends (-1 is the header); counted only for an error."""
        if self.places:
            return self.places[row] if row >= 0 else 1
        return next(islice(self._ends(), row + 1, None))

    def lines(self) -> list[int]:
        """Return the lines of all rows."""
        return list(self.places or islice(self._ends(), 1, None))

    def _ends(self) -> Iterator[int]:
        reader = _reader(self.text, self.delimiter)
        return (reader.line_num for cells in reader if _has_content(cells))

    def rows(self, places: Sequence[int]) -> "LabelRows":
        """Return some of the rows, each of which still knows its place."""
        lines = self.lines()
        columns: list[Sequence[str]] = [[column[row] for row in places] for column in self.columns]
        return structs.replace(self, columns=columns, places=[lines[row] for row in places])

    def error(self, row: int, problem: str, advice: str, column: str | None = None) -> InputError:
        """Return an error that names the file, the line of a row and, where it is one, the column."""
        if self.unit != "line" and row >= 0:
            where = f"{self.unit} {self.line(row)}"
            return InputError(problem, advice, file=self.file, field=f"{where}: {column}" if column else where)
        return InputError(problem, advice, file=self.file, line=self.line(row), field=column)

    def where(self, row: int) -> str:
        """Return the place of a row, in words."""
        return f"{'on' if self.unit == 'line' else 'in'} {self.unit} {self.line(row)}"


def read_rows(path: Path, what: str = "labels", shapes: str = SHAPES) -> LabelRows:
    """Return the header and the columns of a CSV file."""
    file = shown(path)
    return csv_rows(decoded(read_content(path, what), file), file, what, shapes)


def csv_rows(text: str, file: str, what: str = "labels", shapes: str = SHAPES) -> LabelRows:
    """Return the header and the columns of a text in CSV."""
    text = _DECLARED.sub("", text)
    delimiter = _delimiter(text)
    columns = split_columns(text, delimiter)
    if columns is None:
        reader = _reader(text, delimiter)
        try:
            rows = [cells for cells in reader if _has_content(cells)]
        except csv.Error as error:
            advice = 'Close every quote, and double a quote inside quotes ("").'
            raise InputError(f"not valid CSV: {error}", advice, file=file, line=reader.line_num) from error
        width = len(rows[0]) if rows else 0
        if any(len(row) != width for row in rows):
            odd = next(position for position, row in enumerate(rows) if len(row) != width)
            problem = f"{len(rows[odd])} cells where the header has {width}"
            advice = "Give each row one cell a column; quote a cell that holds the delimiter."
            raise LabelRows(file, text, delimiter, rows[0], []).error(odd - 1, problem, advice)
        columns = list(zip(*rows, strict=True))
    # A delimiter at the end of each line makes a column without a name and without a cell.
    columns = [column for at, column in enumerate(columns) if at == 0 or any(map(str.strip, column))]
    if not columns or len(columns[0]) < 2:
        raise InputError(f"no {what}: the file is empty or has a header only", shapes, file=file)
    header = [column[0].strip() for column in columns]
    sheet = LabelRows(file, text, delimiter, header, [column[1:] for column in columns])
    check_header(sheet, shapes)
    return sheet


def split_columns(text: str, delimiter: str) -> list[Sequence[str]] | None:
    """Return the columns of a plain CSV by splitting strings, which takes a third of the time that parsing does.

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


def _reader(text: str, delimiter: str) -> Any:  # the type of csv.reader has no name
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _has_content(cells: list[str]) -> bool:
    return any(cell and not cell.isspace() for cell in cells)


def _delimiter(text: str) -> str:
    header = next((line for line in io.StringIO(text, newline="") if not line.isspace()), "")
    return max(_DELIMITERS, key=lambda delimiter: len(next(csv.reader([header], delimiter=delimiter), [])))


def check_header(sheet: LabelRows, shapes: str = SHAPES) -> None:
    """Refuse a table of one column, or with an unnamed (but for the first) or a repeated one."""
    if len(sheet.header) < 2:
        problem = f"one column, {sheet.header[0]!r}"
        raise InputError(
            problem, f"{shapes} Separate cells by comma, semicolon or tab.", file=sheet.file, line=sheet.line(-1)
        )
    for position, name in enumerate(sheet.header):
        if not name and position > 0:
            raise sheet.error(-1, f"column {position + 1} has no name", "Name each column in the first line.")
        if name in sheet.header[:position]:
            first = sheet.header.index(name) + 1
            problem = f"columns {first} and {position + 1} are both called {name!r}"
            raise sheet.error(-1, problem, "Give each column a name of its own.")


def shown(path: Path) -> str:
    """Return a file as messages name it."""
    return "standard input" if path == STANDARD_INPUT else path_text(path)


def read_content(path: Path, what: str = "labels") -> bytes:
    """Return the bytes of a file or, for `-`, of standard input; a file in gzip's format is unpacked."""
    file = shown(path)
    try:
        if path == STANDARD_INPUT:
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with path.open("rb") as stream:
                content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", f"Give a CSV file of {what}.", file=file) from error
    if content.startswith(_GZIP):
        content = _unpacked(content, file)
    if len(content) > MOST_BYTES:
        problem = f"the file is larger than {MOST_BYTES // 2**20} MiB"
        raise InputError(problem, f"Leave out everything but the {what}.", file=file)
    return content


def _unpacked(content: bytes, file: str) -> bytes:
    """Return all streams of a file in gzip's format, unpacked no further than the bound."""
    parts: list[bytes] = []
    room = MOST_BYTES + 1
    try:
        while content.startswith(_GZIP) and room > 0:
            stream = zlib.decompressobj(_GZIP_WINDOW)
            parts.append(stream.decompress(content, room))
            room -= len(parts[-1])
            if not stream.eof and room > 0:
                raise InputError("the gzip file ends in its middle", "Pack or copy it again.", file=file)
            content = stream.unused_data
    except zlib.error as error:
        raise InputError(f"not valid gzip: {error}", "Pack it again, or give the file unpacked.", file=file) from error
    return b"".join(parts)


def decoded(content: bytes, file: str) -> str:
    """Return a text in UTF-8, with or without a byte order mark."""
    if (nul := content.find(b"\0")) >= 0:
        # Text in UTF-16 has one beside every plain letter.
        message = "not UTF-8 but UTF-16" if 3 * content.count(b"\0") > len(content) else "a NUL character"
        line = content.count(b"\n", 0, nul) + 1
        raise InputError(message, "Save the file as UTF-8 CSV, as text alone.", file=file, line=line)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", "Save the file as UTF-8 CSV.", file=file, line=line) from error

"""Files of verdicts, of this and other tools: opened, recognised by their contents, and read."""

import csv
import hashlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.errors import InputError, MisstepError, UnreadableTrajectory
from misstep_harness.places import path_text
from misstep_harness.readers import find_files
from misstep_harness.readers.input.archive import UNREADABLE
from misstep_harness.readers.input.decoding import LINE_LIMIT, decode_document_or_lines
from misstep_harness.readers.input.streams import is_plain, open_records
from misstep_harness.registry import raised
from misstep_harness.trajectory import Source
from misstep_harness.verdict_readers import Place, VerdictReader, WrittenVerdict, known_forms, reader_of, table
from misstep_harness.verdict_readers.written import Unit

_MOST_BYTES = 1 << 30
_DELIMITERS = ",;\t"
_DECLARED = re.compile(r"\Asep=[,;\t](?=[\r\n])")
"""A first line by which spreadsheets are told how cells are separated."""

csv.field_size_limit(max(csv.field_size_limit(), LINE_LIMIT))  # a reason may be long: Python takes 128 KiB in a cell


class WrittenVerdicts(Struct, frozen=True):
    """The contents of the files of verdicts that were named."""

    verdicts: tuple[WrittenVerdict, ...]
    forms: tuple[str, ...]
    skipped: int
    unreadable: tuple[str, ...]
    digest: str


def written_verdicts(path: Path) -> WrittenVerdicts:
    """Return the verdicts in a file, or in all files of a folder that hold some."""
    verdicts: list[WrittenVerdict] = []
    forms: dict[str, None] = {}
    digest = hashlib.sha256()
    cannot_be_read: dict[str, UnreadableTrajectory] = {}
    skipped = 0
    for file in find_files([path]):
        try:
            data = _content(file.path)
            is_json = data.lstrip()[:1] in (b"{", b"[")
            named = path_text(file.path)
            values = list(_json_values(data, file.path)) if is_json else _rows(data, named, named=file.named)
        except UnreadableTrajectory as error:
            if file.named:
                raise
            cannot_be_read[path_text(file.path)] = error
            continue
        reader = reader_of(values[0][1]) if values else None
        if reader is None:
            if file.named:
                raise _unknown(values, path_text(file.path))
            skipped += 1
            continue
        forms[reader.NAME] = None
        digest.update(hashlib.sha256(data).digest())
        for place, value in _of_one_form(values, reader):
            verdicts += _read(reader, value, place)
    if not verdicts and cannot_be_read:
        raise next(iter(cannot_be_read.values()))
    if not verdicts and forms:
        advice = "See whether its samples were scored and written with it."
        raise InputError(f"no verdict in {' and '.join(forms)}", advice, file=path)
    if not verdicts:
        raise InputError("the file has no verdict", _forms(), file=path)
    return WrittenVerdicts(tuple(verdicts), tuple(forms), skipped, tuple(cannot_be_read), digest.hexdigest())


def _read(reader: VerdictReader, value: dict[str, Any], place: Place) -> list[WrittenVerdict]:
    try:
        return list(reader.verdicts(value, place))
    except MisstepError:
        raise
    except Exception as error:
        advice = "Correct what is there, or report this to whoever wrote the reader."
        raise place.error(f"it cannot be read as {reader.NAME}: {raised(error)}", advice) from error


def _content(path: Path) -> bytes:
    """The bytes of a file; of a Parquet file its rows as JSON Lines, or the first where they are not verdicts."""
    file = path_text(path)
    try:
        stream, columns = open_records(path)
        with stream:
            known = columns is None or reader_of(dict.fromkeys(columns, "")) is not None
            data = stream.read_up_to(_MOST_BYTES + 1) if known else stream.readline()
            broken = stream.broken
    except InputError as error:
        raise UnreadableTrajectory(error.found, error.advice, file=file) from error
    if len(data) > _MOST_BYTES:
        raise UnreadableTrajectory(f"the file has more than {_MOST_BYTES >> 30} GiB", "Split the file.", file=file)
    if broken is not None:
        raise UnreadableTrajectory(f"the file ends early: {broken}", "Copy the file again.", file=file)
    return data


def _unknown(values: list[tuple[Place, Any]], file: str) -> InputError:
    if not values:
        return InputError("the file has no row and no JSON value", _forms(), file=file)
    first = values[0][1]
    kind = (
        f"the fields {', '.join(list(first)[:_SHOWN])}" if isinstance(first, dict) else "a value that is not an object"
    )
    return InputError(f"no form of verdicts that is known: it has {kind}", _forms(), file=file)


_SHOWN = 8


def _forms() -> str:
    return f"A table needs the columns item and label. What is read: {known_forms()}."


def _of_one_form(values: list[tuple[Place, Any]], reader: VerdictReader) -> Iterator[tuple[Place, dict[str, Any]]]:
    for place, value in values:
        if not isinstance(value, dict) or not reader.is_own(value):
            raise place.error(f"it does not fit the rest, which is {reader.NAME}", "Correct or remove it.")
        yield place, value


def _json_values(data: bytes, path: Path) -> Iterator[tuple[Place, Any]]:
    """Return the values of JSON Lines, the elements of one list, or one document; an archive has a record a sample."""
    file = path_text(path)
    unit: Unit = "line" if is_plain(path) else "record"
    try:
        decoded = decode_document_or_lines(data, Source("verdicts", file))
    except UnreadableTrajectory as error:
        advice = error.advice or "Copy the file again, or correct what is there."
        raise UnreadableTrajectory(error.found, advice, file=error.file, line=error.line_number) from error
    lines = decoded.values
    if decoded.unfinished is not None:
        message = f"the last line is cut off, after {len(lines):,} whole ones"
        raise UnreadableTrajectory(message, "Copy the file again, or remove that line.", file=file)
    if len(lines) == 1 and isinstance(listed := lines[0][1], list):
        for number, value in enumerate(listed, start=1):
            yield Place(file, number, "record"), value
    else:
        for number, value in lines:
            place = Place(file, number, unit)
            if isinstance(value, dict) and UNREADABLE in value:
                raise place.error(f"the sample cannot be unpacked: {value[UNREADABLE]}", "Copy the file again.")
            yield place, value


def _rows(data: bytes, file: str, *, named: bool) -> list[tuple[Place, Any]]:
    """The rows of a CSV with the names of its header; none of a file in a folder that is not a table of verdicts."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if named:
            raise InputError("not UTF-8", "Save the file as UTF-8.", file=file) from error
        return []
    text = _DECLARED.sub("", text)
    first = next((line for line in io.StringIO(text) if not line.isspace()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[Place, Any]] = []
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(map(str.strip, cells)):
                continue
            if header is None:
                header = _header(cells)
                if not named and reader_of(dict.fromkeys(header, "")) is None:
                    return []
                if twice := next((name for name in header if name and header.count(name) > 1), ""):
                    message = f"the header has the column {twice} twice"
                    raise InputError(message, "Rename or remove one.", file=file, line=reader.line_num)
                continue
            place = Place(file, reader.line_num)
            if len(cells) != len(header):
                message = f"{len(cells)} cells where the header has {len(header)}"
                raise place.error(message, "Give each row one cell a column; quote a cell that holds the delimiter.")
            rows.append((place, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        advice = 'Close every quote, and double a quote inside quotes ("").'
        raise InputError(f"not valid CSV: {error}", advice, file=file, line=reader.line_num) from error
    return rows


def _header(cells: list[str]) -> list[str]:
    names = [name.strip() for name in cells]
    even = [name.casefold() if name.casefold() in table.COLUMNS else name for name in names]
    return even if table.is_own(dict.fromkeys(even, "")) else names

"""Parquet files of agent runs, read as JSON Lines: one line a row, row 1 on line 1.

Its columns tell what a row is:

- `atif` (a session as ATIF): the line is the text of that column, and no other column is read;
- `transcript_id` (a transcript database of Inspect Scout 0.6, `_transcript/database/schema.py`): an object of all
  columns but views and pools of events, with the JSON in `messages` and `events`;
- messages, a list of structs or JSON text, in a column such as `messages`, `conversations` or `trajectory`: an object
  of all columns but binary ones and lists of numbers. Each message and its calls may be JSON text as well.

Arrow fills each struct with null for the fields of others: null fields are left out. Rows are decoded in batches of a
few MiB, so that memory does not grow with the file. A row that cannot be decoded becomes a line that says so, and
damage costs the rows from there to the end of its row group, however the file is cut.
"""

import io
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
from msgspec import Struct

from misstep_harness.errors import InputError, MissingPrerequisite, UnknownFormat, UnreadableTrajectory
from misstep_harness.places import path_text
from misstep_harness.readers.input.archive import check_expansion
from misstep_harness.readers.input.decoding import LINE_LIMIT, UNREADABLE, RowRange

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyarrow.parquet import ParquetFile

_ENCRYPTED = b"PARE"
"""How a file begins whose footer is encrypted too."""

_BODY = "atif"
_OF_SCOUT = "transcript_id"
_LEFT_IN_SCOUT = frozenset({"timelines", "events_data"})
_MESSAGES = frozenset(
    {"messages", "conversations", "conversation", "trajectory", "history", "chat", "dialog", "dialogue", "turns"}
)
"""Columns that hold a session where they are JSON text; a list of structs may have any name."""

_EVENTS = "events"
"""They say when messages were made, and are left out where a row would become too long."""

_CALLS = "tool_calls"
_JSON = _MESSAGES | {_EVENTS, "steps"}
_JSON_TEXT = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*(?:[\[{\"\]]|null))")
"""How JSON text begins; other text may begin with a bracket as well: `[INST] Fix it`."""

_NOTHING: tuple[Any, ...] = (None, "", b"", [], "[]", b"[]")
"""What holds no session, as a list and as its JSON text."""

_MOST_OF_A_RECORD = 64 << 10
_ROWS_LOOKED_AT = 16
_BATCH_BYTES = 4 << 20
_MOST_ROWS = 1024
_DICTIONARY_BYTES = 1 << 30
_MOST_FINE_BATCHES = 4096
"""A damaged group is read again in so many batches at most: of groups of no more rows, row by row."""

_SHOWN = 8


class _Columns(Struct, frozen=True):
    """The columns to read; `body` if a row is the text of the one column.

    Of `sessions` one has to hold something, and null columns are left out; if there are none, a row is any record.
    """

    names: tuple[str, ...]
    body: bool
    sessions: tuple[str, ...]


def row_lines(path: Path, file: BinaryIO, rows: RowRange | None = None) -> Iterator[bytes]:
    """Return one line for each row, or for each of some; a row in a broken page is a line that says so.

    Raises `UnknownFormat` if it has no column of agent runs, `InputError` if it is encrypted or has no footer.
    """
    opened = _opened(path, file)
    columns = _columns(path, opened)
    return _lines(opened, columns, rows or _all_rows(opened), os.fstat(file.fileno()).st_size)


def _all_rows(opened: "ParquetFile") -> RowRange:
    return RowRange(0, opened.metadata.num_row_groups, 1)


def row_groups(path: Path, file: BinaryIO) -> list[tuple[int, int]]:
    """Return the number of rows of each row group, and the bytes that it unpacks to."""
    opened = _opened(path, file)
    _columns(path, opened)
    return [_size_of(opened, index) for index in range(opened.metadata.num_row_groups)]


def _size_of(opened: "ParquetFile", group: int) -> tuple[int, int]:
    """Return rows and bytes; of a broken file any other field of a group ends the process in C++."""
    about = opened.metadata.row_group(group)
    return int(about.num_rows), max(1, int(about.total_byte_size))


def record_names(path: Path, file: BinaryIO) -> tuple[str, ...]:
    """Return the names of all columns."""
    return tuple(_opened(path, file).schema_arrow.names)


def record_lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Return one line for each row of any table: an object of its columns, but of those with over 64 KiB a row."""
    opened = _opened(path, file)
    columns = _Columns(_short_columns(opened), body=False, sessions=())
    return _lines(opened, columns, _all_rows(opened), os.fstat(file.fileno()).st_size)


def _short_columns(opened: "ParquetFile") -> tuple[str, ...]:
    names: tuple[str, ...] = tuple(opened.schema_arrow.names)
    for group in range(opened.metadata.num_row_groups):
        with suppress(OSError), _broken_as_os_error():
            for first in _batches(opened, group, names, _ROWS_LOOKED_AT):
                most = _MOST_OF_A_RECORD * first.num_rows
                short = {
                    name
                    for name, column in zip(first.schema.names, first.columns, strict=True)
                    if column.nbytes <= most
                }
                return tuple(name for name in names if name in short)
    return names


def _opened(path: Path, file: BinaryIO) -> "ParquetFile":
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        message = f"{path_text(path)} is a Parquet file, and pyarrow, which reads it, is not installed"
        raise MissingPrerequisite(message, "Run `pip install 'misstep[files]'`.") from error
    if file.read(4) == _ENCRYPTED:
        raise InputError("an encrypted Parquet file", "Decrypt it first.", file=path_text(path))
    file.seek(0)
    try:
        return ParquetFile(_Bounded(file), pre_buffer=False, page_checksum_verification=True)
    except (ArrowException, OSError, ValueError, MemoryError) as error:
        message = f"a Parquet file that is broken or cut off: {_first_sentence(error)}"
        raise UnreadableTrajectory(message, "Copy the file again.", file=path_text(path)) from error


class _Bounded(io.BufferedIOBase):
    """A file of which no more is asked than there is: what a broken one says of its length would be set aside first."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self._size - self._file.tell())
        return self._file.read(left if size is None or size < 0 else min(size, left))

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def _columns(path: Path, opened: "ParquetFile") -> _Columns:
    from pyarrow import types

    fields = {field.name: field.type for field in opened.schema_arrow}
    if _BODY in fields and _is_text(fields[_BODY]):
        return _Columns((_BODY,), body=True, sessions=(_BODY,))
    elements = {name: kind.value_type if _is_list(kind) else kind for name, kind in fields.items()}
    sessions = [name for name, kind in elements.items() if name in _MESSAGES and _is_text(kind)]
    sessions += [name for name, kind in fields.items() if _is_list(kind) and types.is_struct(kind.value_type)]
    if not sessions:
        has = ", ".join(list(fields)[:_SHOWN]) or "no column"
        reason = f"no column of agent runs (atif, messages, conversations, trajectory, …); it has {has}"
        raise UnknownFormat(path, {"Parquet": reason}, "Parquet")
    left = _LEFT_IN_SCOUT if _OF_SCOUT in fields else frozenset()
    names = [name for name, kind in fields.items() if name in sessions or not (name in left or _is_bulk(kind))]
    return _Columns(tuple(names), body=False, sessions=tuple(sessions))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    return any(is_one(kind) for is_one in texts)


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind))


def _is_bulk(kind: Any) -> bool:
    """Return whether values of a type are pictures, tokens or embeddings and no part of a session."""
    from pyarrow import types

    if types.is_struct(kind):
        return any(_is_bulk(field.type) for field in kind)
    if _is_list(kind) or types.is_fixed_size_list(kind):
        return bool(types.is_primitive(kind.value_type)) or _is_bulk(kind.value_type)
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))


def _lines(opened: "ParquetFile", columns: _Columns, rows: RowRange, size: int) -> Iterator[bytes]:
    unpacked = lines = 0
    try:
        for group in range(rows.first, rows.end):
            end = _size_of(opened, group)[0] if rows.count is None else rows.skip + rows.count
            for line in _of_group(opened, group, columns, rows.skip, end):
                unpacked, lines = unpacked + len(line), lines + 1
                check_expansion(unpacked, size, lines)
                yield line
    finally:
        opened.close()


def _of_group(opened: "ParquetFile", group: int, columns: _Columns, place: int, end: int) -> Iterator[bytes]:
    """Yield a line for each row between two places of a group; rows that cannot be read are lines that say why.

    If a batch cannot be read, smaller ones give what comes before the damage.
    """
    rows_of = _bodies if columns.body else _objects
    usual = _batch_rows(opened, group)
    why = "the group has fewer rows than the file says"
    for batch_rows in (usual, min(usual, 1 + _size_of(opened, group)[0] // _MOST_FINE_BATCHES)):
        try:
            with _broken_as_os_error():
                for batch in _slice(_batches(opened, group, columns.names, batch_rows), place, end - place):
                    for line in rows_of(batch, columns):
                        place += 1
                        yield line
        except OSError as error:
            why = str(error)
    if place < end:
        column = _broken_column(opened, group, columns.names, usual)
        lost = f"row group {group + 1} of {opened.metadata.num_row_groups:,} cannot be read here{column}: {why}"
        yield from repeat(_unreadable(lost), end - place)


def _batches(opened: "ParquetFile", group: int, names: Sequence[str], batch_rows: int) -> "Iterator[RecordBatch]":
    return opened.iter_batches(batch_rows, row_groups=[group], columns=list(names), use_threads=False)  # type: ignore[no-any-return]


def _broken_column(opened: "ParquetFile", group: int, names: Sequence[str], batch_rows: int) -> str:
    for name in names:
        try:
            with _broken_as_os_error():
                deque(_batches(opened, group, [name], batch_rows), maxlen=0)
        except OSError:
            return f", column {name}"
    return ""


def _slice(batches: "Iterable[RecordBatch]", skip: int, count: int) -> "Iterator[RecordBatch]":
    for batch in batches:
        own = batch.slice(skip, count)
        skip = max(0, skip - batch.num_rows)
        count -= own.num_rows
        if own.num_rows:
            yield own
        if not count:
            return


@contextmanager
def _broken_as_os_error() -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError, MemoryError) as error:
        raise OSError(f"the Parquet file is broken: {_first_sentence(error)}") from error


def _batch_rows(opened: "ParquetFile", group: int) -> int:
    """Return how many rows are decoded at once: a few MiB, or a GiB if each comes to all of a dictionary."""
    rows, size = _size_of(opened, group)
    return max(1, min(_MOST_ROWS, _BATCH_BYTES * rows // size, _DICTIONARY_BYTES // size))


def _bodies(batch: "RecordBatch", _: _Columns) -> Iterator[bytes]:
    from pyarrow import types

    column = batch.column(0)
    column = column.dictionary_decode() if types.is_dictionary(column.type) else column
    for value in column:
        body = value.as_buffer()
        if body is None or body.size == 0:
            yield _unreadable(f"the column {_BODY} is empty")
        elif body.size > LINE_LIMIT:
            yield _unreadable(f"the column {_BODY} has over {LINE_LIMIT >> 20} MiB")
        else:
            yield _line(body)


def _objects(batch: "RecordBatch", columns: _Columns) -> Iterator[bytes]:
    try:
        rows = batch.to_pylist(maps_as_pydicts="lossy")
    except (ValueError, OverflowError, KeyError, TypeError):  # one value cannot be had: which, a row alone tells
        if batch.num_rows == 1:
            yield _unreadable("a value of the row cannot be decoded")
            return
        for place in range(batch.num_rows):
            yield from _objects(batch.slice(place, 1), columns)
        return
    for row in rows:
        yield _object(row, columns)


def _object(row: dict[str, Any], columns: _Columns) -> bytes:
    if columns.sessions and all(row.get(name) in _NOTHING for name in columns.sessions):
        return _unreadable(f"nothing in the column{'s' * (len(columns.sessions) > 1)} {', '.join(columns.sessions)}")
    long = (value for name in (_EVENTS, *columns.sessions) if isinstance(value := row.get(name), str | bytes | list))
    if sum(map(len, long)) > LINE_LIMIT:
        row = {name: value for name, value in row.items() if name != _EVENTS}
    try:
        keeps_null = not columns.sessions
        filled = {name: _inline(name, value) for name, value in row.items() if keeps_null or value is not None}
        return _line(msgspec.json.encode(filled, enc_hook=str))
    except (ValueError, TypeError, RecursionError) as error:
        return _unreadable(f"the row cannot be written as JSON: {_first_sentence(error)}")


def _inline(name: str, value: Any) -> Any:
    """Return the value of a column; JSON text in a column that holds messages becomes that JSON unchanged."""
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, list) and name in _MESSAGES:
        return [_inline(name, one) for one in value]
    return _as_json(value) if name in _JSON and isinstance(value, str) else _without_nulls(value)


def _as_json(text: str) -> Any:
    return msgspec.Raw(text.encode()) if _JSON_TEXT.match(text) else text


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _as_json(one) if name == _CALLS and isinstance(one, str) else _without_nulls(one)
            for name, one in value.items()
            if one is not None
        }
    if isinstance(value, list):
        return [_without_nulls(one) for one in value]
    return value


def _line(body: Any) -> bytes:
    """Return a body as one line, copied once; a blank one would be passed over and becomes a line that says so."""
    line = b"".join((body, b"\n"))
    if line.isspace():
        return _unreadable("there are only blanks")
    return line if line.find(b"\n") == len(line) - 1 else line[:-1].replace(b"\n", b" ") + b"\n"


def _unreadable(why: str) -> bytes:
    return msgspec.json.encode({UNREADABLE: why}) + b"\n"


def _first_sentence(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].partition(". ")[0]

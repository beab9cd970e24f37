"""SQLite files in which programs keep their sessions, read as JSON Lines: one line a session, in the order they began.

Its tables tell the program: Goose (`sessions.db`), opencode (`opencode.db`) or Cursor (`state.vscdb`);
`misstep_database` names it. A line has the shape that the program exports, or for Cursor that of its records.

A file from outside is data, opened for reading alone: views, triggers, virtual tables and computed columns are refused.
The size of the file limits how long SQLite may work and what all of it may come to. A file that has its last changes
beside it (`-wal`) is copied with them to a temporary folder, as SQLite would write beside the original.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.places import last_changes_of
from misstep_harness.readers.input.archive import check_expansion
from misstep_harness.readers.input.decoding import LINE_LIMIT, T, convert, decode_json, unreadable
from misstep_harness.readers.input.fields import at, text_or_none
from misstep_harness.trajectory import Source

MARK = "misstep_database"
"""The field of a line that names the program whose database it is from."""

_UNREADABLE = "misstep_unreadable"
_FILE_LIMIT = 64 << 30
_COPY_LIMIT = 4 << 30
_OPERATIONS = 10_000
"""How many operations of SQLite's machine are between two looks at the limit."""

_FREE_OPERATIONS = 100_000_000
_OPERATIONS_A_BYTE = 20

_BROKEN = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises of a broken file; the second of a name of a column."""

Row = dict[str, Any]


class _NotWhole(Exception):
    """A session cannot be had whole: it comes to more than a line may, or its record is broken."""


def decode_session(data: bytes, source: Source, form: type[T]) -> tuple[dict[str, Any], T]:
    """Return a line as it is, and in the form of a session; an error if it is the word that one cannot be read."""
    value = decode_json(data, source)
    if not isinstance(value, dict):
        raise unreadable(f"not an object but {type(value).__name__}", source)
    if MARK in value and isinstance(value.get(_UNREADABLE), str):
        raise unreadable(value[_UNREADABLE], source)
    return value, convert(value, form, source)


def session_lines(path: Path) -> Iterator[bytes] | None:
    """Return one line for each session; `None` if the file is of no program that is known here.

    While it is read, an `OSError` says that the database is broken, comes to too much or takes too long.
    """
    lines = _session_lines(path)
    try:
        return lines if next(lines) else None
    except _BROKEN:
        return None


def _session_lines(path: Path) -> Iterator[bytes]:
    """Return the name of the program, then the lines."""
    with _opened(path) as database:
        yield (database.program() or "").encode()
        size = 0
        try:
            for line in database.lines():
                size += len(line)
                check_expansion(size, database.size)
                yield line
        except _BROKEN as error:
            raise OSError(f"the database cannot be read: {error}") from error


@contextmanager
def _opened(path: Path) -> Iterator["_Database"]:
    recent = last_changes_of(path)
    size = path.stat().st_size
    if size > _FILE_LIMIT:
        raise OSError(f"a database over {_FILE_LIMIT >> 30} GiB")
    if recent is None or recent.stat().st_size == 0:
        with _connected(path, "immutable=1") as connection:
            yield _Database(connection, size)
        return
    size += recent.stat().st_size
    if size > _COPY_LIMIT:
        raise OSError(f"over {_COPY_LIMIT >> 30} GiB, and {recent.name} beside it is not empty: end the program first")
    with TemporaryDirectory(prefix="misstep-") as folder:
        copy = Path(folder) / "database"
        shutil.copyfile(path, copy)
        shutil.copyfile(recent, copy.with_name("database-wal"))
        with _connected(copy, "mode=ro") as connection:
            yield _Database(connection, size)


def _connected(path: Path, how: str) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}&mode=ro", uri=True))


def _is_plain(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether a table exists, is neither a view nor virtual, and has no computed column."""
    schema = connection.execute("SELECT type, sql FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    if [(row["type"], str(row["sql"])[:12].upper()) for row in schema] != [("table", "CREATE TABLE")]:
        return False
    return not any(row["hidden"] for row in connection.execute(f"PRAGMA table_xinfo({table})"))


class _Database:
    """A file from outside behind an authorizer that lets its plain tables be read and nothing else."""

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        self.size = size
        self._connection = connection
        self._left = _FREE_OPERATIONS + _OPERATIONS_A_BYTE * size
        self._tables: set[str | None] = set()
        self._read = 0
        for setting in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
            connection.execute(f"PRAGMA {setting}")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LINE_LIMIT)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.text_factory = lambda raw: raw.decode(errors="replace")
        connection.row_factory = sqlite3.Row
        connection.set_progress_handler(self._is_over, _OPERATIONS)
        self._tables |= {name for tables, _ in _PROGRAMS.values() for name in tables if _is_plain(connection, name)}
        connection.set_authorizer(self._allowed)

    def _allowed(self, action: int, first: str | None, _: str | None, __: str | None, within: str | None) -> int:
        read = action == sqlite3.SQLITE_READ and first in self._tables and within is None
        return sqlite3.SQLITE_OK if read or action == sqlite3.SQLITE_SELECT else sqlite3.SQLITE_DENY

    def _is_over(self) -> bool:
        self._left -= _OPERATIONS
        return self._left < 0

    def program(self) -> str | None:
        return next((name for name, (tables, _) in _PROGRAMS.items() if tables <= self._tables), None)

    def lines(self) -> Iterator[bytes]:
        program = self.program()
        if program is None:
            return
        for name, session in _PROGRAMS[program][1](self):
            self._read = 0
            try:
                fields = session()
                line = None if fields is None else msgspec.json.encode({MARK: program} | fields)
            except sqlite3.OperationalError:  # it takes too long, or the disk fails
                raise
            except (_NotWhole, sqlite3.DatabaseError, RecursionError) as error:
                message = f"the session {name} cannot be read: {error}"
                line = msgspec.json.encode({MARK: program, _UNREADABLE: message})
            if line is not None:
                yield line + b"\n"

    def rows(self, query: str, *values: Any) -> Iterator[Row]:
        for row in self._connection.execute(query, values):
            fields = {name: _as_text(row[name]) for name in row.keys() if row[name] is not None}  # noqa: SIM118 (no dict)
            self._read += sum(len(value) for value in fields.values() if isinstance(value, str))
            if self._read > LINE_LIMIT:
                raise _NotWhole(f"over {LINE_LIMIT >> 20} MiB")
            yield fields

    def places(self, what: str, order: str = "rowid") -> dict[str, list[int]]:
        """Return the first column of a query → the places in the second, in order.

        If a page of the table is broken, an index that has both columns tells them as well, in the order of writing.
        """
        try:
            return self._places(f"{what} ORDER BY {order}")
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            groups = self._places(what)
            return {name: sorted(places) for name, places in sorted(groups.items(), key=lambda one: min(one[1]))}

    def _places(self, query: str) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        length = 0
        for name, place in self._connection.execute(query):
            known = groups.setdefault(str(_as_text(name)), [])
            length += len(str(name)) if not known else 0
            check_expansion(length, self.size)
            known.append(place)
        return groups

    def at(self, table: str, place: int) -> Row:
        return next(self.rows(f"SELECT * FROM {table} WHERE rowid = ?", place), {})  # noqa: S608 (names of our own)


Found = Iterator[tuple[str, Callable[[], Row | None]]]
"""The name of each session, and what reads it; that gives `None` for a conversation that was never begun."""


def _goose(database: _Database) -> Found:
    messages = database.places("SELECT session_id, rowid FROM messages")
    for name, (place, *_) in database.places("SELECT id, rowid FROM sessions").items():
        yield name, partial(_goose_session, database, place, messages.get(name, []))


def _goose_session(database: _Database, place: int, messages: list[int]) -> Row:
    session = _parsed(database.at("sessions", place))
    conversation = []
    for row in (_parsed(database.at("messages", one)) for one in messages):
        fixed = {"id": row.pop("message_id", None), "created": row.pop("created_timestamp", None)}
        conversation.append(fixed | {name: value for name, value in row.items() if name not in ("id", "session_id")})
    return session | {"conversation": conversation}


def _opencode(database: _Database) -> Found:
    messages = database.places("SELECT session_id, rowid FROM message", "time_created, id")
    parts = database.places("SELECT message_id, rowid FROM part", "id")
    sessions = database.places("SELECT id, rowid FROM session", "time_created, id")
    for name, (place, *_) in sessions.items():
        yield name, partial(_opencode_session, database, place, messages.get(name, []), parts)


def _opencode_session(database: _Database, place: int, messages: list[int], parts: dict[str, list[int]]) -> Row:
    row = _parsed(database.at("session", place))
    times = {name: row.pop(f"time_{name}", None) for name in ("created", "updated")}
    info = {"projectID": row.pop("project_id", None), "parentID": row.pop("parent_id", None), "time": times} | row
    conversation = []
    for message in (database.at("message", one) for one in messages):
        own = [_data_of(database.at("part", part)) for part in parts.get(str(message.get("id")), [])]
        conversation.append({"info": _data_of(message), "parts": own})
    return {"info": info, "messages": conversation}


def _data_of(row: Row) -> Row:
    data = _json(row.get("data"))
    return {"id": row.get("id")} | (data if isinstance(data, dict) else {"data": data})


def _cursor(database: _Database) -> Found:
    composers = "SELECT key, rowid FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'"
    for key, (place, *_) in database.places(composers).items():
        yield key.partition(":")[2], partial(_cursor_session, database, key.partition(":")[2], place)


def _cursor_session(database: _Database, name: str, place: int) -> Row | None:
    composer = _json(database.at("cursorDiskKV", place).get("value"))
    if isinstance(composer, str) and composer:
        raise _NotWhole("its record is no JSON")
    headers = at(composer, "fullConversationHeadersOnly")
    if not headers and not at(composer, "conversation"):
        return None
    bubbles = []
    for header in headers if isinstance(headers, list) else []:
        bubble = text_or_none(at(header, "bubbleId")) or ""
        key = f"bubbleId:{name}:{bubble}"
        row = next(database.rows("SELECT value FROM cursorDiskKV WHERE key = ?", key), {})
        bubbles.append(_json(row.get("value")) if row else header)
    return {"composerData": {"composerId": name} | composer, "bubbles": bubbles}


def _as_text(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _parsed(row: Row) -> Row:
    return {
        name.removesuffix("_json"): _json(value) if isinstance(value, str) and value[:1] in ("{", "[") else value
        for name, value in row.items()
    }


def _json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return decode_json(value.encode(), Source(""))
    except UnreadableTrajectory:
        return value


_PROGRAMS: dict[str, tuple[frozenset[str], Callable[[_Database], Found]]] = {
    "goose": (frozenset({"sessions", "messages", "schema_version"}), _goose),
    "opencode": (frozenset({"session", "message", "part"}), _opencode),
    "cursor": (frozenset({"cursorDiskKV"}), _cursor),
}
"""Program → the tables by which its database is known, and the function that finds its sessions."""

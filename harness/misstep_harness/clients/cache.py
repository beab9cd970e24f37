"""Answers that are kept: the same question is asked once, by whichever process, and never paid for again.

A cache is an SQLite file with a row for each key. As lines, for a colleague, it is

    {"key": "5d…", "request": {"model": …}, "reply": {"text": "yes", …}, "created": "2026-01-31T12:00:00+00:00"}

Every reply is on file before it is handed on, a failure never.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.clients.around_client import AroundClient
from misstep_harness.errors import CannotWrite, InputError, is_full, opening
from misstep_harness.escaping import without_surrogates
from misstep_harness.exchange import Client, Outcome, Reply, Request
from misstep_harness.journal.records import appending

_WAIT_SECONDS = 60.0
_KIND = 0x4D535450
"""Marks an SQLite file as a cache of ours (PRAGMA application_id)."""

_TABLE = """
CREATE TABLE IF NOT EXISTS exchange (
    key TEXT PRIMARY KEY, request BLOB NOT NULL, reply BLOB NOT NULL, created TEXT NOT NULL
)
"""
_PUT = "INSERT OR IGNORE INTO exchange VALUES (?, ?, ?, ?)"

_encode = msgspec.json.Encoder().encode
_reply = msgspec.json.Decoder(Reply)


class Exported(Struct, frozen=True):
    """A row of a cache as a line of a file."""

    key: str
    request: Request
    reply: Reply
    created: str


_exported = msgspec.json.Decoder(Exported)


class Cache:
    """The open file of a cache; several processes may have it open at once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            file.parent.mkdir(0o700, parents=True, exist_ok=True)
            appending(file, 0o600).close()  # SQLite itself would let everybody read it; its other files have its mode
            self._rows = sqlite3.connect(file, timeout=_WAIT_SECONDS, isolation_level=None)
            if self._one("PRAGMA application_id") != _KIND:
                with self._transaction():
                    if self._one("PRAGMA application_id") != _KIND and self._one("SELECT count(*) FROM sqlite_master"):
                        raise sqlite3.DatabaseError("it holds something else")
                    self._rows.execute(_TABLE)
                    self._rows.execute(f"PRAGMA application_id = {_KIND}")
            self._rows.execute("PRAGMA journal_mode = WAL")
            self._rows.execute("PRAGMA synchronous = NORMAL")
        except (OSError, sqlite3.Error) as error:
            if _is_full(error):
                raise CannotWrite(file, str(error)) from error
            message = f"not a cache of replies: {error}"
            raise InputError(message, "Name another file, or delete this one.", file=file) from error

    def _one(self, statement: str) -> Any:
        return self._rows.execute(statement).fetchone()[0]

    def get(self, key: str) -> Reply | None:
        """Return the reply kept under a key, marked as cached."""
        with self._usable():
            row = self._rows.execute("SELECT reply FROM exchange WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        try:
            return replace(_reply.decode(row[0]), cached=True)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
            with self._usable():  # it is asked again, and the new reply kept
                self._rows.execute("DELETE FROM exchange WHERE key = ?", (key,))
            return None

    def put(self, key: str, request: Request, reply: Reply) -> None:
        """Keep a reply; where one is kept already that one stays."""
        created = datetime.now(UTC).isoformat(timespec="seconds")
        messages = tuple(replace(one, content=without_surrogates(one.content)) for one in request.messages)
        row = (key, _encode(replace(request, messages=messages)), _encode(replace(reply, cached=False)), created)
        with self._usable():
            self._rows.execute(_PUT, row)

    @contextmanager
    def _usable(self, other: Path | None = None) -> Iterator[None]:
        """Errors of the file as one of ours: a full disk, another process that holds it for long, a broken page."""
        try:
            yield
        except sqlite3.Error as error:
            if _is_full(error):
                raise CannotWrite(self.file, str(error)) from error
            advice = f"Repair the file, or {'name another one with --cache' if other is None else 'delete it'}."
            raise InputError(f"the cache cannot be used: {error}", advice, file=other or self.file) from error

    def export(self) -> Iterator[bytes]:
        """Return every row as a line of JSON, in the order of the keys."""
        with self._usable():
            for key, request, reply, created in self._rows.execute("SELECT * FROM exchange ORDER BY key"):
                row = {"key": key, "request": msgspec.Raw(request), "reply": msgspec.Raw(reply), "created": created}
                yield _encode(row) + b"\n"

    def take_in(self, file: Path) -> int:
        """Add the lines of a file that another cache was exported to; gives how many were new."""
        before = self.count()
        with self._usable(), self._transaction():
            for row in _lines(file):
                self._rows.execute(_PUT, (row.key, _encode(row.request), _encode(row.reply), row.created))
        return self.count() - before

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._rows.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._rows.execute("COMMIT")
        except BaseException:
            if self._rows.in_transaction:  # SQLite itself gives up a transaction that the device has no room for
                with suppress(sqlite3.Error):
                    self._rows.execute("ROLLBACK")
            raise

    def add(self, file: Path) -> None:
        """Add the replies of another cache; where one is kept already that one stays."""
        with self._usable(file):
            self._rows.execute("ATTACH ? AS other", (str(file),))
            try:
                self._rows.execute("INSERT OR IGNORE INTO exchange SELECT * FROM other.exchange ORDER BY key")
            finally:
                self._rows.execute("DETACH other")

    def count(self) -> int:
        """Return how many replies are kept."""
        with self._usable():
            return int(self._one("SELECT count(*) FROM exchange"))

    def close(self) -> None:
        """Close the file."""
        self._rows.close()


def _is_full(error: Exception) -> bool:
    if isinstance(error, OSError):
        return is_full(error)
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _lines(file: Path) -> Iterator[Exported]:
    with opening(file, "Name an exported cache."):
        stream = file.open("rb")
    with stream:
        for number, line in enumerate(stream, start=1):
            try:
                row = _exported.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                advice = "Export the cache again."
                raise InputError(f"not a line of an exported cache: {error}", advice, file=file, line=number) from error
            if row.key != row.request.key():
                raise InputError(
                    "the key does not belong to the request",
                    "Export the cache again; the line may have been edited.",
                    file=file,
                    line=number,
                    field="key",
                )
            yield row


class CachedClient(AroundClient):
    """Asks another client what is not in the cache, and keeps what it says."""

    def __init__(self, client: Client, cache: Cache) -> None:
        super().__init__(client)
        self._cache = cache

    async def ask(self, request: Request) -> Outcome:
        """Return the kept reply, else the outcome of asking."""
        key = request.key()
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        outcome = await self._client.ask(request)
        if isinstance(outcome, Reply):
            self._cache.put(key, request, outcome)
        return outcome

    async def close(self) -> None:
        """Close the other client and the file."""
        await super().close()
        self._cache.close()

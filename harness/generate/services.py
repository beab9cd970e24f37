"""Services that a coding agent asks beside its files: a database, an HTTP interface, a tool server."""

from collections.abc import Callable

from msgspec import Struct

from harness.generate.session import Session
from harness.generate.vocabularies import Named

_TABLES = ("parcels", "bookings", "meters", "invoices", "seasons", "leases")
_COLUMNS = ("limit_max", "upper_bound", "cap_value", "threshold_at")
_TRUE_COLUMN = "max_count"


class Service(Struct, frozen=True):
    """One service: a call by number that it refuses, what it says to it, a call that it takes, its answer."""

    word: str
    wrong: Callable[[int], Named]
    error: str
    look: Named
    shown: str
    right: Named
    answer: str


def pick_service(session: Session) -> Service:
    """A database or an HTTP interface, with tools named one way or another."""
    return session.random.choice((_database, _interface))(session)


def _database(session: Session) -> Service:
    tool = session.random.choice(("run_query", "db.execute", "mcp__postgres__query", "sqlite_select"))
    key = session.random.choice(("sql", "query", "statement"))
    table, column = session.random.choice(_TABLES), session.random.choice(_COLUMNS)
    return Service(
        table,
        lambda number: (tool, {key: f"SELECT {column} FROM {table} WHERE id = {number + 11}"}),  # noqa: S608 (made up)
        session.replied("sql_error", column=column, table=table),
        (tool, {key: f"SELECT * FROM {table} LIMIT 1"}),  # noqa: S608 (made up)
        f'[{{"id": 11, "{_TRUE_COLUMN}": 40}}]',
        (tool, {key: f"SELECT {_TRUE_COLUMN} FROM {table} WHERE id = 11"}),  # noqa: S608 (made up)
        f'[{{"{_TRUE_COLUMN}": 40}}]',
    )


def _interface(session: Session) -> Service:
    tool = session.random.choice(("http_request", "fetch_json", "callApi", "mcp__http__send"))
    table, field = session.random.choice(_TABLES), session.random.choice(_COLUMNS)
    return Service(
        table,
        lambda number: (tool, {"method": "POST", "url": f"/v1/{table}/{number + 11}", "body": {field: "many"}}),
        session.replied("http_error", field=field, table=table),
        (tool, {"method": "GET", "url": f"/v1/{table}/11"}),
        f'{{"id": 11, "{_TRUE_COLUMN}": 40}}',
        (tool, {"method": "POST", "url": f"/v1/{table}/11", "body": {_TRUE_COLUMN: 41}}),
        f'{{"id": 11, "{_TRUE_COLUMN}": 41}}',
    )

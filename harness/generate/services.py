"""Services that a coding agent asks beside its files: a database, an HTTP interface, a tool server."""

from collections.abc import Callable

from msgspec import Struct

from misstep.harness.generate.session import SessionDraft
from misstep.harness.generate.vocabularies import Named

_TABLES = ("parcels", "bookings", "meters", "invoices", "seasons", "leases")
_COLUMNS = ("limit_max", "upper_bound", "cap_value", "threshold_at")
_TRUE_COLUMN = "max_count"


class Service(Struct, frozen=True):
    """One service: by number a word for a call that it refuses, the call and the answer; then calls that it takes.

    The calls that it refuses are about another thing each, and of the same mistake.
    """

    word: Callable[[int], str]
    wrong: Callable[[int], Named]
    error: Callable[[int], str]
    look: Named
    shown: str
    right: Named
    answer: str


def pick_service(session: SessionDraft) -> Service:
    """Return a database or an HTTP interface, with tools named one way or another."""
    return session.random.choice((_database, _interface))(session)


def _database(session: SessionDraft) -> Service:
    tool = session.random.choice(("run_query", "db.execute", "mcp__postgres__query", "sqlite_select"))
    key = session.random.choice(("sql", "query", "statement"))
    tables = session.random.sample(_TABLES, len(_TABLES))
    column = session.random.choice(_COLUMNS)

    def query(column: str, table: str) -> Named:
        return tool, {key: f"SELECT {column} FROM {table} LIMIT 3"}  # noqa: S608 (made up)

    return Service(
        lambda number: tables[number],
        lambda number: query(column, tables[number]),
        lambda number: session.replied("sql_error", column=column, table=tables[number]),
        query("*", tables[0]),
        f'[{{"id": 11, "{_TRUE_COLUMN}": 40}}]',
        query(_TRUE_COLUMN, tables[0]),
        f'[{{"{_TRUE_COLUMN}": 40}}]',
    )


def _interface(session: SessionDraft) -> Service:
    tool = session.random.choice(("http_request", "fetch_json", "callApi", "mcp__http__send"))
    tables = session.random.sample(_TABLES, len(_TABLES))
    field = session.random.choice(_COLUMNS)

    def request(method: str, table: str, **body: object) -> Named:
        return tool, {"method": method, "url": f"/v1/{table}/11"} | ({"body": body} if body else {})

    return Service(
        lambda number: tables[number],
        lambda number: request("POST", tables[number], **{field: "many"}),
        lambda number: session.replied("http_error", field=field, table=tables[number]),
        request("GET", tables[0]),
        f'{{"id": 11, "{_TRUE_COLUMN}": 40}}',
        request("POST", tables[0], **{_TRUE_COLUMN: 41}),
        f'{{"id": 11, "{_TRUE_COLUMN}": 41}}',
    )

"""SQLite files of sessions: a line a session, what was written last, and nothing executed or unlimited."""

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misstep_harness.errors import InputError, UnknownFormat
from misstep_harness.readers import read_file
from misstep_harness.readers.input import databases
from misstep_harness.readers.input.streams import is_plain, open_bytes
from misstep_harness.trajectory import Tokens, Trajectory, Unreadable
from tests.families.recordings import recording_of


def made(path: Path, *statements: str | tuple[str, Any]) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            if isinstance(statement, str):
                connection.execute(statement)
            else:
                connection.execute(*statement)
    return path


def goose(path: Path) -> Path:
    """A database of Goose with the session of the sample, and one of nothing."""
    session = json.loads(recording_of("goose"))
    statements: list[str | tuple[str, Any]] = [
        "CREATE TABLE schema_version (version INTEGER PRIMARY KEY)",
        "CREATE TABLE sessions (id TEXT, name TEXT, working_dir TEXT, model_config_json TEXT, input_tokens INTEGER)",
        "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT, role TEXT, "
        "content_json TEXT, created_timestamp INTEGER, metadata_json TEXT)",
        (
            "INSERT INTO sessions VALUES (?, 'Rename', '/home/kim/app', ?, 90)",
            (session["id"], '{"model_name": "gpt-x"}'),
        ),
        "INSERT INTO sessions VALUES ('20260105_2', '', '/', NULL, NULL)",
    ]
    for message in session["conversation"]:
        row = (message.get("id"), session["id"], message["role"], json.dumps(message["content"]), message["created"])
        insert = "INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?, ?)"
        statements.append((insert, (*row, json.dumps(message["metadata"]) if "metadata" in message else None)))
    return made(path, *statements)


def opencode(path: Path) -> Path:
    """A database of opencode with the session of the sample, its parts written in another order."""
    session = json.loads(recording_of("opencode"))
    statements: list[str | tuple[str, Any]] = [
        "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER)",
        "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)",
        "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)",
        "INSERT INTO session VALUES ('ses_1', 'ses_0', '/home/kim/app', 'Rename', 1)",
    ]
    for message in session["messages"]:
        info = dict(message["info"])
        name, created = info.pop("id"), info["time"]["created"]
        statements.append(("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (name, created, json.dumps(info))))
        for part in reversed(message["parts"]):
            data = json.dumps({key: value for key, value in part.items() if key != "id"})
            statements.append(("INSERT INTO part VALUES (?, ?, 'ses_1', ?)", (part["id"], name, data)))
    return made(path, *statements)


def cursor(path: Path) -> Path:
    """A database of Cursor with the composer of the sample, and one in which nothing was said."""
    sample = json.loads(recording_of("cursor"))
    bubbles = {bubble["bubbleId"]: bubble for bubble in sample["bubbles"]}
    headers = [{"bubbleId": name, "type": bubble["type"]} for name, bubble in bubbles.items()]
    composer = sample["composerData"] | {"fullConversationHeadersOnly": [*headers, {"bubbleId": "gone", "type": 2}]}
    pairs = {"composerData:s1": composer, "composerData:s0": {"fullConversationHeadersOnly": []}, "other": {}}
    pairs |= {f"bubbleId:s1:{name}": bubble for name, bubble in bubbles.items()}
    insert = "INSERT INTO cursorDiskKV VALUES (?, ?)"
    return made(
        path,
        "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
        "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
        *[(insert, (key, json.dumps(value).encode())) for key, value in pairs.items()],
    )


def read(path: Path) -> list[Trajectory]:
    results = list(read_file(path))
    readable = [one for one in results if isinstance(one, Trajectory)]
    assert readable == results
    return readable


def test_a_database_has_the_sessions_that_its_program_exports(tmp_path: Path) -> None:
    session, empty = read(goose(tmp_path / "sessions.db"))
    (other,) = read(opencode(tmp_path / "opencode.db"))
    exported = tmp_path / "session.json"
    for name, one in (("goose", session), ("opencode", other)):
        exported.write_bytes(recording_of(name))
        assert one.steps == read(exported)[0].steps
    assert (session.id, session.model, session.source.line) == ("20260105_1", "gpt-x", 1)
    assert (empty.id, empty.steps, empty.source.line) == ("20260105_2", (), 2)
    assert (other.id, other.parent, other.model) == ("ses_1", "ses_0", "gpt-x")


def test_a_database_of_cursor_has_the_composers_in_which_something_was_said(tmp_path: Path) -> None:
    (session,) = read(cursor(tmp_path / "state.vscdb"))
    assert (session.id, session.model, session.task) == ("s1", "gpt-x", "Rename the flag")
    assert [result.exit_code for step in session.steps for result in step.results] == [2]
    assert session.steps[-1].tokens == Tokens(90, 7)
    assert session.extra["other_bubbles"] == [{"bubbleId": "gone", "type": 2}]


def test_a_composer_whose_record_is_broken_is_unreadable_and_hides_no_other(tmp_path: Path) -> None:
    insert = "INSERT INTO cursorDiskKV VALUES (?, ?)"
    broken = [("composerData:s2", b'{"fullConversationHeadersOnly": [{'), ("composerData:s3", None)]
    path = made(cursor(tmp_path / "state.vscdb"), *[(insert, pair) for pair in broken])
    session, lost = read_file(path)
    assert isinstance(session, Trajectory)
    assert isinstance(lost, Unreadable)
    assert lost.error == "the session s2 cannot be read: its record is no JSON"


def test_what_was_written_last_and_stands_beside_the_database_is_read_and_nothing_is_written(tmp_path: Path) -> None:
    path = made(goose(tmp_path / "sessions.db"), "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(path)) as program, program:
        program.execute("PRAGMA wal_autocheckpoint = 0")
        program.execute("INSERT INTO sessions VALUES ('20260105_3', '', '/', NULL, NULL)")
        program.commit()
        copy = tmp_path / "copy"
        copy.mkdir()
        for name in ("sessions.db", "sessions.db-wal"):
            (copy / name).write_bytes((tmp_path / name).read_bytes())
    before = {file.name: file.read_bytes() for file in copy.iterdir()}
    assert [session.id for session in read(copy / "sessions.db")] == ["20260105_1", "20260105_2", "20260105_3"]
    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before


def test_a_database_of_no_known_program_is_of_no_format(tmp_path: Path) -> None:
    path = made(tmp_path / "other.db", "CREATE TABLE sessions (id TEXT)")
    assert not is_plain(path)
    with pytest.raises(UnknownFormat):
        list(read_file(path))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW part AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS "
        "message_id, '' AS data FROM n",
        "CREATE VIRTUAL TABLE part USING fts5(id, message_id, data)",
        "CREATE TABLE part (id TEXT, message_id TEXT, data TEXT AS (hex(id)) VIRTUAL)",
    ],
)
def test_a_view_a_virtual_table_or_a_computed_column_is_none_of_a_program(tmp_path: Path, statement: str) -> None:
    path = opencode(tmp_path / "opencode.db")
    made(path, "DROP TABLE part", statement)
    with pytest.raises(UnknownFormat):
        list(read_file(path))


def test_a_session_too_long_for_a_line_is_unreadable_and_the_others_are_read(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(databases, "LINE_LIMIT", 500)
    long, short = read_file(goose(tmp_path / "sessions.db"))
    assert isinstance(long, Unreadable)
    assert "20260105_1" in long.error
    assert long.line == 1
    assert isinstance(short, Trajectory)


@pytest.mark.parametrize(("limit", "words"), [("_FILE_LIMIT", "a database over"), ("_COPY_LIMIT", "end the program")])
def test_a_database_that_is_too_long_is_not_opened_and_the_error_says_why(tmp_path, monkeypatch, limit, words) -> None:
    path = goose(tmp_path / "sessions.db")
    (tmp_path / "sessions.db-wal").write_bytes(b"x")
    monkeypatch.setattr(databases, limit, 1000)
    with pytest.raises(InputError, match=words):
        list(read_file(path))


def test_what_takes_too_long_is_broken_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = cursor(tmp_path / "state.vscdb")
    insert = "INSERT INTO cursorDiskKV VALUES (?, ?)"
    made(path, *[(insert, (f"composerData:t{n}", b"{}")) for n in range(5000)])
    monkeypatch.setattr(databases, "_FREE_OPERATIONS", 0)
    monkeypatch.setattr(databases, "_OPERATIONS_A_BYTE", 0)
    with open_bytes(path) as stream:
        stream.read()
        assert "interrupted" in str(stream.broken)


@pytest.mark.parametrize("cut", [100, 5000, 9000])
def test_a_database_that_is_cut_off_is_unreadable_or_of_no_format(tmp_path: Path, cut: int) -> None:
    path = goose(tmp_path / "sessions.db")
    path.write_bytes(path.read_bytes()[:cut])
    with suppress(UnknownFormat):
        assert any(isinstance(one, Unreadable) for one in read_file(path))


def test_a_column_whose_name_is_no_text_breaks_the_reading_off(tmp_path: Path) -> None:
    path = goose(tmp_path / "sessions.db")
    path.write_bytes(path.read_bytes().replace(b"created_timestamp", b"created_timestam\x8f"))
    assert ["the database cannot be read" in one.error for one in read_file(path) if isinstance(one, Unreadable)] == [
        True
    ]


def test_a_broken_page_costs_the_sessions_with_messages_on_it_where_an_index_tells_them(tmp_path: Path) -> None:
    path = goose(tmp_path / "sessions.db")
    insert = "INSERT INTO messages VALUES (NULL, 'm', ?, 'user', ?, 1, NULL)"
    text = json.dumps([{"type": "text", "text": "word " * 300}])
    rows = [("INSERT INTO sessions VALUES (?, '', '/', NULL, NULL)", (f"s{number:02}",)) for number in range(20)]
    rows += [(insert, (f"s{number:02}", text)) for number in range(20) for _ in range(3)]
    made(path, "CREATE INDEX of_session ON messages (session_id)", *rows)
    size = sqlite3.connect(path).execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(path.read_bytes())
    place = content.index(b"word word", len(content) // 2) // size * size
    content[place : place + size] = b"\xaa" * size
    path.write_bytes(content)
    results = list(read_file(path))
    lost = [one for one in results if isinstance(one, Unreadable)]
    assert len(results) == 22
    assert 1 <= len(lost) <= 3
    assert all("cannot be read: database disk image is malformed" in one.error for one in lost)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_the_bytes_of_a_database_nothing_is_raised_but_the_projects_own_errors(tmp_path, data) -> None:
    whole = tmp_path / "sessions.db"
    altered = bytearray((whole if whole.exists() else goose(whole)).read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        altered[data.draw(st.integers(16, len(altered) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "altered.db"
    path.write_bytes(altered)
    with suppress(UnknownFormat):
        assert all(isinstance(one, Trajectory | Unreadable) for one in read_file(path))

"""Parquet files of agent runs: a line a row, read in small pieces, and said in one line what cannot be read."""

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misstep_harness.errors import InputError, MissingPrerequisite, UnknownFormat
from misstep_harness.readers import FoundFile, all_readers, plan, read_file, read_part, read_placed, reader_for
from misstep_harness.readers.input import parquet
from misstep_harness.readers.input.streams import is_plain, open_bytes, open_records
from misstep_harness.runs.inputs import parts_of
from misstep_harness.trajectory import Trajectory, Unreadable

CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "Where?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": {"path": "."}}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
]

SESSION: dict[str, Any] = {
    "schema_version": "ATIF-v1.4",
    "session_id": "0",
    "agent": {"name": "coder", "version": "1"},
    "steps": [{"step_id": 1, "source": "user", "message": "Where?"}],
}


def written(path: Path, columns: dict[str, list[Any]], rows_a_group: int = 2, **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=rows_a_group, **options)
    return path


def lake(path: Path, n: int = 5, **options: Any) -> Path:
    bodies = [json.dumps(SESSION | {"session_id": str(place)}) for place in range(n)]
    return written(path, {"id": list(map(str, range(n))), "atif": bodies}, **options)


def error_of(path: Path, *, named: bool = False) -> str:
    (part,) = parts_of(FoundFile(path, named))
    assert isinstance(part, Unreadable)
    return part.error


def ids(path: Path) -> list[str | int | None]:
    """The id of each trajectory of a file, and the line of each that cannot be read."""
    return [one.id if isinstance(one, Trajectory) else one.line for one in read_file(path)]


def test_a_lake_is_its_bodies_and_no_other_column_is_read(tmp_path: Path) -> None:
    path = lake(tmp_path / "lake.parquet")
    with open_bytes(path) as stream:
        assert stream.read().splitlines() == [body.encode() for body in pq.read_table(path)["atif"].to_pylist()]
    assert ids(path) == ["0", "1", "2", "3", "4"]
    broken = bytearray(path.read_bytes())
    place = pq.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset
    broken[place : place + 20] = b"\xff" * 20
    path.write_bytes(broken)
    assert ids(path) == ["0", "1", "2", "3", "4"]


def test_a_row_without_a_body_or_with_too_much_is_unreadable_and_named_by_its_number(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(parquet, "LINE_LIMIT", 50_000)
    body = json.dumps(SESSION, indent=1)
    bodies = [None, body, "", " \n", body.replace("\n", "\n" + " " * 60_000), body]
    results = list(read_file(written(tmp_path / "lake.parquet", {"atif": bodies}, write_batch_size=1)))
    assert [one.line if isinstance(one, Unreadable) else one.source.line for one in results] == [1, 2, 3, 4, 5, 6]
    assert [one.error for one in results if isinstance(one, Unreadable)] == [
        "the column atif is empty",
        "the column atif is empty",
        "there are only blanks",
        "the column atif has over 0 MiB",
    ]


@pytest.mark.parametrize(
    ("messages", "more"),
    [
        (CHAT, {}),
        (json.dumps(CHAT, indent=1), {"tokens": [[1, 2], [3]], "image": [b"\xff"] * 2}),
        (list(map(json.dumps, CHAT)), {}),
        ([one | {"tool_calls": json.dumps(one["tool_calls"]) if "tool_calls" in one else None} for one in CHAT], {}),
    ],
    ids=["structs", "JSON text", "JSON text a message", "JSON text of the calls"],
)
def test_chats_of_structs_and_of_json_text_are_read_as_the_same_lines_would_be(tmp_path, messages, more) -> None:
    columns = {"id": ["a", "b"], "messages": [messages] * 2} | more
    lines = tmp_path / "chats.jsonl"
    lines.write_text("".join(json.dumps({"id": name, "messages": CHAT}) + "\n" for name in columns["id"]))
    expected = [(one.id, one.steps, one.extra) for one in read_file(lines) if isinstance(one, Trajectory)]
    results = [one for one in read_file(written(tmp_path / "chats.parquet", columns)) if isinstance(one, Trajectory)]
    assert [(one.id, one.steps, one.extra) for one in results] == expected
    assert [one.source.line for one in results] == [1, 2]


def test_fields_that_other_structs_have_are_no_fields_of_this_one(tmp_path: Path) -> None:
    calls = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": name, "function": {"name": name, "arguments": a}}]}
        for name, a in (("ls", {"path": "."}), ("run", {"command": "make"}))
    ]
    (chat,) = read_file(written(tmp_path / "one.parquet", {"messages": [[CHAT[0], *calls]]}))
    assert isinstance(chat, Trajectory)
    assert [call.arguments for step in chat.steps for call in step.calls] == [{"path": "."}, {"command": "make"}]


@pytest.mark.parametrize(
    ("column", "messages"),
    [
        ("conversations", [{"from": "human", "value": "Sort."}, {"from": "gpt", "value": "Sorted."}]),
        (
            "trajectory",
            [
                {"role": "system", "system_prompt": "You sort.", "text": None},
                {"role": "user", "system_prompt": None, "text": "Sort."},
                {"role": "ai", "system_prompt": None, "text": "Sorted."},
            ],
        ),
    ],
)
def test_messages_under_other_names_are_a_chat_as_well(tmp_path, column, messages) -> None:
    (chat,) = read_file(written(tmp_path / "chats.parquet", {column: [messages]}))
    assert isinstance(chat, Trajectory)
    assert (chat.id, chat.task, chat.steps[-1].role, chat.steps[-1].text) == ("chats-1", "Sort.", "agent", "Sorted.")


@pytest.mark.parametrize(
    ("column", "value"), [("events", 3), ("history", "[INST] Sort."), ("turns", "[2 turns]"), ("chat", "{none}")]
)
def test_columns_beside_the_messages_may_have_any_type_and_any_text(tmp_path, column, value) -> None:
    (chat,) = read_file(written(tmp_path / "chats.parquet", {"messages": [CHAT], column: [value]}))
    assert isinstance(chat, Trajectory)
    assert chat.extra[column] == value


def test_a_row_with_keys_that_json_does_not_have_costs_that_row(tmp_path: Path) -> None:
    maps = pa.array([[((1,), 2)], []], pa.map_(pa.list_(pa.int64()), pa.int64()))
    path = tmp_path / "maps.parquet"
    pq.write_table(pa.table({"messages": [CHAT, CHAT], "map": maps}), path)
    assert ids(path) == [1, "maps-2"]


@pytest.mark.parametrize(("values", "names"), [([[1], [2]], ["x", "x"]), ([[]], ["x"]), ([], [])])
def test_any_table_has_records_also_without_rows_and_with_a_name_twice(tmp_path, values, names) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(one, pa.int64()) for one in values], names=names), path)
    records, columns = open_records(path)
    assert columns == tuple(names)
    assert records.read() == (b'{"x":2}\n' if len(names) > 1 else b"")


@given(st.integers(1, 9), st.integers(1, 4), st.sampled_from([1, 400, 4000]))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_parts_of_row_groups_are_the_whole(tmp_path: Path, n: int, rows_a_group: int, part_bytes: int) -> None:
    path = lake(tmp_path / "lake.parquet", n, rows_a_group=rows_a_group)
    parts = list(plan(path, all_readers(), part_bytes))
    results = [one for part in parts for one in read_part(part, reader_for(part.format))]
    assert results == list(read_file(path))
    assert len(parts) == -(-n // rows_a_group) or part_bytes > 1
    assert not is_plain(path)


def test_slices_of_a_long_row_group_are_its_rows_with_their_numbers(tmp_path, monkeypatch) -> None:
    path = lake(tmp_path / "lake.parquet", 11, rows_a_group=7)
    monkeypatch.setattr("misstep_harness.readers.files.SLICE_BYTES", 60)
    monkeypatch.setattr("misstep_harness.readers.input.parquet._BATCH_BYTES", 500)
    parts = list(plan(path, all_readers(), 1))
    results = [placed for part in parts for placed in read_placed(part, reader_for(part.format))]
    assert len(parts) > 4
    assert [placed.line for placed in results] == list(range(1, 12))
    assert [placed.found.id for placed in results if isinstance(placed.found, Trajectory)] == list(map(str, range(11)))


def damaged(path: Path, group: int, column: str, where: float = 0.0) -> Path:
    """The file with zeros in the pages of one column of a row group, from some share of them on."""
    about = pq.ParquetFile(path).metadata.row_group(group)
    content = bytearray(path.read_bytes())
    for chunk in map(about.column, range(about.num_columns)):
        if chunk.path_in_schema.split(".")[0] == column:
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            first = start + int(where * chunk.total_compressed_size)
            content[first : start + chunk.total_compressed_size] = bytes(start + chunk.total_compressed_size - first)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("rows_a_group", "group", "column", "where", "lost"),
    [
        (13, 2, "messages", 0.0, range(27, 40)),
        (13, 0, "messages", 0.0, range(1, 14)),
        (13, 2, "note", 0.0, range(27, 40)),
        (13, 2, "picture", 0.0, range(0)),
        (130, 0, "messages", 0.0, range(1, 131)),
        (65, 0, "note", 0.6, range(36, 66)),
    ],
    ids=["a group", "the first group", "another column", "a column that is not read", "all", "within a group"],
)
def test_damage_costs_the_rows_to_the_end_of_their_group_however_the_file_is_cut(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows_a_group: int,
    group: int,
    column: str,
    where: float,
    lost: range,
) -> None:
    columns = {
        "id": list(map(str, range(1, 131))),
        "messages": [json.dumps(CHAT)] * 130,
        "note": [f"{number:04}" * 100 for number in range(130)],
        "picture": [b"png"] * 130,
    }
    small_pages = {"use_dictionary": False, "data_page_size": 2000, "write_batch_size": 5, "compression": "none"}
    options = small_pages | {"write_page_checksum": True}
    path = damaged(written(tmp_path / "chats.parquet", columns, rows_a_group, **options), group, column, where)
    assert ids(path) == [number if number in lost else str(number) for number in range(1, 131)]
    if len(lost) < 130:
        whole = list(read_file(path))
        monkeypatch.setattr("misstep_harness.readers.files.SLICE_BYTES", 6000)
        for part_bytes in (1, 9000, 30_000):
            parts = list(plan(path, all_readers(), part_bytes))
            assert len(parts) > 1
            assert [one for part in parts for one in read_part(part, reader_for(part.format))] == whole


@pytest.mark.parametrize("length", [0.5, 0.02])
def test_a_file_without_its_footer_is_unreadable_and_stops_no_other(tmp_path: Path, length: float) -> None:
    path = lake(tmp_path / "lake.parquet")
    path.write_bytes(path.read_bytes()[: int(length * path.stat().st_size)])
    for named in (True, False):
        assert "broken or cut off" in error_of(path, named=named)


def test_an_encrypted_file_is_one_line_and_in_a_folder_unreadable(tmp_path: Path) -> None:
    path = lake(tmp_path / "lake.parquet")
    path.write_bytes(b"PARE" + path.read_bytes()[4:])
    with pytest.raises(InputError, match="encrypted"):
        list(read_file(path))
    assert "encrypted" in error_of(path)


def test_a_file_of_something_else_is_of_no_known_format_and_says_which_columns_are_missing(tmp_path: Path) -> None:
    path = written(tmp_path / "prices.parquet", {"day": [1], "price": [2.5]})
    with pytest.raises(UnknownFormat, match=r"no column of agent runs \(atif, messages, .*it has day, price"):
        list(read_file(path))


@pytest.mark.parametrize("first", ["{}", "[]", "null", "no JSON", '{"schema_version": '])
def test_rows_of_a_lake_that_are_no_sessions_do_not_hide_the_others(tmp_path: Path, first: str) -> None:
    """As a file of no known format it would be passed over in a folder, with every session in it."""
    path = written(tmp_path / "lake.parquet", {"atif": [first, json.dumps(SESSION), "{}"]})
    assert ids(path) == [1, "0", 3]


@pytest.mark.parametrize("chats", [[CHAT, [], None], [json.dumps(CHAT), "[]", ""]], ids=["structs", "JSON text"])
def test_a_chat_of_no_messages_is_no_session(tmp_path: Path, chats: list[Any]) -> None:
    path = written(tmp_path / "chats.parquet", {"id": ["a", "b", "c"], "messages": chats})
    assert ids(path) == ["a", 2, 3]


def test_a_file_of_no_rows_is_empty(tmp_path: Path) -> None:
    path = written(tmp_path / "lake.parquet", {"atif": pa.array([], pa.string())})
    assert [one.error for one in read_file(path) if isinstance(one, Unreadable)] == ["the file is empty"]


def test_what_unpacks_to_many_times_its_size_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep_harness.readers.input.archive.EXPANSION_LIMIT", 1 << 20)
    bodies = [json.dumps(SESSION)] * 9000
    results = list(read_file(written(tmp_path / "lake.parquet", {"atif": bodies}, rows_a_group=9000)))
    assert isinstance(results[-1], Unreadable)
    assert "unpacks to more than" in results[-1].error
    assert len(results) < 9000


def test_without_pyarrow_the_command_that_brings_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lake(tmp_path / "lake.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPrerequisite, match=r"pip install 'misstep\[files\]'"):
        list(read_file(path))
    assert "pip install 'misstep[files]'" in error_of(path)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_broken_bytes_raise_no_error_but_ours(tmp_path: Path, data: st.DataObject) -> None:
    path = written(tmp_path / "chats.parquet", {"id": ["a", "b", "c"], "messages": [CHAT] * 3})
    broken = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(4, len(broken) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(broken)
    with suppress(InputError):
        assert all(isinstance(one, Trajectory | Unreadable) for one in read_file(path))

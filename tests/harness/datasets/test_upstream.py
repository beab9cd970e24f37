"""Upstream files are read strictly: an error names the file, the line and the field; nothing is guessed."""

import gzip
from pathlib import Path

import pytest
from msgspec import Struct

from misstep_harness.datasets.upstream import (
    csv_rows,
    digest_of,
    file_text,
    json_file,
    json_lines,
    step_of_message,
    toml_file,
    trajectories,
)
from misstep_harness.errors import InputError
from misstep_harness.trajectory import Source, Trajectory


class Row(Struct):
    """A made-up row."""

    name: str
    count: int
    note: str = "none"


def file(tmp_path: Path, name: str, data: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_csv_cells_become_the_types_of_the_row_and_other_columns_are_left_out(tmp_path: Path) -> None:
    path = file(tmp_path, "a.csv", '\ufeffcount,name,more,note\r\n3,"a, b",x,y\r\n')
    assert list(csv_rows(path, Row)) == [Row("a, b", 3, "y")]


def test_an_empty_cell_takes_the_default_and_is_an_error_where_there_is_none(tmp_path: Path) -> None:
    assert list(csv_rows(file(tmp_path, "a.csv", "name,count,note\na,1,\n"), Row)) == [Row("a", 1, "none")]
    with pytest.raises(InputError, match=r"b\.csv:2: .*count"):
        list(csv_rows(file(tmp_path, "b.csv", "name,count,note\na,,x\n"), Row))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,note\n", r"a\.csv:1: count: the column is missing; the columns are name, note"),
        ("", r"a\.csv:1: name: the column is missing"),
        ('name,count,note\n"one\ntwo",3,x\nb,many,x\n', r"a\.csv:4: .*count"),
        ("name,count,note\na,1\n", r"a\.csv:2: the row and the header have different numbers of cells"),
        ("name,count,note\na,1,x,y\n", r"a\.csv:2: the row and the header have different numbers of cells"),
    ],
)
def test_a_broken_table_is_named_with_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(csv_rows(file(tmp_path, "a.csv", text), Row))


def test_json_lines_skip_blank_lines_and_name_the_line_that_is_broken(tmp_path: Path) -> None:
    path = file(tmp_path, "a.jsonl.gz", gzip.compress(b'{"name":"a","count":1}\n\n{"name":"b"}\n'))
    lines = json_lines(path, Row)
    assert next(lines) == Row("a", 1)
    with pytest.raises(InputError, match=r"a\.jsonl\.gz:3: .*count"):
        next(lines)


@pytest.mark.parametrize("text", ['{"name": 3, "count": 1}', "[", '{"name": "a"}', "[" * 100_000])
def test_a_document_of_another_shape_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"a\.json: "):
        json_file(file(tmp_path, "a.json", text), Row)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.gz", gzip.compress(b"text", mtime=0)[:-6], "cannot be read"),
        ("a.gz", b"no gzip", "cannot be read"),
        ("a.txt", b"\xff\xfe\xfa", "not UTF-8 at byte 0"),
    ],
)
def test_a_truncated_or_wrongly_encoded_file_is_an_error(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        file_text(file(tmp_path, name, data))


def test_a_missing_file_says_how_to_check_the_set(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"a\.toml: the file is missing\. Check the set with `misstep datasets verify`"
    ):
        toml_file(tmp_path / "a.toml", Row)


def test_the_digest_changes_with_a_name_and_with_a_byte_and_with_nothing_else(tmp_path: Path) -> None:
    digests = set()
    for folder, name, data in [("1", "a", "x"), ("2", "a", "y"), ("3", "b", "x"), ("4", "a", "x")]:
        (tmp_path / folder).mkdir()
        file(tmp_path / folder, name, data)
        digests.add(digest_of(tmp_path / folder))
    assert len(digests) == 3
    assert digest_of(tmp_path / "1") == digest_of(tmp_path / "4")


def test_runs_are_marked_as_of_their_set_and_lose_the_folder_they_lay_in(tmp_path: Path) -> None:
    run = Trajectory(id="r", source=Source("chat", str(tmp_path / "a.json"), 3))
    (read,) = trajectories(tmp_path / "a.json", lambda _: iter([run]), "some_set")
    assert read.source == Source("chat", "a.json", 3, "some_set")


@pytest.mark.parametrize("message", [-1, 2, 3])
def test_a_message_that_no_step_holds_is_an_error(message: int) -> None:
    run = Trajectory(id="r", source=Source("chat"), extra={"step_of_message": [0, 0, None]})
    with pytest.raises(InputError, match=rf"message {message} does not exist: r has 3"):
        step_of_message(run, message, Path("labels.json"))

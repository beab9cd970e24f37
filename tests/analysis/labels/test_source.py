"""A file is read by what it holds: packed or not, from standard input, or as a workbook."""

import gzip
import io
import sys
import zipfile
from pathlib import Path

import pytest

from misstep_analysis.labels import Reading, read_labels, read_questions, rows
from misstep_harness.errors import InputError, MissingPrerequisite
from tests.analysis.labels.shown import given, read
from tests.analysis.labels.workbook import workbook

WIDE = "item,ann,ben\nrun-1,agent,agent\nrun-2,task,\n"
EXPECTED = {"run-1": {"ann": "agent", "ben": "agent"}, "run-2": {"ann": "task"}}


def test_a_file_packed_by_gzip_is_unpacked_whatever_it_is_called(tmp_path: Path) -> None:
    packed = gzip.compress(WIDE.encode()[:20]) + gzip.compress(WIDE.encode()[20:])
    assert given(read(tmp_path / "labels.csv", packed)) == EXPECTED


@pytest.mark.parametrize("cut", [8, -6])
def test_a_broken_gzip_is_an_error_of_one_line(tmp_path: Path, cut: int) -> None:
    with pytest.raises(InputError, match="gzip"):
        read(tmp_path / "labels.csv.gz", gzip.compress(WIDE.encode())[:cut])
    with pytest.raises(InputError, match="not valid gzip"):
        read(tmp_path / "labels.csv.gz", b"\x1f\x8b" + b"x" * 40)


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MOST_BYTES", 2**20)
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read(tmp_path / "labels.csv.gz", gzip.compress(WIDE.encode() + b"\n" * 2**22))


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(WIDE.encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert given(read_labels(Path("-"))) == EXPECTED
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"item\n1\n")))
    with pytest.raises(InputError, match=r"^standard input:1: one column, 'item'"):
        read_labels(Path("-"))


def test_a_workbook_is_read_with_whole_numbers_as_such_and_blank_rows_and_columns_left_out(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["item", "ann", "ben", None],
        [None, None, None, None],
        ["run-1", 1.0, "1", None],
        ["run-2", 2.5, None, " "],
    ]
    labels = read(tmp_path / "labels.csv", workbook(Labels=rows))
    assert given(labels) == {"run-1": {"ann": "1", "ben": "1"}, "run-2": {"ann": "2.5"}}
    assert labels.remarks == []


def test_of_a_workbook_the_first_sheet_with_content_is_read_and_others_are_named(tmp_path: Path) -> None:
    sheet: list[list[object]] = [["item", "ann", "ben"], ["1", "a", "b"]]
    labels = read(tmp_path / "labels.xlsx", workbook(Empty=[], Labels=sheet, Notes=[["seen"]]))
    assert labels.remarks == ["sheet 'Labels' is read", "other sheets are not looked at: 'Notes'"]


def test_an_error_in_a_workbook_names_the_row_of_the_sheet(tmp_path: Path) -> None:
    rows: list[list[object]] = [["item", "ann", "ben"], [None], ["1", "a", "a"], ["1", "b", "b"]]
    with pytest.raises(InputError, match=r"labels\.xlsx:4: item '1' is on line 3 already"):
        read(tmp_path / "labels.xlsx", workbook(Labels=rows))


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (b"PK\x03\x04 and no more", "not a workbook that can be read"),
        (workbook(Labels=[]), "the workbook is empty"),
        (workbook(Labels=[["item", "ann"]]), "a header only"),
        (workbook(Labels=[["item"], ["1"]]), "one column, 'item'"),
    ],
)
def test_a_workbook_without_a_table_is_refused(tmp_path: Path, packed: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / "labels.xlsx", packed)


def test_without_the_library_for_workbooks_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingPrerequisite, match=r"pip install 'misstep\[sheets\]'"):
        read(tmp_path / "labels.xlsx", workbook(Labels=[["item", "ann", "ben"], ["1", "a", "b"]]))


def test_a_file_of_one_question_has_it_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(WIDE)
    assert list(read_questions(path, Reading()).labels) == [""]


def test_a_stray_cell_far_out_is_named_instead_of_filling_the_memory(tmp_path: Path) -> None:
    moved = io.BytesIO()
    packed = io.BytesIO(workbook(Labels=[["item", "ann"], ["far"]]))
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(moved, "w") as new:
        for part in old.infolist():
            new.writestr(part, old.read(part).replace(b'r="A2"', b'r="XFD1048576"'))
    with pytest.raises(InputError, match=r'a cell far out \(r="XFD1048576"\) gives a sheet 17,179,869,184 cells'):
        read(tmp_path / "labels.xlsx", moved.getvalue())


def test_a_delimiter_at_the_end_of_each_line_makes_no_column(tmp_path: Path) -> None:
    for quote in ("", '"'):
        labels = read(tmp_path / "labels.csv", f"item;{quote}ann{quote};ben;\n1;yes;no;\n2;no;no;\n")
        assert labels.raters == ["ann", "ben"]
    with pytest.raises(InputError, match="column 4 has no name"):
        read(tmp_path / "labels.csv", "item;ann;ben;\n1;yes;no;maybe\n2;no;no;\n")


def test_the_line_that_tells_a_spreadsheet_the_delimiter_is_no_header(tmp_path: Path) -> None:
    text = "sep=;\r\n" + WIDE.replace(",", ";")
    assert given(read(tmp_path / "labels.csv", text)) == EXPECTED
    with pytest.raises(InputError, match=r"labels\.csv:3: "):
        read(tmp_path / "labels.csv", text.replace("run-1;agent", "run-1"))

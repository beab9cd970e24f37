"""The inputs of a run are told by content and name; a file is read once, and again as soon as it may have changed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep_harness.journal import inputs
from misstep_harness.journal.inputs import difference, file_state, inputs_of_files, text_part
from misstep_harness.journal.records import Inputs


def test_the_digest_changes_with_content_name_and_order_and_with_nothing_else(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"12345")
    two.write_bytes(b"6")
    before = inputs_of_files(map(file_state, [one, two]))
    assert (before.files, before.bytes) == (2, 6)
    one.touch()
    assert inputs_of_files(map(file_state, [one, two])) == before
    assert inputs_of_files(map(file_state, [two, one])) != before
    one.write_bytes(b"1234x")
    assert inputs_of_files(map(file_state, [one, two])) != before
    one.write_bytes(b"12345")
    one.rename(tmp_path / "three")
    assert inputs_of_files(map(file_state, [tmp_path / "three", two])).digest != before.digest
    assert inputs_of_files(map(file_state, [one, two])).bytes == 1


def test_what_a_database_keeps_beside_it_is_part_of_its_state(tmp_path: Path) -> None:
    database, beside = tmp_path / "sessions.db", tmp_path / "sessions.db-wal"
    database.write_bytes(b"1")
    alone = file_state(database)
    beside.write_bytes(b"23")
    both = file_state(database, alone)
    assert (alone.bytes, both.bytes) == (1, 3)
    assert file_state(database, both) is both
    beside.write_bytes(b"24")
    os.utime(beside, ns=(both.modified + 1, both.modified + 1))
    assert file_state(database, both).digest != both.digest


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are read, in order."""
    seen: list[Path] = []
    blocks = inputs._blocks

    def counted(path: Path) -> Iterator[bytes]:
        seen.append(path)
        return blocks(path)

    inputs._remembered.cache_clear()
    monkeypatch.setattr(inputs, "_blocks", counted)
    return seen


def test_a_file_that_stands_unchanged_is_read_once(tmp_path, reads, monkeypatch) -> None:
    (tmp_path / "runs").write_bytes(b"a" * 1000)
    monkeypatch.setattr(inputs, "_SETTLED_SECONDS", -1e9)
    first = inputs_of_files(map(file_state, [tmp_path / "runs"]))
    assert inputs_of_files(map(file_state, [tmp_path / "runs"])) == first
    assert reads == [tmp_path / "runs"]
    stat = (tmp_path / "runs").stat()
    (tmp_path / "runs").write_bytes(b"b" * 1000)
    os.utime(tmp_path / "runs", ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert inputs_of_files(map(file_state, [tmp_path / "runs"])) != first


def test_a_file_that_was_just_written_is_read_each_time(tmp_path: Path, reads: list[Path]) -> None:
    (tmp_path / "runs").write_bytes(b"a" * 1000)
    for _ in range(2):
        inputs_of_files(map(file_state, [tmp_path / "runs"]))
    assert len(reads) == 2


def test_a_name_that_is_no_text_is_told_and_listed(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json"))
    odd.write_bytes(b"1")
    before = inputs_of_files(map(file_state, [odd]))
    odd.write_bytes(b"2")
    assert difference(before, inputs_of_files(map(file_state, [odd]))).endswith("\\xff.json changed")


def test_more_files_than_can_be_listed_are_told_by_their_digest_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(inputs, "MOST_LISTED", 1)
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"1")
    both = inputs_of_files(map(file_state, [tmp_path / "a", tmp_path / "b"]))
    assert both.parts == ()
    assert (
        difference(inputs_of_files(map(file_state, [tmp_path / "a"])), both)
        == "1 file of 1 bytes then, 2 files of 2 bytes now"
    )
    (tmp_path / "b").write_bytes(b"2")
    assert difference(both, inputs_of_files(map(file_state, [tmp_path / "a", tmp_path / "b"]))) == "the contents differ"


def test_what_an_earlier_version_did_not_note_is_not_compared() -> None:
    assert difference(Inputs(2, 5, "ff"), Inputs(2, 5, "ff", "ee")) == ""
    assert difference(Inputs(2, 5, "ff", "dd"), Inputs(2, 5, "ff", "ee")) == "the contents differ"


def _two(*parts: tuple[str, str]) -> Inputs:
    parts_told = tuple(text_part(name, text) for name, text in parts)
    return Inputs(2, 5, "ff", inputs.digest_of(parts_told), parts_told)


@pytest.mark.parametrize(
    ("now", "text", "without_what_is_gone"),
    [
        ((("a b.json", "1"), ("b", "3")), "b changed", "b changed"),
        ((("a b.json", "1"),), "b went away", ""),
        ((("a b.json", "2"),), "a b.json changed; b went away", "a b.json changed"),
        ((("a b.json", "1"), ("b", "2"), ("c", "2")), "c came in", "c came in"),
        ((("b", "2"), ("a b.json", "1")), "they come in another order", "they come in another order"),
        ((*((str(n), "") for n in range(9)), ("b", "2"), ("a b.json", "1")), "0, 1, 2 and 6 more came in", None),
    ],
)
def test_what_differs_is_named(now: tuple[tuple[str, str], ...], text: str, without_what_is_gone: str | None) -> None:
    was = _two(("a b.json", "1"), ("b", "2"))
    assert difference(was, was) == ""
    assert difference(was, _two(*now)) == text
    assert difference(was, _two(*now), gone=False) == (text if without_what_is_gone is None else without_what_is_gone)

"""Files to batches: everything once, in order, however the files are cut."""

import gzip
from pathlib import Path

import pytest

from misstep_harness.errors import InputError, UnknownFormat
from misstep_harness.readers import FoundFile
from misstep_harness.runs.inputs import (
    BATCH_FILES,
    Batch,
    batches,
    check_named,
    found_files,
    placed_in,
    total_bytes,
)
from misstep_harness.trajectory import Placed, Skipped, Trajectory, Unreadable
from tests.misstep.made_up import atif, atif_lines


def _read(batch: Batch) -> list[Trajectory | Unreadable | Skipped]:
    return [one.found if isinstance(one, Placed) else one for one in placed_in(batch)]


def _ids(folder: Path, batch_bytes: int) -> list[str]:
    read = [thing for batch in batches(found_files([folder]), batch_bytes) for thing in _read(batch)]
    return [thing.id if isinstance(thing, Trajectory) else type(thing).__name__ for thing in read]


def _mixed(folder: Path) -> Path:
    folder.mkdir()
    atif_lines(folder / "a.jsonl", (f"a{number}" for number in range(7)))
    (folder / "b.json").write_bytes(atif("b"))
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(atif("c0") + atif("c1")))
    (folder / "d.txt").write_text("Mend the fence.\n")
    (folder / "e.jsonl").write_bytes(atif("e0") + b'{"schema_version":\n' + atif("e1"))
    return folder


@pytest.mark.parametrize("batch_bytes", [1, 700, 2000, 1 << 20])
def test_everything_is_read_once_and_in_order_whatever_the_length_of_a_batch(tmp_path: Path, batch_bytes: int) -> None:
    assert _ids(_mixed(tmp_path / "runs"), batch_bytes) == [
        *(f"a{number}" for number in range(7)),
        *("b", "c0", "c1", "Skipped", "e0", "Unreadable", "e1"),
    ]


def test_the_line_of_a_broken_trajectory_is_that_of_the_file_in_any_batch(tmp_path: Path) -> None:
    file = atif_lines(tmp_path / "a.jsonl", map(str, range(9)))
    file.write_bytes(file.read_bytes() + b"{broken\n" + atif("last"))
    for batch_bytes in (1, 1500, 1 << 20):
        read = [thing for batch in batches(found_files([file]), batch_bytes) for thing in _read(batch)]
        (broken,) = [thing for thing in read if isinstance(thing, Unreadable)]
        assert (broken.file, broken.line) == (str(file), 10)
        assert read[-1].source.line == 11  # type: ignore[union-attr]


def test_small_files_share_a_batch_up_to_a_number_and_a_length(tmp_path: Path) -> None:
    for number in range(BATCH_FILES + 1):
        (tmp_path / f"{number:04}.json").write_bytes(atif(str(number), steps=1))
    assert [len(batch) for batch in batches(found_files([tmp_path]))] == [BATCH_FILES, 1]
    assert len(list(batches(found_files([tmp_path]), 1))) == BATCH_FILES + 1


def test_a_file_that_the_user_named_must_be_of_a_known_format(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("Mend the fence.\n")
    check_named([tmp_path])
    with pytest.raises(UnknownFormat, match=r"notes\.txt: no known trajectory format"):
        check_named([notes])
    with pytest.raises(InputError, match="No such file"):
        check_named([tmp_path / "none"])


def test_a_file_that_is_gone_when_its_batch_is_read_is_unreadable(tmp_path: Path) -> None:
    (thing,) = _read((FoundFile(tmp_path / "gone.json", named=False),))
    assert isinstance(thing, Unreadable | Skipped)


def test_the_length_of_the_inputs_is_that_of_their_files_with_parquet_about_as_long_as_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "b").write_bytes(b"4")
    (tmp_path / "c.parquet").write_bytes(b"56")
    assert total_bytes(found_files([tmp_path])) == 4 + 2 * 8

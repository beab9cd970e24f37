"""Paths to files: walked lazily, links followed once, what is not a file left out, errors said."""

import os
from itertools import islice
from pathlib import Path

import pytest

from misstep_harness.errors import InputError
from misstep_harness.readers import FoundFile, find_files


def names(*paths: Path) -> list[str]:
    return [result.path.name for result in find_files(paths)]


def test_folders_are_walked_in_order_of_name_files_before_folders(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "c/z.json", "c/a/y.json", "a/x.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert names(tmp_path) == ["a.json", "b.json", "x.json", "z.json", "y.json"]


def test_what_is_kept_beside_a_database_is_left_out_of_a_folder_and_taken_where_it_is_named(tmp_path: Path) -> None:
    for name in ("state.vscdb", "state.vscdb-wal", "state.vscdb.backup", "sessions.db", "sessions.db-shm"):
        (tmp_path / name).touch()
    assert names(tmp_path) == ["sessions.db", "state.vscdb"]
    assert names(tmp_path / "state.vscdb.backup") == ["state.vscdb.backup"]


def test_a_named_file_is_known_from_one_that_a_folder_holds(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.touch()
    assert list(find_files([file])) == [FoundFile(file, named=True)]
    assert list(find_files([tmp_path])) == [FoundFile(file, named=False)]


def test_hidden_files_and_folders_are_left_out_unless_named_or_hidden_by_their_writer(tmp_path: Path) -> None:
    for name in (".git/config", ".hidden.json", ".aider.chat.history.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert names(tmp_path) == [".aider.chat.history.md"]
    assert names(tmp_path / ".hidden.json", tmp_path / ".git") == [".hidden.json", "config"]


def test_loops_of_links_end_and_links_to_themselves_or_nowhere_are_no_files(tmp_path, monkeypatch) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "a.json").touch()
    (inner / "up").symlink_to(tmp_path, target_is_directory=True)
    (inner / "here").symlink_to(inner, target_is_directory=True)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    listed: list[object] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scandir(path))
    assert names(tmp_path) == ["a.json"]
    assert listed == [tmp_path, inner], "each folder once"


def test_a_file_that_a_link_reaches_again_is_given_once_a_hard_link_is_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "m.json").touch()
    (tmp_path / "a.json").symlink_to("m.json")
    os.link(tmp_path / "m.json", tmp_path / "z.json")
    assert names(tmp_path) == ["a.json", "z.json"]
    assert names(tmp_path / "m.json", tmp_path / "m.json", tmp_path) == ["m.json", "z.json"]


def test_a_folder_named_twice_is_walked_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.json").touch()
    assert names(tmp_path / "a", tmp_path, tmp_path / "a") == ["x.json"]


def test_pipes_and_sockets_in_a_folder_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/null")
    (tmp_path / "a.json").touch()
    assert names(tmp_path) == ["a.json"]


def test_what_does_not_exist_is_said(tmp_path: Path) -> None:
    for path in (tmp_path / "none", Path("a\0b")):
        with pytest.raises(InputError, match="Check the path"):
            names(path)


def test_a_folder_below_that_cannot_be_listed_does_not_stop_the_walk(tmp_path, monkeypatch) -> None:
    for name in ("locked/a.json", "open/b.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert names(tmp_path) == ["locked", "b.json"], "whoever opens the folder says why"
    with pytest.raises(InputError, match="Permission denied"):
        names(tmp_path / "locked")


def test_twenty_thousand_files_are_found_and_the_first_without_the_last(tmp_path: Path) -> None:
    original = tmp_path / "original"
    original.touch()
    for number in range(20):
        folder = tmp_path / f"{number:02}"
        folder.mkdir()
        for file in range(1000):
            os.link(original, folder / f"{file:03}.json")
    assert sum(1 for _ in find_files([tmp_path])) == 20_001
    walk = find_files([tmp_path])
    assert len(list(islice(walk, 2))) == 2
    for folder in tmp_path.glob("[01]*"):
        folder.rename(tmp_path / f"moved-{folder.name}")
    assert next(walk).path.parent.name == "00", "a folder is listed when it is come to"

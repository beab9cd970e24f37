"""A folder that a stranger wrote is read as it is: no link in it leads the reader anywhere else."""

import os
from pathlib import Path

import pytest

from misstep_harness import beneath
from misstep_harness.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stranger's folder beside a folder with something of the user's."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/key").write_text("secret")
    (tmp_path / "case/tests").mkdir(parents=True)
    (tmp_path / "case/tests/a").write_text("a")
    return tmp_path / "case"


def test_what_is_there_is_read_and_what_is_not_there_is_none(folder: Path) -> None:
    assert (beneath.file_of(folder, "tests/a"), beneath.file_of(folder, "tests/b")) == (b"a", None)
    assert beneath.file_of(folder, "tests/a/b") is None
    assert (beneath.folder_of(folder, "tests"), beneath.folder_of(folder, "logs")) == (folder / "tests", None)
    assert list(beneath.folders_with(folder, "a")) == [folder / "tests"]


@pytest.mark.parametrize(("link", "path"), [("b", "b"), ("logs", "logs/key"), ("tests/deep", "tests/deep/key")])
def test_a_file_behind_a_link_is_refused_by_its_name(folder: Path, link: str, path: str) -> None:
    (folder / link).symlink_to(folder.parent / "own" / ("key" if link == path else ""))
    with pytest.raises(InputError, match=f"{path}.* is a link"):
        beneath.file_of(folder, path)


def test_a_pipe_and_a_file_that_is_too_large_are_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        beneath.file_of(folder, "pipe")
    with pytest.raises(InputError, match="more than 0 bytes"):
        beneath.file_of(folder, "tests/a", 0)


def test_a_link_in_the_place_of_a_folder_is_refused(folder: Path) -> None:
    (folder / "logs").symlink_to("tests")
    with pytest.raises(InputError, match="'logs' is a link"):
        beneath.folder_of(folder, "logs")
    with pytest.raises(InputError, match="'logs' is a link"):
        list(beneath.folders_with(folder, "a"))


@pytest.mark.parametrize("path", ["../own/key", "out", "tests/out", "over/key", "/etc/passwd"])
def test_a_path_that_leads_out_is_refused_by_text_and_by_link(folder: Path, path: str) -> None:
    for link, target in (("out", "../own/key"), ("tests/out", "../../own/key"), ("over", "../own")):
        (folder / link).symlink_to(target)
    with pytest.raises(InputError, match="leads out of the folder"):
        beneath.inside(folder, path)


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_what_is_no_path_is_an_error(folder: Path, path: str) -> None:
    with pytest.raises(InputError, match="is not a path"):
        beneath.inside(folder, path)


def test_a_pipe_is_no_file_of_a_benchmark_and_nobody_waits_for_it(folder: Path) -> None:
    os.mkfifo(folder / "items.jsonl")
    with pytest.raises(InputError, match="is a pipe"):
        beneath.inside(folder, "items.jsonl")


def test_a_link_that_stays_in_the_folder_may_be_followed(folder: Path) -> None:
    (folder / "again").symlink_to("tests/a")
    assert beneath.inside(folder, "again").read_text() == "a"
    assert beneath.inside(folder, "tests/../nothing") == folder / "tests/../nothing"


def test_a_path_without_links_is_told_from_one_with_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path(os.path.realpath(folder))
    (real / "logs").symlink_to("tests")
    monkeypatch.chdir(real)
    assert all(beneath.without_links(path) for path in (real / "tests/a", Path("tests/a"), Path("tests/../tests")))
    assert not any(beneath.without_links(path) for path in (real / "logs", real / "logs/a", Path("logs/a")))

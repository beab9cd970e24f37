"""What is written beside other files is new, under a name that nobody can foresee, and never goes through a link."""

import os
from pathlib import Path

import pytest

from misstep_harness.clients.cache import Cache
from misstep_harness.clients.cost_limit import SpendingLog
from misstep_harness.clients.recording import RecordingClient, ScriptedClient
from misstep_harness.errors import InputError
from misstep_harness.journal import records
from misstep_harness.journal.records import appending, replace_file, replacing
from misstep_harness.journal.run_folder import locked


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file of the user's outside of the folder that is written to."""
    file = tmp_path / "own"
    file.write_text("alias ls=ls\n")
    (tmp_path / "folder").mkdir()
    return file


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(own: Path) -> None:
    file = own.parent / "folder/page.html"
    file.symlink_to(own)
    replace_file(file, b"new")
    assert (file.is_symlink(), file.read_bytes(), own.read_text()) == (False, b"new", "alias ls=ls\n")


def test_the_name_of_a_half_written_file_is_another_each_time(own: Path) -> None:
    names = []
    for _ in range(3):
        with replacing(own.parent / "folder/a") as stream:
            stream.write(b"x")
            names += [file.name for file in (own.parent / "folder").glob(".*.part")]
    assert len(set(names)) == 3


def test_a_link_with_the_name_of_the_half_written_file_stops_the_writer(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records.os, "urandom", bytes)
    (own.parent / f"folder/.a.{os.getpid()}-0.part").symlink_to(own)
    with pytest.raises(FileExistsError):
        replace_file(own.parent / "folder/a", b"new")
    assert own.read_text() == "alias ls=ls\n"


def test_a_file_that_is_not_written_to_its_end_leaves_the_old_one_and_nothing_beside_it(own: Path) -> None:
    with pytest.raises(TypeError), replacing(own) as stream:
        stream.writelines([b"half", 1])
    assert {file.name for file in own.parent.iterdir()} == {"folder", "own"}
    assert own.read_text() == "alias ls=ls\n"


def test_no_journal_is_added_to_through_a_link(own: Path) -> None:
    file = own.parent / "folder/verdicts.jsonl"
    file.symlink_to(own)
    with pytest.raises(OSError, match="symbolic links"):
        appending(file)
    with pytest.raises(InputError, match=r"verdicts\.jsonl"):
        locked(file)
    assert own.read_text() == "alias ls=ls\n"


@pytest.mark.parametrize("kind", ["cache", "recording", "spending"])
def test_what_models_answered_is_for_the_user_alone(own: Path, kind: str) -> None:
    file = own.parent / "new/file"
    if kind == "cache":
        Cache(file).close()
    elif kind == "recording":
        RecordingClient(ScriptedClient(lambda _: "yes"), file)._stream.close()
    else:
        file.parent.mkdir(0o700)
        SpendingLog(file).close()
    modes = {one.name: one.stat().st_mode & 0o777 for one in file.parent.iterdir()}
    assert modes == dict.fromkeys(modes, 0o600)
    assert file.parent.stat().st_mode & 0o777 == 0o700

"""Addresses: each file there is listed and copied once a version; one line says what cannot be reached."""

from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from misstep.harness.errors import InputError, MissingPrerequisite, UnsafePath, UsageError
from misstep.harness.lake.addresses import StoredFile, is_address, local_copies, local_copy, stored_files
from misstep.harness.places import path_text


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[fsspec.AbstractFileSystem]:
    """A store in memory with two files below `memory://logs`, one of them in a folder, and a hidden one."""
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path))
    system = fsspec.filesystem("memory")
    system.store.clear()
    for name in ("b.jsonl", "a/run.jsonl", ".git/config"):
        system.pipe(f"/logs/{name}", name.encode())
    yield system
    system.store.clear()


@pytest.mark.parametrize(
    ("text", "expected"), [("s3://b", True), ("hf://datasets/o/n@1", True), ("c:/x", False), ("a/b://c", False)]
)
def test_an_address_begins_with_a_scheme(text: str, *, expected: bool) -> None:
    assert is_address(text) == expected


def test_the_files_of_a_folder_come_in_order_of_name_without_hidden_ones(store: fsspec.AbstractFileSystem) -> None:
    del store
    files = stored_files("memory://logs")
    assert [(file.address, file.name, file.bytes) for file in files] == [
        ("memory://logs/a/run.jsonl", "a/run.jsonl", 11),
        ("memory://logs/b.jsonl", "b.jsonl", 7),
    ]
    assert [file.name for file in stored_files("memory://logs/b.jsonl")] == ["b.jsonl"]


def test_a_file_is_fetched_again_only_where_its_version_changed(store, monkeypatch) -> None:
    fetched: list[str] = []
    original = type(store).get_file

    def counted(own: fsspec.AbstractFileSystem, path: str, target: str) -> None:
        fetched.append(path)
        original(own, path, target)

    monkeypatch.setattr(type(store), "get_file", counted)
    for _ in range(2):
        assert path_text(local_copies("memory://logs")) == "memory://logs"
    assert sorted(fetched) == ["/logs/a/run.jsonl", "/logs/b.jsonl"]
    store.pipe("/logs/b.jsonl", b"changed")
    folder = local_copies("memory://logs")
    assert fetched[2:] == ["/logs/b.jsonl"]
    assert (folder / "b.jsonl").read_bytes() == b"changed"


def test_a_copy_whose_file_is_gone_goes_as_well(store: fsspec.AbstractFileSystem) -> None:
    folder = local_copies("memory://logs")
    store.rm("/logs/b.jsonl")
    assert local_copies("memory://logs") == folder
    assert [path.name for path in folder.rglob("*.jsonl") if ".versions" not in path.parts] == ["run.jsonl"]


def test_a_file_that_was_half_fetched_is_no_copy(store, monkeypatch) -> None:
    def broken(_: object, __: str, target: str) -> None:
        Path(target).write_bytes(b"half")
        raise ConnectionResetError("key=secret")

    (file,) = stored_files("memory://logs/b.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr(type(store), "get_file", broken)
        with pytest.raises(MissingPrerequisite, match=r"memory://logs/b.jsonl cannot be reached") as raised:
            local_copy(file)
    assert "secret" not in raised.value.line()
    copy = local_copy(file)
    assert copy.read_bytes() == b"b.jsonl"
    assert [one.name for one in copy.parent.iterdir() if one.is_file()] == ["b.jsonl"]


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("memory://nothing", InputError, "there is nothing at this address"),
        ("s3://bucket/x", MissingPrerequisite, "pip install s3fs"),
        ("gs://bucket/x", MissingPrerequisite, "pip install gcsfs"),
        ("nosuch://x", UsageError, "no file system nosuch://"),
        ("https://kim:hunter2@host/x", UsageError, "holds a login"),
        ("s3://AKIA:hunter2@bucket/x", UsageError, "holds a login"),
        ("https://host/x?sig=hunter2", UsageError, "a query"),
        ("http://127.0.0.1:9/x", MissingPrerequisite, "cannot be reached"),
        ("hf://models/x", UsageError, "not an address of a data set"),
        ("file:///x", UsageError, "Give its path alone"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line_without_keys(store, address, error, message) -> None:
    del store
    with pytest.raises(error, match=message) as raised:
        stored_files(address)
    assert "hunter2" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_name_that_leads_out_of_its_folder_is_refused(store: fsspec.AbstractFileSystem) -> None:
    store.store["/logs/../../up.jsonl"] = store.store["/logs/b.jsonl"]
    with pytest.raises(UnsafePath, match="is not a name of a file"):
        stored_files("memory://logs")


def test_what_a_store_says_of_no_version_is_fetched_each_time(store: fsspec.AbstractFileSystem) -> None:
    file = StoredFile("memory://logs/b.jsonl", "b.jsonl", 7, "", "memory://logs/")
    local_copy(file)
    store.pipe("/logs/b.jsonl", b"another")
    assert local_copy(file).read_bytes() == b"another"

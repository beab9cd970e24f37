"""Where a sharded run lies: a folder and an address keep the same promises."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import fsspec
import pytest

from misstep.harness.errors import InputError, UsageError
from misstep.harness.lake.store import Store, open_store


@pytest.fixture(params=["folder", "address"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "folder":
        yield open_store(str(tmp_path / "run"))
    else:
        yield open_store(f"memory://{tmp_path.name}/run/")
        fsspec.filesystem("memory").rm(f"/{tmp_path.name}", recursive=True)


def test_what_is_written_is_read_again_and_listed(store: Store) -> None:
    store.write("shards/b", b"two")
    store.write("shards/a/c", b"one")
    store.write("shards/b", b"three")
    assert (store.read("shards/b"), store.read("shards/a/c"), store.read("shards/d")) == (b"three", b"one", None)
    assert store.names("shards") == ["shards/a/c", "shards/b"]
    store.remove("shards/a/c")
    store.remove("shards/a/c")
    assert store.names("shards") == ["shards/b"]
    assert store.names("nothing") == []


@pytest.mark.parametrize("links", [True, False])
def test_only_the_first_creates_also_without_links(store: Store, links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not links:
        monkeypatch.setattr("os.link", Mock(side_effect=PermissionError(1, "Operation not permitted")))
    assert store.create("plan", b"first")
    assert not store.create("plan", b"second")
    assert (store.names(""), store.read("plan")) == (["plan"], b"first")


def test_a_file_is_put_whole(store: Store, tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 100_000)
    store.put("verdicts.jsonl", tmp_path / "long")
    assert store.read("verdicts.jsonl") == b"x" * 100_000


def test_what_is_moved_stands_in_place_of_what_was_there(store: Store) -> None:
    store.write("shards/new", b"new")
    store.write("old", b"old")
    store.move("shards/new", "old")
    assert (store.names(""), store.read("old")) == (["old"], b"new")
    with pytest.raises(InputError, match=r"shards/new: (cannot be moved|there is nothing)"):
        store.move("shards/new", "old")


def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "run" / "shards" / "plan").mkdir(parents=True)
    with pytest.raises(InputError, match=r"shards/plan: cannot be written"):
        open_store(str(tmp_path / "run")).write("shards/plan", b"")
    assert open_store(str(tmp_path / "run")).names("") == []


def test_an_address_of_no_known_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="no file system nowhere9:// is known"):
        open_store("nowhere9://bucket/run")

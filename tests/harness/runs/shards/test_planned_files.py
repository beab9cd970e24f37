"""Shards of what lies at an address: each fetches what it reads, and the run is the one of one machine."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import fsspec
import pytest

from misstep.harness.classifiers import chosen_categories, classify_all
from misstep.harness.errors import InputError
from misstep.harness.lake.addresses import local_copies, stored_files
from misstep.harness.lake.store import open_store
from misstep.harness.runs.classify import ClassifyPlan, classify_paths
from misstep.harness.runs.inputs import EVER, Changed
from misstep.harness.runs.shards.classify import ShardDone, classify_shard
from misstep.harness.runs.shards.layout import Shard, shards_of
from misstep.harness.runs.shards.merge import merge_shards
from misstep.harness.runs.shards.plan import read_plan
from misstep.harness.runs.shards.planned_files import PlannedFile, fetched, planned
from tests.misstep.made_up import atif

CATEGORIES = chosen_categories("infinite_loop")
FILES = {"b.jsonl": 3, "a/c.jsonl": 4, "a/b/d.jsonl": 5, "a.jsonl": 6, "c/.hidden.jsonl": 2, "state.db-wal": 1}


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[str]:
    files = fsspec.filesystem("memory")
    for name, steps in FILES.items():
        files.pipe_file(f"/{tmp_path.name}/lake/{name}", atif(name, steps=steps))
    yield f"memory://{tmp_path.name}/lake"
    files.rm(f"/{tmp_path.name}", recursive=True)


def _shard(lake: str, out: Path, number: int, count: int) -> ShardDone:
    plan = ClassifyPlan(CATEGORIES, classify_all, [lake], workers=1)
    return classify_shard(Shard(number, count), [lake], plan, str(out))


def test_each_shard_fetches_its_own_files_and_the_merged_run_has_the_order_of_one_machine(lake, tmp_path, monkeypatch):
    fetched = []
    for shard in shards_of(4):
        cache = tmp_path / f"machine-{shard.number}"
        monkeypatch.setenv("MISSTEP_CACHE", str(cache))
        _shard(lake, tmp_path / "run", shard.number, shard.count)
        fetched += [file.name for file in cache.rglob("*.jsonl") if ".versions" not in file.parts]
    assert sorted(fetched) == ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"]
    store = open_store(str(tmp_path / "run"))
    merge_shards(store, *(read_plan(store) or pytest.fail("no plan")), lambda *_: {})
    classify_paths([local_copies(lake)], ClassifyPlan(CATEGORIES, classify_all, workers=1), tmp_path / "whole")
    for name in ("verdicts.jsonl", "sessions.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    files = [json.loads(line)["file"] for line in (tmp_path / "run" / "files.jsonl").read_text().splitlines()]
    assert files == [f"{lake}/{name}" for name in ("a.jsonl", "b.jsonl", "a/c.jsonl", "a/b/d.jsonl")]


def test_the_first_shard_pins_an_address_for_all(lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an address of the Hugging Face hub gets the commit that its revision is at that moment."""
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))
    files = stored_files(lake)
    answers = iter([(f"{lake}@c0ffee", files)])
    monkeypatch.setattr("misstep.harness.runs.shards.planned_files.pinned_files", lambda _: next(answers))
    for shard in shards_of(2):
        _shard(lake, tmp_path / "run", shard.number, shard.count)
    plan, _ = read_plan(open_store(str(tmp_path / "run"))) or pytest.fail("no plan")
    assert (plan.paths, plan.manifest.arguments) == ((lake,), [f"{lake}@c0ffee"])


def test_a_stored_file_that_changed_or_went_since_the_plan_is_refused(lake, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))
    _shard(lake, tmp_path / "run", 1, 4)
    fsspec.filesystem("memory").pipe_file(lake.removeprefix("memory:/") + "/a/b/d.jsonl", atif("d", steps=9))
    with pytest.raises(InputError, match=r"lake/a/b/d\.jsonl: the file has changed since the first shard"):
        _shard(lake, tmp_path / "run", 4, 4)
    fsspec.filesystem("memory").rm(lake.removeprefix("memory:/") + "/a/b/d.jsonl")
    with pytest.raises(InputError, match=r"d\.jsonl: the file has changed"):
        _shard(lake, tmp_path / "run", 4, 4)


def test_a_stored_file_that_is_named_alone_has_to_be_of_a_known_format(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))
    fsspec.filesystem("memory").pipe_file(f"/{tmp_path.name}/notes.txt", b"hello\n")
    with pytest.raises(InputError, match=r"notes\.txt: no known trajectory format"):
        _shard(f"memory://{tmp_path.name}/notes.txt", tmp_path / "run", 1, 1)


def test_the_time_of_a_copy_is_that_of_the_store_and_old_files_are_left_out_by_it(lake, tmp_path, monkeypatch) -> None:
    """So that `--since` and files.jsonl say the same on every machine, whenever it fetched."""
    (stored, *_), times = stored_files(lake), []
    for machine in ("a", "b"):
        monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / machine))
        _, (first, *_) = planned([stored.address], None, EVER)
        times.append(fetched([first])[first.file].path.stat().st_mtime_ns)
    assert times == [stored.changed] * 2
    later = datetime.fromtimestamp(stored.changed / 1e9 + 60, UTC)
    assert [planned([lake], None, Changed(later))[1], len(planned([lake], None, EVER)[1])] == [(), 4]


@pytest.mark.parametrize("named", ["", "/state.db"])
def test_a_database_comes_with_what_was_written_last_beside_it_until_that_is_gone(named, lake, tmp_path, monkeypatch):
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))
    store, place = fsspec.filesystem("memory"), lake.removeprefix("memory:/")
    store.pipe_file(f"{place}/state.db", b"base")

    def database() -> list[PlannedFile]:
        return [one for one in planned([lake + named], None, EVER)[1] if one.file == f"{lake}/state.db"]

    before = database()
    copy = fetched(before)[before[0].file].path
    beside = copy.with_name("state.db-wal")
    assert before[0].size == len(b"base") + beside.stat().st_size
    store.rm(f"{place}/state.db-wal")
    with pytest.raises(InputError, match=r"state\.db: the file has changed"):
        fetched(before)
    fetched(database())
    assert copy.exists()
    assert not beside.exists()

"""Shards of `classify` and their merge: whatever happens on the way, the run is the one that no shards make."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from pyarrow.parquet import write_table

from misstep.harness.classifiers import chosen_categories, classify_all
from misstep.harness.errors import InputError, UsageError
from misstep.harness.runs.classify import ClassifyPlan, classify_paths
from misstep.harness.runs.opened import open_of
from misstep.harness.runs.shards.classify import ShardDone, classify_shard
from misstep.harness.runs.shards.layout import PLAN, Shard, shards_of
from misstep.harness.runs.shards.merge import merge_shards
from misstep.harness.runs.shards.plan import read_plan, slices_of
from misstep.harness.runs.shards.store import FolderStore
from misstep.studies.run_frames import open_frames
from tests.misstep.made_up import atif

CATEGORIES = chosen_categories("infinite_loop,tool_call_failure")
ASKED = ClassifyPlan(CATEGORIES, classify_all, workers=1)
RECORDS = ("verdicts.jsonl", "sessions.jsonl", "files.jsonl", "scores.json")


@pytest.fixture(scope="module", autouse=True)
def _short_pieces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("misstep.harness.runs.shards.plan.BATCH_BYTES", 3_000)
        patch.setattr("misstep.harness.runs.shards.planned_files.LEAST_TO_CUT", 3_000)
        patch.setattr("misstep.harness.runs.shards.classify.BATCH_BYTES", 2_000)
        patch.setattr("misstep.harness.runs.shards.classify.PART_BYTES", 2_000)
        yield


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Long JSON Lines with a broken line, a packed file, short ones with the same ids, an empty one, and another."""
    folder = tmp_path_factory.mktemp("made") / "runs"
    (folder / "more").mkdir(parents=True)
    long = [atif(f"s{i % 5}", steps=4) for i in range(11)]
    (folder / "long.jsonl").write_bytes(b"".join([*long[:6], b'{"broken\n', *long[6:]]))
    packed = pyarrow.table({"atif": [atif(f"p{i % 4}", steps=4).decode() for i in range(9)]})
    write_table(packed, folder / "packed.parquet", row_group_size=2, compression="none", use_dictionary=False)
    (folder / "more" / "a.jsonl").write_bytes(atif("s1", steps=3))
    (folder / "more" / "b.json").write_bytes(atif("b", steps=7))
    (folder / "more" / "empty.jsonl").write_bytes(b"")
    (folder / "notes.txt").write_text("hello\n")
    return folder


def _concluded(summary: object, _folder: Path) -> dict[str, bytes]:
    return {"scores.json": repr(summary).encode()}


def _shard(runs: Path, out: object, number: int, count: int) -> ShardDone:
    return classify_shard(Shard(number, count), [str(runs)], ASKED, str(out))


def _merge(out: object) -> dict[str, bytes]:
    store = FolderStore(Path(str(out)))
    result = read_plan(store)
    assert result is not None
    merge_shards(store, *result, _concluded)
    return {name: store.read(name) or b"" for name in RECORDS}


@pytest.fixture(scope="module")
def unsharded(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("whole")
    classify_paths([runs], ASKED, out, conclude=_concluded)
    return {name: (out / name).read_bytes() for name in RECORDS}


@settings(max_examples=12, deadline=None)
@given(
    order=st.integers(1, 14).flatmap(
        lambda n: st.tuples(st.permutations(range(1, n + 1)), st.lists(st.integers(1, n), max_size=4))
    )
)
def test_any_number_of_shards_in_any_order_with_any_repeats_is_the_run_without_shards(
    order: tuple[list[int], list[int]],
    runs: Path,
    unsharded: dict[str, bytes],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    numbers, again = order
    out = tmp_path_factory.mktemp("run")
    for number in [*numbers, *again]:
        _shard(runs, out, number, len(numbers))
    assert _merge(out) == unsharded
    assert _merge(out) == unsharded


def test_long_files_are_cut_at_lines_and_at_row_groups(runs: Path, tmp_path: Path) -> None:
    for shard in shards_of(8):
        _shard(runs, tmp_path, shard.number, 8)
    plan, _ = read_plan(FolderStore(tmp_path)) or pytest.fail("no plan")
    cut = {
        one.file.file.rpartition("/")[2] for shard in shards_of(8) for one in slices_of(plan, shard) if not one.whole
    }
    assert cut == {"long.jsonl", "packed.parquet"}


class _Killed(BaseException):
    pass


def _killed_at(patch: pytest.MonkeyPatch, write: int, *, before: bool) -> None:
    """End the process, as it were, at a write: its temporary file stays, and the move is done or not."""
    left = iter(range(write, -1, -1))
    replace, unlink = Path.replace, Path.unlink

    def move(building: Path, target: Path) -> Path:
        if next(left, 0) == 0:
            patch.setattr(Path, "unlink", lambda *_args, **_more: None)
            if not before:
                replace(building, target)
            raise _Killed
        return replace(building, target)

    patch.setattr(Path, "replace", move)
    patch.setattr(Path, "unlink", unlink)


@pytest.mark.parametrize("before", [True, False])
def test_a_shard_killed_at_any_write_is_done_again_and_leaves_nothing_behind(runs, unsharded, tmp_path, *, before):
    _shard(runs, tmp_path, 1, 2)
    kills = 0
    while kills < 50:
        with pytest.MonkeyPatch.context() as patch:
            _killed_at(patch, kills, before=before)
            try:
                done = _shard(runs, tmp_path, 2, 2)
            except _Killed:
                kills += 1
            else:
                break
    assert kills >= 3
    assert done.before is not before
    assert _merge(tmp_path) == unsharded
    kept = {name.rpartition("/")[2] for name in FolderStore(tmp_path).names("shards")}
    assert {name.rpartition(".")[2] for name in kept} == {"json", "part"}


def test_gaps_are_refused_by_name_with_the_command_and_nothing_is_written(runs: Path, tmp_path: Path) -> None:
    _shard(runs, tmp_path, 2, 3)
    with pytest.raises(UsageError, match=r"^shards 1 and 3 of 3 are missing\. Run: misstep classify .*--shard 1/3$"):
        _merge(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["shards"]


def test_a_damaged_part_is_refused_and_the_same_shard_writes_it_again(runs: Path, tmp_path: Path) -> None:
    _shard(runs, tmp_path, 1, 1)
    part = next(tmp_path.rglob("*.part"))
    part.write_bytes(part.read_bytes().replace(b'"no"', b'"NO"', 1))
    with pytest.raises(InputError, match="shard 1/1: a part is not as it was written"):
        _merge(tmp_path)
    part.unlink()
    with pytest.raises(InputError, match=r"shard 1/1: a part is missing\. Run: misstep classify .*--shard 1/1"):
        _merge(tmp_path)
    assert not (tmp_path / "run.toml").exists()
    for opened in (open_frames, partial(open_of, command="classify")):
        with pytest.raises(UsageError, match=f"shards that are not merged. Run: misstep merge {tmp_path}"):
            opened(tmp_path)
    for damaged in ("", "done.json"):
        if damaged:
            next(tmp_path.rglob(damaged)).write_text("{")
        assert not _shard(runs, tmp_path, 1, 1).before
        assert _shard(runs, tmp_path, 1, 1).before
    assert _merge(tmp_path)["verdicts.jsonl"]


def test_shards_of_another_version_are_not_merged(runs: Path, tmp_path: Path) -> None:
    _shard(runs, tmp_path, 1, 1)
    plan, digest = read_plan(FolderStore(tmp_path)) or pytest.fail("no plan")
    earlier = structs.replace(plan, manifest=structs.replace(plan.manifest, misstep="0.0.1"))
    with pytest.raises(UsageError, match=r"are of Misstep 0\.0\.1 and this is"):
        merge_shards(FolderStore(tmp_path), earlier, digest, _concluded)


def test_a_file_that_changed_between_shards_is_refused_by_name(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in "ab":
        (runs / f"{name}.jsonl").write_bytes(atif(name))
    _shard(runs, tmp_path / "run", 1, 2)
    (runs / "b.jsonl").write_bytes(atif("b", steps=9))
    asked = ClassifyPlan(CATEGORIES, lambda *_: pytest.fail("read"), workers=1)
    with pytest.raises(InputError, match=r"runs/b\.jsonl: the file has changed since the first shard"):
        classify_shard(Shard(2, 2), [str(runs)], asked, str(tmp_path / "run"))


def test_a_marker_of_another_plan_does_not_count(runs: Path, unsharded: dict[str, bytes], tmp_path: Path) -> None:
    """As where two first shards at once make a plan each, on a store that cannot tell which came first."""
    _shard(runs, tmp_path, 1, 1)
    plan = tmp_path / PLAN
    plan.write_bytes(plan.read_bytes().replace(b'"started":"20', b'"started":"19'))
    with pytest.raises(UsageError, match="shard 1 of 1 is missing"):
        _merge(tmp_path)
    assert not _shard(runs, tmp_path, 1, 1).before
    assert _merge(tmp_path) == unsharded


def test_a_file_that_changes_while_it_is_read_costs_the_shard_its_marker(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "a.jsonl").write_bytes(atif("a"))

    def classify(trajectory, categories):  # type: ignore[no-untyped-def]
        (runs / "a.jsonl").write_bytes(atif("a", steps=9))
        return classify_all(trajectory, categories)

    with pytest.raises(InputError, match=r"a\.jsonl: the file has changed"):
        classify_shard(Shard(1, 1), [str(runs)], ClassifyPlan(CATEGORIES, classify, workers=1), str(tmp_path / "run"))
    assert not list(tmp_path.rglob("done.json"))


def test_two_machines_may_do_the_same_shard_at_once(runs: Path, unsharded: dict[str, bytes], tmp_path: Path) -> None:
    """The second begins while the first is at its first session, and ends before it."""
    begun = []

    def classify(trajectory, categories):  # type: ignore[no-untyped-def]
        if not begun:
            begun.append(_shard(runs, tmp_path, 1, 1))
        return classify_all(trajectory, categories)

    done = classify_shard(Shard(1, 1), [str(runs)], ClassifyPlan(CATEGORIES, classify, workers=1), str(tmp_path))
    assert (begun[0].before, done.before) == (False, False)
    assert _merge(tmp_path) == unsharded


def test_a_merge_that_was_killed_goes_on_and_nothing_else_does(runs, unsharded, tmp_path) -> None:
    for shard in shards_of(2):
        _shard(runs, tmp_path, shard.number, 2)

    def killed(_summary: object, _folder: Path) -> dict[str, bytes]:
        raise _Killed

    result = read_plan(FolderStore(tmp_path))
    assert result is not None
    with pytest.raises(_Killed):
        merge_shards(FolderStore(tmp_path), *result, killed)
    with pytest.raises(UsageError, match="shards that are not merged"):
        classify_paths([runs], ASKED, tmp_path)
    assert _merge(tmp_path) == unsharded


def test_a_merged_run_takes_new_files_and_is_not_merged_again(tmp_path: Path) -> None:
    runs, out = tmp_path / "runs", tmp_path / "run"
    runs.mkdir()
    (runs / "a.jsonl").write_bytes(atif("a"))
    _shard(runs, out, 1, 1)
    _merge(out)
    (runs / "b.jsonl").write_bytes(atif("b"))
    (out / "scores.json").write_text('{"unreadable": [], "skipped": [], "renamed": 0}')
    classify_paths([runs], ASKED, out)
    items = [json.loads(line)["item"] for line in (out / "sessions.jsonl").read_text().splitlines()]
    assert items == ["a", "b"]
    with pytest.raises(UsageError, match=r"changed since its shards were merged: .*b\.jsonl came in"):
        _merge(out)

"""What each shard reads: all of it once, in order, about the same bytes each; and what a frozen plan refuses."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from misstep.harness.classifiers import classify_all
from misstep.harness.errors import UsageError
from misstep.harness.runs.classify import ClassifyPlan
from misstep.harness.runs.file_batches import BATCH_BYTES
from misstep.harness.runs.shards.layout import PLAN, shards_of
from misstep.harness.runs.shards.plan import Plan, frozen_plan, slices_of
from misstep.harness.runs.shards.planned_files import PlannedFile
from misstep.harness.runs.shards.store import FolderStore

FILES = st.lists(
    st.tuples(st.integers(0, 5 * BATCH_BYTES), st.lists(st.integers(0, BATCH_BYTES), max_size=4)),
    min_size=1,
    max_size=8,
)


def _plan(shards: int = 8, *paths: str, categories: tuple[str, ...] = ("infinite_loop",)) -> Plan:
    return Plan(shards, ClassifyPlan(categories, classify_all).manifest(), paths or ("runs",))


@settings(deadline=None)
@given(FILES, st.integers(1, 12))
def test_shards_have_every_byte_once_and_none_has_more_than_its_share_and_one_piece(files, count) -> None:
    planned = tuple(PlannedFile(str(i), size, "0", lengths=tuple(lengths)) for i, (size, lengths) in enumerate(files))
    plan = structs.replace(_plan(count), files=planned)
    slices = [slices_of(plan, shard) for shard in shards_of(count)]
    read = [(one.file.file, one.start, one.stop) for own in slices for one in own]
    for file in planned:
        borders = [(start, stop) for name, start, stop in read if name == file.file]
        assert (borders[0][0], borders[-1][1]) == (0, file.weight)
        assert all(start < stop for start, stop in borders)
        assert all(one[1] == following[0] for one, following in pairwise(borders))
    assert [name for name, _, _ in read] == sorted((name for name, _, _ in read), key=int)
    small = max(64 << 10, min(BATCH_BYTES, sum(file.weight for file in planned) // (8 * count)))
    piece = max(small if len(file.lengths) == 1 else max(file.lengths, default=0) or file.weight for file in planned)
    most = max(sum(one.stop - one.start for one in own) for own in slices)
    assert most <= sum(file.weight for file in planned) / count + piece


def test_the_first_shard_freezes_the_plan_and_the_others_list_nothing(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    first = frozen_plan(
        store, _plan(), lambda asked: structs.replace(asked, files=(PlannedFile("runs/a.jsonl", 5, "17"),))
    )
    assert frozen_plan(store, _plan(), lambda _: pytest.fail("listed again")) == first
    assert first[0].files == (PlannedFile("runs/a.jsonl", 5, "17"),)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (_plan(4), "it was cut into 8 shards and is now cut into 4"),
        (_plan(8, "others"), "it was of runs and is now of others"),
        (_plan(categories=("tool_call_failure",)), "categories were infinite_loop and are now tool_call_failure"),
    ],
)
def test_a_shard_of_another_run_is_refused_with_what_differs(tmp_path: Path, asked: Plan, message: str) -> None:
    frozen_plan(FolderStore(tmp_path), _plan())
    with pytest.raises(UsageError, match=message):
        frozen_plan(FolderStore(tmp_path), asked)


def test_a_shard_of_another_version_is_refused(tmp_path: Path) -> None:
    earlier = structs.replace(_plan(), manifest=structs.replace(_plan().manifest, misstep="0.0.1"))
    frozen_plan(FolderStore(tmp_path), earlier)
    with pytest.raises(UsageError, match=r"begun by Misstep 0\.0\.1"):
        frozen_plan(FolderStore(tmp_path), _plan())


def test_a_run_that_was_not_made_in_shards_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("schema = 1\n")
    with pytest.raises(UsageError, match="not made in shards"):
        frozen_plan(FolderStore(tmp_path), _plan())
    assert not (tmp_path / PLAN).exists()

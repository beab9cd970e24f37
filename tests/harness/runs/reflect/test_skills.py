"""Skills by name, and the choice of some of their items."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.runs.reflect.skills import SKILLS, SkillOptions, sampled
from harness.work_item import WorkItem

CHAIN = [WorkItem("a", "x", "t"), WorkItem("b", "x", "t", after=("a",)), WorkItem("c", "x", "t", after=("b",))]
FREE = [WorkItem(name, "x", "t") for name in "defg"]


@given(n=st.integers(1, 9), seed=st.integers(0, 50))
def test_a_sample_is_as_large_as_asked_for_and_has_what_its_items_come_after(n: int, seed: int) -> None:
    items = [*CHAIN, *FREE]
    chosen = sampled(items, n, seed)
    assert len(chosen) == min(n, len(items))
    assert [item.id for item in items if item.id in chosen] == list(chosen)
    assert all(set(item.after) <= set(chosen) for item in items if item.id in chosen)


def test_another_seed_is_another_sample() -> None:
    assert len({sampled(FREE, 2, seed) for seed in range(20)}) > 1


def test_a_folder_without_cases_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs repair cases"):
        SKILLS.load("repair")(SkillOptions())
    with pytest.raises(Exception, match="no repair case"):
        SKILLS.load("repair")(SkillOptions(cases=tmp_path))

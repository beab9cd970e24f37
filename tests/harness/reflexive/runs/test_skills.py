"""Skills by name, and the choice of some of their items."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.errors import SkillFailed
from misstep_harness.reflexive.records import WorkItem
from misstep_harness.reflexive.runs.skills import SkillOptions, made_skill, sampled

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


def made_from(make: Callable[[SkillOptions], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.harness.reflexive.runs.test_skills.made", make, raising=False)
    made_skill("tests.harness.reflexive.runs.test_skills:made", SkillOptions())


def _raises(options: SkillOptions) -> Any:
    raise SystemExit(len(str(options)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (3, "raised TypeError"),
        (_raises, "raised SystemExit"),
        (lambda _: None, "has no name, items, vital_signs, words, agents, settings, open"),
    ],
)
def test_what_is_not_a_skill_is_one_line(make: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SkillFailed, match=message) as result:
        made_from(make, monkeypatch)
    assert "\n" not in result.value.line()

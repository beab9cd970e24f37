"""A run of the reflexive loop is a folder from which it is rebuilt whole, and which a killed one goes on from."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from misstep_harness.agent.clocks import VirtualClock
from misstep_harness.errors import InputError, SkillFailed, UsageError
from misstep_harness.journal.records import MANIFEST
from misstep_harness.reflexive.records import ItemLimits, LessonsRecalled, LoopSettings, WorkItem
from misstep_harness.reflexive.runs.running import (
    EARLIER_LESSONS,
    ReflectPlan,
    lessons_of,
    recorded_events,
    run_reflexive,
)
from tests.harness.reflexive.notebook import NotebookSkill, items, saying, team, writing


def test_a_run_begins_with_what_earlier_runs_learned_and_passes_on_both(tmp_path: Path) -> None:
    agents = team(writing("half", "done"), saying("It failed.\nLESSON: Write the whole line of lines."))
    first = ReflectPlan(NotebookSkill(items("a")), "writer", agents)
    run_reflexive(first, tmp_path / "first", VirtualClock())
    again = team(writing("half", "done"), saying("It failed.\nLESSON: Nothing but a restart helps."))
    second = ReflectPlan(NotebookSkill(items("b")), "writer", again, lessons_from=(tmp_path / "first",))
    run_reflexive(second, tmp_path / "second", VirtualClock())
    recalled = [each for each in recorded_events(tmp_path / "second") if isinstance(each.happened, LessonsRecalled)]
    assert recalled[0].item == "b"
    assert recalled[0].happened.lessons == tuple(lesson.id for lesson in lessons_of(tmp_path / "first"))  # type: ignore[union-attr]
    left = lessons_of(tmp_path / "second")
    wanted = {("first", "Write the whole line of lines."), ("second", "Nothing but a restart helps.")}
    assert {(lesson.run, lesson.text) for lesson in left} == wanted


def _three_runs(place: Path) -> ReflectPlan:
    """Make `first`, whose lesson `second` begins with; return a plan that begins with both."""
    learning = team(writing("half", "done"), saying("It failed.\nLESSON: Write the whole line of lines."))
    run_reflexive(ReflectPlan(NotebookSkill(items("a")), "writer", learning), place / "first", VirtualClock())
    done = team(writing("done"))
    second = ReflectPlan(NotebookSkill(items("b")), "writer", done, lessons_from=(place / "first",))
    run_reflexive(second, place / "second", VirtualClock())
    return ReflectPlan(NotebookSkill(items("c")), "writer", done, lessons_from=(place / "second",))


def test_a_run_that_was_moved_without_its_ancestors_has_their_lessons(tmp_path: Path) -> None:
    _three_runs(tmp_path)
    whole = lessons_of(tmp_path / "second")
    moved = shutil.move(tmp_path / "second", tmp_path / "elsewhere" / "second")
    shutil.rmtree(tmp_path / "first")
    assert [lesson.run for lesson in whole] == ["first"]
    assert lessons_of(moved) == whole


def test_a_run_is_the_same_wherever_the_runs_lie_whose_lessons_it_began_with(tmp_path: Path) -> None:
    plan = _three_runs(tmp_path)
    ended = run_reflexive(plan, tmp_path / "third", VirtualClock())
    moved = shutil.move(tmp_path / "second", tmp_path / "elsewhere" / "second")
    again = replace(plan, lessons_from=(moved,))
    assert run_reflexive(again, tmp_path / "third", VirtualClock()) == ended


def test_a_run_of_an_earlier_version_finds_its_ancestors_beside_it_and_says_which_is_missing(tmp_path: Path) -> None:
    _three_runs(tmp_path)
    whole = lessons_of(tmp_path / "second")
    (tmp_path / "second" / EARLIER_LESSONS.file).unlink()
    manifest = tmp_path / "second" / MANIFEST
    manifest.write_text(manifest.read_text().replace('"first"', '"/old/place/first"'))
    assert lessons_of(tmp_path / "second") == whole
    shutil.rmtree(tmp_path / "first")
    with pytest.raises(InputError, match="the run /old/place/first, which is not there"):
        lessons_of(tmp_path / "second")


def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    skill = NotebookSkill(items("a", "b"))
    run_reflexive(ReflectPlan(skill, "writer", team(writing("done"))), tmp_path / "run", VirtualClock())
    other = LoopSettings(without=frozenset({"memory"}), item=ItemLimits(seconds=60.0))
    for plan in (
        ReflectPlan(skill, "writer", team(writing("done")), other),
        ReflectPlan(skill, "writer", team(writing("done")), seed=1),
        ReflectPlan(skill, "writer", team(writing("done")), items=("a",)),
    ):
        with pytest.raises(UsageError, match="holds another run"):
            run_reflexive(plan, tmp_path / "run", VirtualClock())


def test_only_the_items_that_are_named_are_worked_on(tmp_path: Path) -> None:
    skill = NotebookSkill(items("a", "b", "c"))
    plan = ReflectPlan(skill, "writer", team(writing("done")), items=("c", "a"))
    assert [each.id for each in run_reflexive(plan, tmp_path / "run", VirtualClock()).items] == ["a", "c"]
    with pytest.raises(UsageError, match="no item 'z'"):
        run_reflexive(ReflectPlan(skill, "writer", team(writing("done")), items=("z",)), tmp_path / "z", VirtualClock())


def _run(skill: NotebookSkill, out: Path) -> None:
    run_reflexive(ReflectPlan(skill, "writer", team(writing("done"))), out, VirtualClock())


def test_two_items_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two items 'a'"):
        _run(NotebookSkill(items("a", "a")), tmp_path)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (WorkItem("", "x", "t"), "an item with the id ''"),
        (WorkItem(" ", "x", "t"), "an item with the id ' '"),
        (WorkItem("a\nb", "x", "t"), "an item with the id"),
        (WorkItem("\ud800", "x", "t"), "is not a WorkItem"),
        (WorkItem(3, "x", "t"), r"is not a WorkItem: .*id"),  # type: ignore[arg-type]
        (WorkItem("a", "x", "t", after="b"), r"is not a WorkItem: .*after"),  # type: ignore[arg-type]
        ("a", "is not a WorkItem"),
    ],
)
def test_an_item_that_no_log_can_hold_is_refused(item: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(SkillFailed, match=message) as result:
        _run(NotebookSkill((item,)), tmp_path / "run")
    assert "\n" not in result.value.line()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("said", [None, {"x": object()}, {"x": [None]}, ["x"]])
def test_unwritable_settings_are_refused(said: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NotebookSkill, "settings", lambda _: said)
    with pytest.raises(SkillFailed, match="the skill's `settings` raised"):
        _run(NotebookSkill(items("a")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_skill_without_items_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no items"):
        _run(NotebookSkill(()), tmp_path / "run")

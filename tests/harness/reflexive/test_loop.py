"""Each item is attempted until it has its one end, and the target is whole between two attempts."""

from pathlib import Path

from harness.loop_events import Diagnosed, Failed, Reflected, Restored, RunEnded, SnapshotTaken, TurnEnded
from harness.reflexive.settings import ItemLimits, LoopSettings
from tests.harness.reflexive.notebook import NotebookSkill, ends, happened, items, looped, saying, team, writing


def test_an_item_is_attempted_until_its_check_passes(tmp_path: Path) -> None:
    events = looped(NotebookSkill(items("a")), team(writing("half", "done")), tmp_path)
    assert ends(events)["a"].reason == "check_passed"
    assert [one.kind for one in happened(events, Failed)] == ["check_failed"]
    assert len(happened(events, SnapshotTaken)) == 1
    assert isinstance(events[-1].happened, RunEnded)


def test_an_item_without_success_ends_when_its_time_is_up(tmp_path: Path) -> None:
    events = looped(NotebookSkill(items("a")), team(writing("half", seconds=100.0)), tmp_path)
    assert ends(events)["a"].end == "time_budget"
    assert sum(turn.seconds for turn in happened(events, TurnEnded)) == 1200.0


def test_an_item_whose_attempts_take_no_time_ends_at_the_cap(tmp_path: Path) -> None:
    settings = LoopSettings(item=ItemLimits(attempts=5))
    agents = team(writing("half", seconds=0.0), saying("Again.", seconds=0.0))
    events = looped(NotebookSkill(items("a")), agents, tmp_path, settings)
    assert ends(events)["a"].end == "attempt_cap"
    assert len(happened(events, Failed)) == 5


def test_a_failed_attempt_is_diagnosed_then_reverted_then_reflected_on_with_facts(tmp_path: Path) -> None:
    skill = NotebookSkill(items("a"))
    events = looped(skill, team(writing("broken=yes", "done")), tmp_path)
    wanted = (Failed, Diagnosed, Restored, Reflected)
    assert [type(each.happened) for each in events if isinstance(each.happened, wanted)] == list(wanted)
    assert happened(events, Diagnosed)[0].channel == "out_of_band"
    assert "access" in happened(events, Reflected)[0].facts
    assert "broken" not in skill.opened[0].lines

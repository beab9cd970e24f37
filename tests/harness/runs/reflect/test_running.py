"""A run of the reflexive loop is a folder from which it is rebuilt whole, and which a killed one goes on from."""

from pathlib import Path

from harness.agent.clocks import VirtualClock
from harness.loop_events import RunEnded
from harness.runs.reflect.running import ReflectPlan, recorded_events, run_reflexive
from tests.harness.reflexive.notebook import NotebookSkill, items, team, writing


def test_every_event_is_on_disk_and_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    skill = NotebookSkill(items("a", "b"))
    plan = ReflectPlan(skill, "writer", team(writing("half", "done")))
    found = run_reflexive(plan, tmp_path / "run", VirtualClock())
    assert [(each.id, each.end, each.attempts) for each in found.items] == [("a", "solved", 2), ("b", "solved", 2)]
    events = list(recorded_events(tmp_path / "run"))
    assert [event.number for event in events] == list(range(len(events)))
    assert isinstance(events[-1].happened, RunEnded)
    assert run_reflexive(plan, tmp_path / "run", VirtualClock()) == found
    assert len(skill.opened) == 1

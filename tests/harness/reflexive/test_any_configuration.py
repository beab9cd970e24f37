"""Whatever is left out, whoever works and whatever is to be done: the run ends, and each item has its one end."""

import asyncio
import tempfile
from pathlib import Path
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as some

from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.records.loop_events import ItemEnded, Restored, RunEnded, SnapshotTaken
from misstep.harness.reflexive.log import Log
from misstep.harness.reflexive.loop import run_loop
from misstep.harness.reflexive.settings import MECHANISMS, LoopSettings
from misstep.harness.reflexive.simulated.items import MIX, Kind
from misstep.harness.reflexive.simulated.skill import SimulatedSkill
from misstep.harness.reflexive.simulated.target import SimulatedTarget
from misstep.harness.reflexive.simulated.workers import WorkerKind, make_agents
from tests.harness.reflexive.notebook import happened


@settings(max_examples=25, deadline=None)
@given(
    kinds=some.lists(some.sampled_from(MIX), max_size=6),
    without=some.sets(some.sampled_from(list(MECHANISMS))),
    worker=some.sampled_from(get_args(WorkerKind)),
    seed=some.integers(0, 50),
)
def test_every_item_ends_once_and_a_baseline_is_taken_once(
    kinds: list[Kind], without: set[str], worker: WorkerKind, seed: int
) -> None:
    skill, clock = SimulatedSkill(len(kinds), seed, kinds), VirtualClock()
    log = Log(clock)
    with tempfile.TemporaryDirectory() as folder:
        target = SimulatedTarget(skill.world, Path(folder))
        dials = LoopSettings(without=frozenset(without))
        asyncio.run(run_loop(skill, target, make_agents(worker, seed), dials, clock, log, seed=seed))
    ended = [event.item for event in log.events if isinstance(event.happened, ItemEnded)]
    assert sorted(ended) == sorted(skill.world.kinds)
    assert isinstance(log.events[-1].happened, RunEnded)
    assert {taken.name for taken in happened(log.events, SnapshotTaken)} <= {"progress"}
    if "snapshots" not in without:
        assert all(restored.verified and restored.reachable for restored in happened(log.events, Restored))
    if not without & {"time_budget", "turn_budgets"}:
        assert all(end.seconds <= 1200.0 + 1e-6 for end in happened(log.events, ItemEnded))

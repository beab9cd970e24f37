"""Whatever is left out, whoever works and whatever is to be done: the run ends, and each item has its one end."""

from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as some

from misstep.harness.records.loop_events import ItemEnded, Restored, RunEnded, SnapshotTaken
from misstep.harness.reflexive.settings import MECHANISMS
from misstep.harness.reflexive.simulated.items import MIX, Kind
from misstep.harness.reflexive.simulated.workers import WorkerKind
from tests.harness.reflexive.failure_modes.looping import looped


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
    run = looped(kinds, sorted(without), worker=worker, seed=seed)
    assert len(run.all_of(ItemEnded)) == len(kinds)
    assert set(run.ends) == set(run.kinds)
    assert isinstance(run.events[-1].happened, RunEnded)
    assert {taken.name for taken in run.all_of(SnapshotTaken)} <= {"progress"}
    if "snapshots" not in without:
        assert all(restored.verified and restored.reachable for restored in run.all_of(Restored))
    if not without & {"time_budget", "turn_budgets"}:
        assert all(end.seconds <= 1200.0 + 1e-6 for end in run.ends.values())

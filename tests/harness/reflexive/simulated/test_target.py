"""The simulated machine: what each kind of item does to whom, snapshots on disk, and two ways to read it."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from misstep_harness.agent.actions import Action
from misstep_harness.agent.tools import carry_out
from misstep_harness.errors import MisstepError
from misstep_harness.reflexive.protocols import Check
from misstep_harness.reflexive.records import WorkItem
from misstep_harness.reflexive.simulated.target import HEALTH_PROBES, Kind, SimulatedTarget, draw_world

PROBE, SERVICES, CONFIGURATION, JOURNAL = HEALTH_PROBES


def one(kind: Kind, folder: Path, beside: tuple[Kind, ...] = ()) -> tuple[SimulatedTarget, WorkItem]:
    """A machine with one item of a kind, and the item."""
    kinds = (*beside, kind)
    world = draw_world(len(kinds), 5, kinds)
    target = SimulatedTarget(world, folder)
    return target, next(item for item in world.items if world.kinds[item.id] == kind)


def enter(target: SimulatedTarget, changes: str) -> str:
    done = carry_out(Action("configure", {"changes": changes}), target, target.tools("worker"))
    return asyncio.run(done).text


def check(target: SimulatedTarget, item: WorkItem) -> Check:
    return asyncio.run(target.check(item))


def naive(item: WorkItem) -> str:
    return f"{item.id}=on"


def test_the_naive_command_shuts_the_way_in_and_another_setting_before_it_does_not(tmp_path: Path) -> None:
    target, item = one("shuts", tmp_path)
    key = item.id.replace(item.category, "key")
    target.keep("baseline")
    enter(target, naive(item))
    assert check(target, item).status == "unknown"
    assert not asyncio.run(target.reachable())
    assert enter(target, f"{item.id}=off") == "the way in is shut: no answer"
    target.restore("baseline")
    enter(target, f"{key}=on {naive(item)}")
    assert check(target, item).status == "passed"


@given(some.lists(some.sampled_from(sorted(draw_world(24, 3).state.settings)), max_size=8))
def test_a_snapshot_brings_back_any_state(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    folder = tmp_path_factory.mktemp("kept")
    world = draw_world(24, 3)
    target = SimulatedTarget(world, folder)
    kept = target.keep("baseline")
    for name in names:
        enter(target, f"{name}=v1")
    target.restore("baseline")
    assert target.digest() == kept == target.kept("baseline")
    assert target.state == world.state
    other = SimulatedTarget(world, folder)
    other.restore("baseline")
    assert other.digest() == kept


@pytest.mark.parametrize("damage", [b"", b"{}", None, b"other"])
def test_a_damaged_snapshot_is_no_snapshot(damage: bytes | None, tmp_path: Path) -> None:
    target, item = one("trivial", tmp_path)
    target.keep("progress")
    file = tmp_path / "progress.json"
    if damage is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes().replace(b'"off"', b'"odd"') if damage == b"other" else damage)
    before = target.digest()
    assert target.kept("progress") is None
    with pytest.raises(MisstepError, match=r"progress\.json"):
        target.restore("progress")
    assert (target.digest(), item.id in target.state.checks) == (before, True)


def test_what_needs_another_item_is_named_before_it() -> None:
    for seed in range(5):
        world = draw_world(24, seed)
        place = {item.id: number for number, item in enumerate(world.items)}
        assert all(place[name] < place[other] for name, (_, other) in world.laws.waits.items())
        assert any(item.last for item in world.items[:12])

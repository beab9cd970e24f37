"""The simulated machine: what each kind of item does to whom, snapshots on disk, and two ways to read it."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from misstep.harness.agent.actions import Action
from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.agent.tools import carry_out
from misstep.harness.errors import MisstepError
from misstep.harness.records.loop_events import WorkItem
from misstep.harness.reflexive.protocols import ChannelBroken, Check
from misstep.harness.reflexive.simulated.items import MIX, Kind, draw_world
from misstep.harness.reflexive.simulated.machine import configured, read_pairs
from misstep.harness.reflexive.simulated.skill import SimulatedSkill
from misstep.harness.reflexive.simulated.target import VITAL_SIGNS, SimulatedTarget

PROBE, SERVICES, CONFIGURATION, JOURNAL = VITAL_SIGNS


def one(kind: Kind, folder: Path, beside: tuple[Kind, ...] = ()) -> tuple[SimulatedTarget, WorkItem]:
    """A machine with one item of a kind, and the item."""
    kinds = (*beside, kind)
    world = draw_world(len(kinds), 5, kinds)
    target = SimulatedTarget(world, folder)
    return target, next(item for item in world.items if world.kinds[item.id] == kind)


def enter(target: SimulatedTarget, changes: str) -> str:
    """What a worker's command gives."""
    done = carry_out(Action("configure", {"changes": changes}), target, target.tools("worker"))
    return asyncio.run(done).text


def check(target: SimulatedTarget, item: WorkItem) -> Check:
    return asyncio.run(target.check(item))


def naive(item: WorkItem) -> str:
    return f"{item.id}=on"


@pytest.mark.parametrize("kind", ["trivial", "last"])
def test_one_command_solves_a_trivial_item(kind: Kind, tmp_path: Path) -> None:
    target, item = one(kind, tmp_path)
    assert check(target, item).status == "failed"
    enter(target, naive(item))
    assert check(target, item) == Check(True, "passed", f"machine: HEALTHY\n{item.id}: pass")


def test_the_journal_rules_out_two_more_values_than_were_tried(tmp_path: Path) -> None:
    target, item = one("late", tmp_path)
    values = item.text.rstrip(".").split("one of: ")[1].split()
    refused: set[str] = set()
    attempts = 0
    while check(target, item).status == "failed":
        value = next(value for value in values if f"{item.id}={value}" not in refused)
        enter(target, f"{item.id}={value}")
        refused |= {str(pair) for pair in read_pairs(target.read_outside(JOURNAL).text)}
        attempts += 1
    assert 4 <= attempts <= 10
    assert len(refused) == 3 * (attempts - 1)


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


def test_a_broken_way_in_can_be_read_from_the_hosts_side_alone(tmp_path: Path) -> None:
    target, item = one("shuts", tmp_path)
    enter(target, naive(item))
    for sign in VITAL_SIGNS:
        with pytest.raises(ChannelBroken, match="the way in is shut"):
            asyncio.run(target.read(sign))
    assert target.read_outside(PROBE).holds is False
    assert "the way in was shut by" in target.read_outside(JOURNAL).text
    assert f"{item.id} was off, is on" in target.read_outside(CONFIGURATION).text
    with pytest.raises(ChannelBroken):
        asyncio.run(target.revert_by_script(f"{item.id}=off"))


def test_a_service_that_lost_its_setting_makes_the_machine_unhealthy_until_it_is_set_again(tmp_path: Path) -> None:
    target, item = one("resets", tmp_path)
    feed = item.id.replace(item.category, "feed")
    enter(target, naive(item))
    assert check(target, item).text.startswith("machine: UNHEALTHY")
    assert (check(target, item).healthy, target.read_outside(SERVICES).holds) == (False, False)
    assert f"needs {feed}=high" in target.read_outside(JOURNAL).text
    enter(target, f"{feed}=high")
    assert check(target, item) == Check(True, "passed", f"machine: HEALTHY\n{item.id}: pass")


@pytest.mark.parametrize("command", ["on", "off", "v3"])
def test_nothing_changes_what_is_locked(command: str, tmp_path: Path) -> None:
    target, item = one("locked", tmp_path)
    before = target.digest()
    enter(target, f"{item.id}={command}")
    assert target.digest() == before
    assert "is burnt in" in target.read_outside(JOURNAL).text


@pytest.mark.parametrize(("kind", "told"), [("declared", True), ("undeclared", False)])
def test_an_item_waits_for_another_and_only_one_kind_says_so(kind: Kind, told: bool, tmp_path: Path) -> None:
    target, item = one(kind, tmp_path, ("trivial",))
    other = next(iter(target._laws.waits.values()))[1]
    assert item.after == ((other,) if told else ())
    enter(target, naive(item))
    assert check(target, item).status == "failed"
    assert f"until item {other} is done" in target.read_outside(JOURNAL).text
    enter(target, f"{other}=on {naive(item)}")
    assert check(target, item).status == "passed"


def test_what_comes_last_seals_half_of_the_others(tmp_path: Path) -> None:
    target, item = one("last", tmp_path, ("trivial",) * 6)
    enter(target, naive(item))
    others = [name for name in target.state.checks if name != item.id]
    sealed = [name for name in others if enter(target, f"{name}=on") != "Done."]
    assert (len(sealed), len(others)) == (3, 6)


@pytest.mark.parametrize(
    ("kind", "beside", "status"), [("start", "", "passed"), ("kept", "", "failed"), ("kept", " {keep}=yes", "passed")]
)
def test_a_deferred_item_shows_at_the_next_start_what_became_of_it(
    kind: Kind, beside: str, status: str, tmp_path: Path
) -> None:
    target, item = one(kind, tmp_path)
    keep = item.id.replace(item.category, "keep")
    enter(target, naive(item) + beside.format(keep=keep))
    assert not target.ready(item)
    asyncio.run(target.prepare(item))
    assert target.ready(item)
    assert check(target, item).status == status


def test_an_evaluator_gap_stays_healthy_and_failing_whatever_is_set(tmp_path: Path) -> None:
    target, item = one("gap", tmp_path)
    values = item.text.rstrip(".").split("one of: ")[1].split()
    found = {}
    for value in values:
        assert enter(target, f"{item.id}={value}") == "Done."
        found[target.digest()] = check(target, item)
    assert len(found) == len(values) >= 3
    assert {(one.healthy, one.status) for one in found.values()} == {(True, "failed")}


def test_a_lesson_of_one_shared_item_fits_the_next_and_one_of_a_misleading_item_harms_it() -> None:
    for kind, helps in (("shared", True), ("misleading", False)):
        world = draw_world(2, 1, (kind,))  # type: ignore[arg-type]
        first, second = world.items
        before = " ".join(map(str, world.laws.shuts[naive(first)]))
        solved, _ = configured(world.state, read_pairs(f"{before} {naive(first)}"), world.laws)
        assert solved.reachable
        naively, _ = configured(solved, read_pairs(naive(second)), world.laws)
        advised, _ = configured(solved, read_pairs(f"{before} {naive(second)}"), world.laws)
        assert (naively.reachable, advised.reachable) == (not helps, helps)


def test_only_a_changed_check_changes_what_is_protected(tmp_path: Path) -> None:
    target, item = one("locked", tmp_path)
    before = target.protected()
    enter(target, naive(item))
    assert target.protected() == before
    action = Action("edit_check", {"item": item.id, "wanted": f"{item.id}=off"})
    asyncio.run(carry_out(action, target, target.tools("worker")))
    assert check(target, item).status == "passed"
    assert target.protected() != before


@settings(max_examples=30, deadline=None)
@given(some.lists(some.sampled_from(sorted(draw_world(24, 3).state.settings)), max_size=8))
def test_a_snapshot_brings_back_any_state_also_to_another_process(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
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


def test_a_seed_gives_the_same_world_and_another_gives_another() -> None:
    assert draw_world(24, 7) == draw_world(24, 7) != draw_world(24, 8)
    world = draw_world(48, 7)
    assert sorted(world.kinds.values()) == sorted((*MIX, *MIX))
    assert len({item.id for item in world.items}) == 48


def test_what_needs_another_item_is_named_before_it() -> None:
    for seed in range(5):
        world = draw_world(24, seed)
        place = {item.id: number for number, item in enumerate(world.items)}
        assert all(place[name] < place[other] for name, (_, other) in world.laws.waits.items())
        assert any(item.last for item in world.items[:12])


def test_the_clock_of_the_machine_stands_still() -> None:
    clock = VirtualClock()
    with SimulatedSkill(3).open(Path("unused"), clock) as target:
        target.digest()
    assert clock.now() == 0.0

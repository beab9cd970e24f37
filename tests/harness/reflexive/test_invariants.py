"""Whatever agents and target do: budgets hold, the baseline stays, failed attempts leave nothing, and all ends once."""

import asyncio
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from misstep_harness.agent.clocks import Clock, VirtualClock
from misstep_harness.agent.protocols import TurnLimits
from misstep_harness.agent.turns import Turn
from misstep_harness.errors import MisstepError
from misstep_harness.reflexive.log import Log
from misstep_harness.reflexive.loop import run_loop
from misstep_harness.reflexive.protocols import Agents, Check, Context
from misstep_harness.reflexive.records import (
    MECHANISMS,
    Checked,
    Diagnosed,
    Failed,
    Halted,
    ItemEnded,
    ItemLimits,
    LessonLearned,
    LessonRetired,
    LoopEvent,
    LoopSettings,
    Reflected,
    Restored,
    Resumed,
    Role,
    RunEnded,
    SnapshotName,
    SnapshotTaken,
    TurnEnded,
    Verified,
    WorkItem,
    events_that_hold,
)
from misstep_harness.reflexive.simulated.skill import SimulatedSkill, WorkerKind, make_agents
from misstep_harness.reflexive.simulated.target import MIX, SimulatedTarget
from tests.harness.reflexive.notebook import Faults, Notebook, NotebookSkill, Scripted, happened

LIMITS = TurnLimits(tool_calls=2, seconds=50.0, sleeping_seconds=5.0, sub_agents=1, output_tokens=100)
ITEM = ItemLimits(seconds=400.0, attempts=8)
VALUES = ("done", "half", "wrong")


class Deed(Struct, frozen=True):
    """One thing that a random agent does."""

    kind: str
    amount: float = 0.0
    name: str = ""
    value: str = ""


deeds = st.one_of(
    st.builds(
        Deed,
        st.just("write"),
        name=st.sampled_from(["", "", "", "broken", "sick", "rules", "other"]),
        value=st.sampled_from(VALUES),
    ),
    st.builds(Deed, st.sampled_from(["think", "sleep"]), st.floats(-1.0, 90.0)),
    st.builds(Deed, st.just("talk"), st.integers(-5, 200).map(float)),
    st.builds(Deed, st.sampled_from(["sub_agent", "raise", "catch_all", "no_such_command"])),
)
plans = st.lists(deeds, max_size=5)
replies = st.sampled_from(
    [
        "It failed.",
        "The line is missing.\nLESSON: Write the whole line.",
        "VERDICT: ESCALATE\nREASON: Nobody can.",
        "VERDICT: SKIP_UNTIL\nUNTIL: b",
        "VERDICT: PIVOT\nPLAN: Write done.",
        "x" * 600,
        "half a pair: \ud800",
    ]
)


class RandomAgents(Struct, frozen=True):
    """What all agents do: the deeds of an attempt, in turn, and what they say at last."""

    deeds: tuple[tuple[Deed, ...], ...]
    replies: tuple[str, ...]

    async def act(self, context: Context, turn: Turn) -> str:
        number = len(context.item.id) + context.attempt * 7 + len(context.role)
        for deed in self.deeds[number % len(self.deeds)]:
            await _do(deed, context, turn)
        return self.replies[number % len(self.replies)]


async def _do(deed: Deed, context: Context, turn: Turn) -> None:
    match deed.kind:
        case "write":
            await turn.call("write", {"name": deed.name or context.item.id, "value": deed.value})
        case "think":
            await turn.think(deed.amount)
        case "sleep":
            await turn.sleep(deed.amount)
        case "talk":
            await turn.write(int(deed.amount))
        case "sub_agent":
            await turn.start_sub_agent(_sub_agent)
        case "raise":
            raise ValueError("no idea")
        case "catch_all":
            for _ in range(4):
                try:
                    await turn.call("write", {"name": context.item.id, "value": "caught"})
                except BaseException:  # noqa: BLE001, S112
                    continue
        case _:
            await turn.call(deed.kind, {})


async def _sub_agent(turn: Turn) -> str:
    await turn.call("write", {"name": "sub", "value": "agent"})
    await turn.think(20.0)
    return "done"


class Unreliable(Notebook):
    """A target that fails now and then, by a list of what fails when."""

    def __init__(self, kept: Path, clock: Clock, faults: Faults, fails: tuple[bool, ...]) -> None:
        super().__init__(kept, clock, faults)
        self._fails = fails
        self._asked = 0

    def _fails_now(self) -> bool:
        self._asked += 1
        return bool(self._fails) and self._fails[self._asked % len(self._fails)]

    async def check(self, item: WorkItem) -> Check:
        if self._fails_now():
            raise OSError("the scanner is gone")
        return await super().check(item)

    def restore(self, name: SnapshotName) -> None:
        if self._fails_now():
            raise MisstepError("the disk is gone")
        super().restore(name)

    async def prepare(self, item: WorkItem) -> None:
        if self._fails_now():
            raise MisstepError("no restart")
        await super().prepare(item)


WORK = (
    WorkItem("a", "lines", "a"),
    WorkItem("b", "lines", "b", after=("a",)),
    WorkItem("c-pass", "lines", "c", deferred=True),
    WorkItem("d", "words", "d", last=True),
)


def run_random(
    does: list[list[Deed]], says: list[str], without: frozenset[str], log: Log, target: Unreliable, clock: VirtualClock
) -> None:
    scripted = Scripted("random", RandomAgents(tuple(map(tuple, does)), tuple(says)).act)
    roles: tuple[Role, ...] = ("planner", "worker", "reflector", "strategist")
    dials = LoopSettings(
        item=ITEM,
        turns=dict.fromkeys(roles, LIMITS),
        least_seconds_to_reflect=20.0,
        least_seconds_to_re_engage=40.0,
        without=without,
    )
    agents = Agents(scripted, scripted, scripted, scripted)
    asyncio.run(run_loop(NotebookSkill(WORK), target, agents, dials, clock, log))


@given(
    st.lists(plans, min_size=1, max_size=6),
    st.lists(replies, min_size=1, max_size=4),
    st.lists(st.booleans(), max_size=5),
    st.frozensets(st.sampled_from(sorted(MECHANISMS)), max_size=3),
)
def test_the_invariants_of_the_loop_hold_for_any_agents_and_targets(does, says, fails, without) -> None:
    clock = VirtualClock()
    log = Log(clock)
    with TemporaryDirectory() as folder:
        target = Unreliable(Path(folder), clock, Faults(seconds_a_check=7.0), tuple(fails))
        run_random(does, says, without, log, target, clock)
        assert target.kept("baseline") == log.state.baseline
    _invariants(log.events, without)
    if "snapshots" not in without and _came_back(log.events):
        assert target.digest() == _digests(log.events)[-1]


def _invariants(events: list[LoopEvent], without: frozenset[str]) -> None:
    assert isinstance(events[-1].happened, RunEnded)
    assert [event.number for event in events] == list(range(len(events)))
    events = events_that_hold(events)
    _every_item_has_one_end_with_one_reason(events)
    _no_turn_and_no_item_exceeds_its_budget(events, without)
    _a_failed_attempt_leaves_nothing(events, without)
    _no_reflection_without_facts(events, without)
    _nothing_is_solved_without_a_passing_check(events, without)
    halted = next((event.number for event in events if isinstance(event.happened, Halted)), events[-1].number)
    assert all(
        isinstance(event.happened, ItemEnded | RunEnded | LessonLearned | LessonRetired | Resumed)
        for event in events
        if event.number > halted
    )


def _came_back(events: list[LoopEvent]) -> bool:
    made = [event.happened for event in events if isinstance(event.happened, Restored)]
    return not made or made[-1].verified


def _every_item_has_one_end_with_one_reason(events: list[LoopEvent]) -> None:
    ended = Counter(event.item for event in events if isinstance(event.happened, ItemEnded))
    lost = sum(
        isinstance(event.happened, Restored) and event.happened.name == "baseline" and event.happened.verified
        for event in events
    )
    assert set(ended) == {item.id for item in WORK}
    assert all(times <= 1 + lost for times in ended.values())
    for event in events:
        if isinstance(event.happened, ItemEnded):
            assert event.happened.ending.reason


def _no_turn_and_no_item_exceeds_its_budget(events: list[LoopEvent], without: frozenset[str]) -> None:
    turns = [event for event in events if isinstance(event.happened, TurnEnded)]
    spent: Counter[str] = Counter()
    for event in turns:
        turn = event.happened
        assert isinstance(turn, TurnEnded)
        spent[event.item] += turn.seconds  # type: ignore[assignment]
        if "turn_budgets" not in without:
            assert len(turn.calls) <= 2
            assert turn.seconds <= 50.0
            assert turn.slept <= 5.0
            assert turn.sub_agents <= 1
            assert turn.tokens_out <= 100
    if not without & {"time_budget", "turn_budgets"}:
        assert all(seconds <= 400.0 + 1e-6 for seconds in spent.values())
    most = 3 if "time_budget" in without else 8
    assert all(event.attempt <= most for event in events)


def _digests(events: list[LoopEvent]) -> list[str]:
    began = events[0].happened
    digest = getattr(began, "baseline", "")
    results = []
    for event in events:
        match event.happened:
            case SnapshotTaken(digest=kept):
                digest = kept
            case Restored(name="baseline", wanted=wanted, found=was) if wanted == was:
                digest = wanted
        results.append(digest)
    return results


def _a_failed_attempt_leaves_nothing(events: list[LoopEvent], without: frozenset[str]) -> None:
    """Between a failed attempt and the next turn of a worker, the target was brought back, and that was verified."""
    if "snapshots" in without:
        return
    open_failure = False
    for event, digest in zip(events, _digests(events), strict=True):
        match event.happened:
            case Failed():
                open_failure = True
            case Restored(found=found, wanted=wanted):
                if found == wanted == digest:
                    open_failure = False
            case TurnEnded(role="worker"):
                assert not open_failure or "halting" in without
            case _:
                pass


def _no_reflection_without_facts(events: list[LoopEvent], without: frozenset[str]) -> None:
    for event in events:
        if isinstance(event.happened, Reflected):
            assert bool(event.happened.facts) == ("diagnostics" not in without)
        if isinstance(event.happened, Diagnosed):
            assert set(event.happened.facts) == {"access", "lines"}


def _nothing_is_solved_without_a_passing_check(events: list[LoopEvent], without: frozenset[str]) -> None:
    if without & {"typed_evaluation", "protected_check", "verified_deferrals"}:
        return
    passed: set[str] = set()
    for event in events:
        match event.happened:
            case Checked(healthy=True, status="passed", weakened=False) | Verified(status="passed"):
                passed.add(event.item)
            case ItemEnded(ending=ending) if ending.end == "solved":
                assert event.item in passed
            case _:
                pass


class Killed(BaseException):
    """What a kill is here: nothing catches it."""


@given(
    st.lists(plans, min_size=1, max_size=6),
    st.lists(replies, min_size=1, max_size=4),
    st.lists(st.booleans(), max_size=5),
    st.lists(st.integers(0, 120), max_size=4),
)
def test_the_invariants_hold_across_kills(does, says, fails, kills) -> None:
    written: list[LoopEvent] = []
    with TemporaryDirectory() as folder:
        for number in [*sorted(kills), None]:

            def write(event: LoopEvent, number: int | None = number) -> None:
                if number is not None and event.number > number:
                    raise Killed
                written.append(event)

            clock = VirtualClock()
            target = Unreliable(Path(folder), clock, Faults(), tuple(fails))
            with suppress(Killed):
                run_random(does, says, frozenset(), Log(clock, write, tuple(written)), target, clock)
                break
        _invariants(written, frozenset())
        assert target.kept("baseline") == written[0].happened.baseline  # type: ignore[union-attr]
    if _came_back(written):
        assert target.digest() == _digests(written)[-1]


@given(
    kinds=st.lists(st.sampled_from(MIX), max_size=6),
    without=st.sets(st.sampled_from(list(MECHANISMS))),
    worker=st.sampled_from(get_args(WorkerKind)),
    seed=st.integers(0, 50),
)
def test_every_item_ends_once_and_a_baseline_is_taken_once(kinds, without, worker, seed) -> None:
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

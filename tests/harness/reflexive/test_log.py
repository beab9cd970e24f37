"""What the loop knows is the fold of its log, whether it grew event by event or was read back."""

import pytest

from misstep_harness.agent.clocks import VirtualClock
from misstep_harness.errors import InputError
from misstep_harness.journal.records import encode
from misstep_harness.reflexive.log import Log, last_that_holds, state_of
from misstep_harness.reflexive.records import (
    Ending,
    Happening,
    ItemBegan,
    ItemEnded,
    LoopEvent,
    Planned,
    Restored,
    Resumed,
    RunBegan,
    SnapshotTaken,
    TurnEnded,
    WorkItem,
    events_that_hold,
)

BEGAN = RunBegan("skill", "agents", 0, (), (WorkItem("a", "", ""), WorkItem("b", "", "")), "base")
TURN = TurnEnded("worker", "agent", "said", 30.0, tokens_in=5, tokens_out=2, usd=0.5)


def log_of(*happened: tuple[Happening, str, int]) -> Log:
    log = Log(VirtualClock())
    for happening, item, attempt in happened:
        log.add(happening, item, attempt)
    return log


def test_an_event_is_written_before_anything_follows_from_it() -> None:
    written: list[LoopEvent] = []
    log = Log(VirtualClock(), written.append)
    log.add(BEGAN)
    assert written == log.events
    assert encode(written[0]).startswith(b'{"number":0,"at":0.0,"happened":{"event":"run_began"')


def test_time_goes_on_behind_the_events_that_a_run_has() -> None:
    clock = VirtualClock(1_000.0)
    log = Log(clock, earlier=[LoopEvent(0, 42.0, BEGAN)])
    assert log.add(ItemBegan(), "a").at == 42.0


def test_what_a_resumption_makes_void_counts_for_money_alone() -> None:
    log = log_of((BEGAN, "", 0), (ItemBegan(), "a", 0), (Planned("plan"), "a", 0), (TURN, "a", 1))
    assert len(log.state.items["a"].attempts) == 1
    log.add(Resumed(2))
    state = log.state.items["a"]
    assert (state.attempts, state.plan, state.tokens, state.usd) == ([], "plan", 7, 0.5)
    assert [event.number for event in events_that_hold(log.events)] == [0, 1, 2, 4]
    assert [event.number for event in log.holding] == [0, 1, 2, 4]
    assert state_of(log.events).items == log.state.items


def test_a_resumption_of_a_resumption_leaves_each_event_once() -> None:
    log = log_of((BEGAN, "", 0), (ItemBegan(), "a", 0), (TURN, "a", 0))
    for _ in range(3):
        log.add(Resumed(1))
        log.add(TURN, "a", 0)
    assert [event.number for event in log.holding] == [0, 1, 7, 8]


def test_a_run_goes_on_behind_the_last_attempt_that_another_followed() -> None:
    log = log_of(
        (BEGAN, "", 0), (ItemBegan(), "a", 0), (Planned("plan"), "a", 0), (TURN, "a", 1), (Planned("other"), "a", 1)
    )
    assert last_that_holds(log.holding).number == 2
    log.add(TURN, "a", 2)
    assert last_that_holds(log.holding).number == 4


def test_what_was_solved_is_open_again_where_its_snapshot_is_lost() -> None:
    solved = ItemEnded(Ending("solved", "check_passed"), 1, 30.0)
    kept = (SnapshotTaken("progress", "more"), "a", 1)
    log = log_of((BEGAN, "", 0), (ItemBegan(), "a", 0), (TURN, "a", 1), kept, (solved, "a", 1), (ItemBegan(), "b", 0))
    log.add(Restored("baseline", "base", "something else"), "b", 1)
    assert log.state.items["a"].solved
    log.add(Restored("baseline", "base", "base"), "b", 1)
    state = log.state.items["a"]
    assert (state.phase, state.ending, log.state.progress) == ("waiting", None, None)
    assert len(state.attempts) == 1


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([LoopEvent(0, 0.0, ItemBegan(), "a")], "does not begin with the beginning of a run"),
        ([LoopEvent(0, 0.0, BEGAN), LoopEvent(1, 0.0, ItemBegan(), "z")], "event 1 of the log is of the item 'z'"),
        (
            [LoopEvent(0, 0.0, BEGAN), LoopEvent(2, 0.0, ItemBegan(), "a")],
            "line 2 of the log is event 2, where event 1",
        ),
    ],
)
def test_a_log_of_something_else_is_told(events: list[LoopEvent], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Log(VirtualClock(), earlier=events)

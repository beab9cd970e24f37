"""What is scarce is counted in one way, no turn gets more time than its item has, and inert dials are named."""

import pytest

from misstep_harness.agent.protocols import TurnLimits
from misstep_harness.reflexive.item_budgets import turn_limits, used_up
from misstep_harness.reflexive.log import ItemState, LoggedAttempt
from misstep_harness.reflexive.records import ItemLimits, LoopSettings, WorkItem, inert, limits_of

ITEM = WorkItem("a", "lines", "a")


def state(seconds: float = 0.0, attempts: int = 0, tokens: int = 0, usd: float = 0.0) -> ItemState:
    made = [LoggedAttempt(number + 1) for number in range(attempts)]
    return ItemState(ITEM, "working", "plan", made, seconds, tokens, usd)


@pytest.mark.parametrize(
    ("spent", "end", "reason"),
    [
        (state(seconds=1200.0), "time_budget", "time_budget"),
        (state(seconds=1199.9999999), "time_budget", "time_budget"),
        (state(attempts=100), "attempt_cap", "attempt_cap"),
        (state(tokens=5_000), "failed", "token_budget"),
        (state(usd=2.0), "failed", "cost_budget"),
        (state(seconds=1300.0, attempts=100, tokens=5_000), "time_budget", "time_budget"),
    ],
)
def test_an_item_ends_by_what_it_has_used_up(spent: ItemState, end: str, reason: str) -> None:
    ending = used_up(spent, ItemLimits(tokens=5_000, usd=2.0))
    assert (ending.end, ending.reason) == (end, reason)


def test_a_turn_gets_what_the_item_has_left_and_no_more_than_its_own() -> None:
    settings = LoopSettings()
    assert turn_limits("worker", state(), settings).seconds == 300.0
    assert turn_limits("worker", state(seconds=1100.0), settings).seconds == 100.0
    endless = LoopSettings(turns={"worker": TurnLimits(seconds=None)})
    assert turn_limits("worker", state(seconds=1100.0), endless).seconds == 100.0


def test_without_time_budgets_three_attempts_may_take_what_they_like() -> None:
    settings = LoopSettings(without=frozenset({"time_budget"}))
    assert (limits_of(settings).seconds, limits_of(settings).attempts) == (None, 3)
    assert turn_limits("worker", state(seconds=1e6), settings).seconds == 300.0
    assert turn_limits("worker", state(), LoopSettings(without=frozenset({"turn_budgets"}))).tool_calls is None


NEVER_ASKED, NO_PLATEAU, NO_GAP = "The strategist is never asked", "No plateau is found", "No evaluator gap is found"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (LoopSettings(), []),
        (LoopSettings(ItemLimits(seconds=121)), []),
        (LoopSettings(ItemLimits(seconds=120)), [NEVER_ASKED]),
        (LoopSettings(ItemLimits(seconds=60)), ["Nothing is reflected on", NEVER_ASKED]),
        (LoopSettings(ItemLimits(seconds=120), without=frozenset({"re_engagement"})), []),
        (LoopSettings(ItemLimits(seconds=120), without=frozenset({"time_budget"})), []),
        (LoopSettings(ItemLimits(attempts=3)), []),
        (LoopSettings(ItemLimits(attempts=2)), [NO_GAP, NEVER_ASKED]),
        (LoopSettings(ItemLimits(attempts=2), failures_between=2), [NO_GAP, NO_PLATEAU]),
        (LoopSettings(failures_between=2), [NO_PLATEAU]),
        (LoopSettings(failures_between=2, plateau_window=2), []),
        (LoopSettings(failures_between=2, without=frozenset({"re_engagement"})), []),
    ],
)
def test_what_can_never_happen_is_said(settings, said):
    assert [sentence.startswith(start) for sentence, start in zip(inert(settings), said, strict=True)] == [True] * len(
        said
    )

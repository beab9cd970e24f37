"""What work on an item may take: time, attempts, tokens and money, all counted in the same way."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.protocols import Resource, TurnLimits
from misstep_harness.errors import UsageError
from misstep_harness.reflexive.log import ItemState
from misstep_harness.reflexive.records import End, Ending, ItemLimits, LoopSettings, Reason, Role, limits_of

_DIGITS = 6
"""So many digits of seconds count: a sum of times is a little off, and the rest is too short for anything."""


class Budget(Struct, frozen=True):
    """One scarce resource of an item: what was spent of it, what may be, and how the item ends when it is used up."""

    resource: Resource
    spent: float
    most: float
    end: End
    reason: Reason


def budgets(state: ItemState, limits: ItemLimits) -> Iterator[Budget]:
    """Return the budgets of an item, in the order in which they are looked at."""
    if limits.seconds is not None:
        yield Budget("seconds", round(state.seconds, _DIGITS), limits.seconds, "time_budget", "time_budget")
    if limits.attempts is not None:
        yield Budget("attempts", len(state.attempts), limits.attempts, "attempt_cap", "attempt_cap")
    if limits.tokens is not None:
        yield Budget("tokens", state.tokens, limits.tokens, "failed", "token_budget")
    if limits.usd is not None:
        yield Budget("usd", state.usd, limits.usd, "failed", "cost_budget")


def used_up(state: ItemState, limits: ItemLimits) -> Ending | None:
    """Return how an item ends for want of something; `None` while there is enough of everything."""
    for budget in budgets(state, limits):
        if budget.spent >= budget.most:
            return Ending(budget.end, budget.reason, f"It took {budget.spent:g} of {budget.most:g} {budget.resource}.")
    return None


def seconds_left(state: ItemState, limits: ItemLimits) -> float:
    """Return the time that an item has left, infinite where it is not bounded."""
    return float("inf") if limits.seconds is None else max(limits.seconds - state.seconds, 0.0)


def turn_limits(role: Role, state: ItemState, settings: LoopSettings) -> TurnLimits:
    """Return what a turn may take: the limits of its role, and no more time than the item has left."""
    if not settings.has("turn_budgets"):
        return TurnLimits(None, None, None, None, None)
    limits = settings.turns[role]
    left = seconds_left(state, limits_of(settings))
    has_time = left == float("inf") or (limits.seconds is not None and limits.seconds <= left)
    return limits if has_time else replace(limits, seconds=left)


def refuse_too_short(settings: LoopSettings) -> None:
    """Raise `UsageError` where an item has never so much time left that the strategist would be asked."""
    seconds, least = limits_of(settings).seconds, settings.least_seconds_to_re_engage
    if settings.has("re_engagement") and seconds is not None and seconds <= least:
        raise UsageError(
            f"an item has {seconds:g} seconds, and the strategist is asked while at least {least:g} of them are left",
            "Raise --item-seconds, lower --strategist-seconds, or leave the strategist out: --without re_engagement.",
        )

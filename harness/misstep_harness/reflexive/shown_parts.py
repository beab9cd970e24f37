"""What each role is shown of an item: the parts of its context, the most important first."""

from collections.abc import Iterator, Sequence

from misstep_harness.agent.turns import CallMade
from misstep_harness.reflexive.diagnosis import facts_told
from misstep_harness.reflexive.log import ItemState, LoggedAttempt
from misstep_harness.reflexive.memory import bans, bans_text
from misstep_harness.reflexive.protocols import Part
from misstep_harness.reflexive.records.loop_events import Trigger, WorkItem
from misstep_harness.reflexive.settings import LoopSettings

MOST_SHOWN = 600


def for_planner(state: ItemState, settings: LoopSettings) -> Iterator[Part]:
    """Return the task, and where the loop does not enforce the order of items, what is wished of it."""
    yield Part("task", state.item.text)
    if not settings.has("ordering"):
        yield Part("order", order_in_words(state.item))


def for_worker(state: ItemState) -> Iterator[Part]:
    """Return the task, the plan, what was concluded from the last attempt, its check, and what has failed."""
    yield Part("task", state.item.text)
    yield Part("plan", state.plan or "")
    last = state.last
    if last is not None:
        yield Part("reflection", "" if last.reflected is None else last.reflected.text)
        yield Part("check", "" if last.checked is None else last.checked.text)
        yield Part("bans", bans_text(bans(state.events, state.item.id)))


def for_reflector(
    state: ItemState, attempt: LoggedAttempt, calls: Sequence[CallMade], settings: LoopSettings
) -> Iterator[Part]:
    """The attempt: how it failed and what is known of why, or without diagnostics that it failed and what was said."""
    yield Part("task", state.item.text)
    if attempt.diagnosed is None:
        yield Part("outcome", "The attempt failed.")
    else:
        yield Part("outcome", _outcome(attempt))
        yield Part("facts", facts_told(attempt.diagnosed))
    if attempt.turn is not None:
        yield Part("hidden_calls", hidden_calls(attempt) if settings.has("turn_budgets") else "")
        yield Part("turn", attempt.turn.reply or attempt.turn.error)
        shown = "\n".join(f"{call.name}: {call.observation.text[:MOST_SHOWN]}" for call in calls)
        yield Part("commands", "" if attempt.diagnosed is None else shown)
    yield Part("plan", state.plan or "")


def for_strategist(state: ItemState, trigger: Trigger, others: Sequence[str]) -> Iterator[Part]:
    """Why it is asked, the plan, the last attempt's facts, the whole history, and the items that it may wait for."""
    yield Part("task", state.item.text)
    yield Part("trigger", trigger)
    yield Part("plan", state.plan or "")
    if state.last is not None and state.last.diagnosed is not None:
        yield Part("facts", facts_told(state.last.diagnosed))
    yield Part("history", "\n\n".join(_summary(attempt) for attempt in state.attempts))
    yield Part("open_items", ", ".join(others))


def hidden_calls(attempt: LoggedAttempt) -> str:
    """Return the retries within a turn that no reflection came between, in words; empty if there were none."""
    turn = attempt.turn
    if turn is None or not turn.hidden:
        return ""
    return f"{len(turn.calls)} command(s) were carried out and {turn.refused} refused within this one turn."


def order_in_words(item: WorkItem) -> str:
    """Return what is wished of the order of an item."""
    first = f"Do it after {', '.join(item.after)}." if item.after else ""
    return " ".join(part for part in (first, "Do it LAST." if item.last else "") if part)


def _outcome(attempt: LoggedAttempt) -> str:
    kind = "" if attempt.failed is None else attempt.failed.kind.replace("_", " ")
    return f"The attempt failed: {kind}.\n{'' if attempt.checked is None else attempt.checked.text}"


def _summary(attempt: LoggedAttempt) -> str:
    answer, calls = attempt.re_engaged, () if attempt.turn is None else attempt.turn.calls
    lines = (
        f"Attempt {attempt.number}",
        f"commands: {'; '.join(calls)}" if calls else "",
        hidden_calls(attempt),
        "" if attempt.failed is None else _outcome(attempt),
        "" if attempt.reflected is None else f"reflection: {attempt.reflected.text}",
        "" if answer is None else f"strategist: {answer.verdict} {answer.plan}",
    )
    return "\n".join(filter(None, lines))

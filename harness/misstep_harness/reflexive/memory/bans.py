"""What was tried on an item and failed, as facts: a change by its digest, and the commands that made it."""

from collections.abc import Iterable

from msgspec import Struct

from misstep_harness.reflexive.records.loop_events import Failed, FailureKind, LoopEvent, PutOff, TurnEnded

_BANNING: frozenset[FailureKind] = frozenset({"unhealthy", "check_failed", "check_weakened"})
"""The failures that a change is to blame for: not those of a turn that was cut off, or of a check that was not made."""


class Ban(Struct, frozen=True):
    """A change that failed: the digest of the state that it led to, how that failed, and the commands."""

    change: str
    kind: FailureKind
    calls: tuple[str, ...]


def bans(events: Iterable[LoopEvent], item: str) -> tuple[Ban, ...]:
    """Return the changes of an item that failed, each once, the first first; being put off clears the bans."""
    banned: dict[str, Ban] = {}
    calls: tuple[str, ...] = ()
    for event in events:
        if event.item != item:
            continue
        match event.happened:
            case TurnEnded(role="worker", calls=made):
                calls = made
            case Failed(kind=kind, change=change) if change and kind in _BANNING:
                banned.setdefault(change, Ban(change, kind, calls))
            case PutOff():
                banned.clear()
    return tuple(banned.values())


def bans_text(banned: Iterable[Ban]) -> str:
    """Bans as a part of a context, one a line."""
    return "\n".join(f"- {'; '.join(ban.calls) or 'no command'}: {ban.kind.replace('_', ' ')}" for ban in banned)

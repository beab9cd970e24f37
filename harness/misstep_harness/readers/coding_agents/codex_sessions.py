"""The lines of a Codex rollout parted into its sessions, and what a session replays of an earlier one.

A session begins with a `session_meta` of an id of its own. A forked one opens with the `session_meta` of the session
that it comes from and a copy of what was said there, under the time of the copying::

    {"timestamp": "…T10:00:00.001Z", "type": "session_meta", "payload": {"id": "s2", "forked_from_id": "s1"}}
    {"timestamp": "…T10:00:00.002Z", "type": "session_meta", "payload": {"id": "s1"}}
    {"timestamp": "…T10:00:00.003Z", "type": "response_item", "payload": {…}}       what s1 has said, once more
    {"timestamp": "…T10:00:41.000Z", "type": "response_item", "payload": {…}}       what s2 says

The end of the copy is told by the earlier session if it is in the same file; else by the session's own `session_meta`
if that is repeated; else by the time. If none of them tells it, nothing is taken for a copy and turns count in both
files.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from misstep_harness.readers.input.fields import at, text_or_none
from misstep_harness.readers.interchange.content import as_text

COPIED_WITHIN = timedelta(seconds=1)
"""A copy is written at once: what is stamped later after the fork was said in the session itself."""

_SPEECH = ("response_item", "event_msg", "compacted")


class RolloutLine(Struct):
    """One line: its number, its kind, and what it holds."""

    number: int
    kind: str
    timestamp: str | None
    payload: dict[str, Any]

    @property
    def describes(self) -> str | None:
        """Return the id of the session that the line describes."""
        identity = self.payload.get("id") or self.payload.get("session_id")
        return identity if self.kind == "session_meta" and isinstance(identity, str) else None


class Session(Struct):
    """The entries of one session in order; apart from them those that repeat what was said before."""

    entries: list[RolloutLine] = field(default_factory=list)
    replayed: list[RolloutLine] = field(default_factory=list)
    begin: RolloutLine | None = None
    origins: set[str] = field(default_factory=set)

    @property
    def first_line(self) -> int:
        """Return the number of the line with which the session begins."""
        return min(entry.number for entry in [*self.entries[:1], *self.replayed[:1]])

    @property
    def last_line(self) -> int:
        """Return the number of the last line."""
        return max(entry.number for entry in [*self.entries[-1:], *self.replayed[-1:]])


def sessions_of(entries: Iterable[RolloutLine]) -> list[Session]:
    """Return the sessions in a file, in the order in which they begin; at least one."""
    current = Session()
    by_name: dict[str | None, Session] = {None: current}
    silent = True
    for entry in entries:
        named = entry.describes
        if named is not None and current.begin is None and silent:
            current.begin = entry
            by_name = {named: current}
        elif named is not None and not (silent and named in current.origins):
            current = by_name.setdefault(named, Session(begin=entry))
            silent = not current.entries
        if entry.kind == "session_meta" and (origin := origin_of(entry.payload)) is not None:
            current.origins.add(origin)
        silent = silent and entry.kind not in _SPEECH
        current.entries.append(entry)
    sessions = list(by_name.values())
    entries_of = {name: _Entry(session.entries) for name, session in by_name.items()}
    for session in sessions:
        length, start = _replayed(session, entries_of)
        session.replayed = session.entries[start : start + length]
        session.entries = session.entries[:start] + session.entries[start + length :]
    return sessions


def origin_of(described: dict[str, Any]) -> str | None:
    """Return the session that started one as a sub-agent, or from which it was forked."""
    return text_or_none(_spawned_by(described) or described.get("forked_from_id"))


def _spawned_by(described: dict[str, Any]) -> Any:
    return at(described, "source", "subagent", "thread_spawn", "parent_thread_id")


def _replayed(session: Session, entries_of: "dict[str | None, _Entry]") -> tuple[int, int]:
    """Return how many entries of a session repeat earlier ones, and the first of them."""
    begin, entries = session.begin, session.entries
    if begin is None:
        return 0, 0
    at_hand = [entries_of[name] for name in session.origins if name in entries_of and name != begin.describes]
    if at_hand:
        return max(_repeated(entries, earlier) for earlier in at_hand), 0
    again = (place for place, entry in enumerate(entries) if entry.describes == begin.describes and entry is not begin)
    own = next(again, None)
    if session.origins:
        stamped = 0 if _spawned_by(begin.payload) else _stamped_as_copied(begin, entries)
        return min(stamped or len(entries), stamped if own is None else own), 0
    if own is None:
        return 0, 0
    earlier = _Entry(entries[:own])
    return _repeated(entries[own:], earlier) if _all_repeated(entries[own:], earlier) else 0, own


class _Entry:
    def __init__(self, entries: list[RolloutLine]) -> None:
        self._entries = entries

    @cached_property
    def items(self) -> list[str]:
        return [_content(entry) for entry in self._entries if entry.kind in _SPEECH and entry.kind != "event_msg"]

    @cached_property
    def known(self) -> set[str]:
        return {_content(entry) for entry in self._entries if entry.kind in _SPEECH}


def _repeated(entries: list[RolloutLine], earlier: _Entry) -> int:
    """Return how many entries open with what was said earlier, in its order, word for word."""
    left = iter(earlier.items)
    length = 0
    for place, entry in enumerate(entries, 1):
        if entry.kind not in _SPEECH:
            continue
        content = _content(entry)
        if content not in earlier.known or (entry.kind != "event_msg" and content not in left):
            break
        length = place
    return length


def _all_repeated(entries: list[RolloutLine], earlier: _Entry) -> bool:
    opening = [_content(entry) for entry in entries if entry.kind in _SPEECH and entry.kind != "event_msg"]
    return len(earlier.items) > 1 and opening[: len(earlier.items)] == earlier.items


def _content(entry: RolloutLine) -> str:
    return f"{entry.kind} {as_text(entry.payload)}"


def _stamped_as_copied(begin: RolloutLine, entries: list[RolloutLine]) -> int:
    """Return how many entries were written when the session began, up to the words that its first answer is to."""
    stamps = [_time(entry.timestamp) for entry in entries]
    began = _time(begin.timestamp)
    if began is None or len({stamp for stamp in stamps if stamp is not None}) < 2:
        return 0
    late = (place for place, stamp in enumerate(stamps) if stamp is not None and stamp - began > COPIED_WITHIN)
    end = next((place for place in late if entries[place].kind in _SPEECH), len(entries))
    if end == len(entries) or _is_by_user(entries[end]):
        return end
    places = [place for place in range(end) if _is_by_user(entries[place])]
    return places[-1] if places else end


def _is_by_user(entry: RolloutLine) -> bool:
    return entry.payload.get("role") == "user" or entry.payload.get("type") == "user_message"


def _time(stamp: str | None) -> datetime | None:
    try:
        read = None if stamp is None else datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return None if read is None or read.tzinfo is None else read


def numbered(entries: Iterable[RolloutLine]) -> Iterator[dict[str, Any]]:
    """Return entries as they are kept beside the steps."""
    return ({"line": entry.number, "type": entry.kind, "payload": entry.payload} for entry in entries)

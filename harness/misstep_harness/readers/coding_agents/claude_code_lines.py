"""The lines of a Claude Code session file: their fields, the sessions and sub-agents that they are of.

A session that was taken up in a new file opens with the lines of the earlier one; a forked one says where they are
from::

    {"type": "user", "uuid": "u9", "sessionId": "s2", "forkedFrom": {"sessionId": "s1", "messageUuid": "u1"},
     "message": {"role": "user", "content": "Rename the flag"}}

Lines copied under the new session's id, without `forkedFrom`, look like its own and count in both files.
"""

from typing import Any

from msgspec import Struct, field

from misstep_harness.readers.input.fields import at, text_or_none


class Written(Struct):
    """Tokens of one answer that were written to the cache, by how long they are kept."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class Usage(Struct):
    """Tokens of one answer."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: Written | None = None

    @property
    def written(self) -> tuple[int | None, int | None]:
        """Return the tokens that were written to the cache, and those of them that are kept for an hour."""
        apart = self.cache_creation or Written()
        short, hour = apart.ephemeral_5m_input_tokens, apart.ephemeral_1h_input_tokens
        if short is None and hour is None:
            return self.cache_creation_input_tokens, None
        whole = (short or 0) + (hour or 0)
        return max(whole, self.cache_creation_input_tokens or 0), hour or 0


class Message(Struct):
    """The message of a turn."""

    role: str | None = None
    id: str | None = None
    model: str | None = None
    content: str | list[Any] | None = None
    usage: Usage | None = None


class SessionFileLine(Struct, rename="camel"):
    """The fields of a line that say what it is and whose."""

    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    streamed_session: str | None = field(default=None, name="session_id")
    parent_tool_use: str | None = field(default=None, name="parent_tool_use_id")
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    is_synthetic: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    origin: Any = None
    message: Message | None = None
    content: Any = None
    attachment: Any = None
    timestamp: str | None = None
    tool_use_result: Any = None

    @property
    def written_by(self) -> str | None:
        """Return who wrote the words of a user's line, by newer versions: `human`, or a part of the program."""
        return text_or_none(at(self.origin, "kind"))

    @property
    def is_by_program(self) -> bool:
        """Whether a user's line says that no person typed it."""
        marks = (self.is_meta, self.is_compact_summary, self.is_synthetic, self.is_visible_in_transcript_only)
        return any(marks) or self.written_by not in (None, "human")


class SessionLine(Struct):
    """A line with its number, unchanged."""

    number: int
    line: SessionFileLine
    value: dict[str, Any]


def session_of(entry: SessionLine) -> str | None:
    """Return the session that a line is from: of a copied one, that in which it was first written."""
    forked = entry.value.get("forkedFrom")
    named = forked.get("sessionId") if isinstance(forked, dict) else None
    return named if isinstance(named, str) else entry.line.session_id or entry.line.streamed_session


def by_session(entries: list[SessionLine], name: str) -> tuple[dict[str, list[SessionLine]], list[SessionLine]]:
    """Return the lines of each session in a file (without a name: of the one before), and those that it repeats."""
    named = [entry.line.session_id or entry.line.streamed_session for entry in entries]
    current = next(filter(None, named), name)
    start = named.index(name) if name in named else 0
    later = set(named[start:])
    sessions: dict[str, list[SessionLine]] = {}
    replayed: list[SessionLine] = []
    for entry, session in zip(entries, named, strict=True):
        current = session or current
        if isinstance(entry.value.get("forkedFrom"), dict) or (session is not None and session not in later):
            replayed.append(entry)
        else:
            sessions.setdefault(name if current not in later else current, []).append(entry)
    return sessions, replayed


def by_agent(entries: list[SessionLine], seen: set[str]) -> dict[str | None, list[SessionLine]]:
    """Return the lines of the session (None) and of each sub-agent, in order; a line written twice counts once."""
    groups: dict[str | None, list[SessionLine]] = {}
    roots: dict[str, str] = {}
    for entry in entries:
        line = entry.line
        if line.uuid is not None:
            if line.uuid in seen:
                continue
            seen.add(line.uuid)
        agent = line.parent_tool_use
        if line.is_sidechain:
            root = roots.get(line.parent_uuid or "", line.uuid or f"line-{entry.number}")
            if line.uuid is not None:
                roots[line.uuid] = root
            agent = line.agent_id or root
        groups.setdefault(agent, []).append(entry)
    return groups

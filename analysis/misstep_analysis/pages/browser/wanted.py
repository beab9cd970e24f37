"""The order in which a list shows runs, their index, and the length of the texts in it."""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from misstep_harness.escaping import one_line
from misstep_harness.session import Session
from misstep_harness.trajectory import Step, ToolCall
from misstep_harness.values import as_json
from misstep_harness.verdict import Verdict

REASON_SHOWN = 600
_STEPS_NAMED = 8
_SECONDS = 1 << 40


class WantedSession(Struct, frozen=True):
    """A listed session, its findings, and the part of the page that holds its steps, if one does."""

    rank: int
    session: Session
    found: tuple[Verdict, ...]
    piece: str


def session_index(
    listed: Sequence[WantedSession],
    stored: Collection[str],
    numbered: Mapping[str, Iterable[str]],
    figures: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return sessions as a page's script reads them, a list a field.

    Categories and the `numbered` values (field → a value a session) are held once and then counted from 0.
    """
    words = {name: Numbered() for name in ("category", *numbered)}
    categories = [[words["category"].of(verdict.judge) for verdict in one.found] for one in listed]
    numbers = {name: [words[name].of(value) for value in values] for name, values in numbered.items()}
    sessions = [one.session for one in listed]
    return {
        **{"categories" if name == "category" else f"{name}s": column.words() for name, column in words.items()},
        "id": [one.item for one in sessions],
        "title": [one.title for one in sessions],
        "category": categories,
        "rationale": [[shortened(verdict.rationale) for verdict in one.found] for one in listed],
        "steps": [[verdict.steps for verdict in one.found] for one in listed],
        **numbers,
        "started": [one.started or "" for one in sessions],
        "n_steps": [one.n_steps for one in sessions],
        **(figures or {}),
        "parent": [one.parent or "" for one in sessions],
        "file": [one.file for one in sessions],
        "line": [one.line for one in sessions],
        "view": [view_of(one) for one in sessions],
        "piece": [one.piece if one.piece in stored else "" for one in listed],
    }


def view_of(session: Session) -> str:
    """Return the command that shows all of a session."""
    return shlex.join(["misstep", "view", session.file, "--id", session.item])


def steps_named(steps: Sequence[int]) -> str:
    """Return the first of some steps."""
    return ", ".join(map(str, steps[:_STEPS_NAMED])) + (", …" if len(steps) > _STEPS_NAMED else "")


def rank_of(session: Session, count: int) -> int:
    """Return the rank of a session: higher with more categories found in it, then if it is newer."""
    return count * _SECONDS + _started(session)


def _started(session: Session) -> int:
    """When a session started, in seconds since 1970; 0 where no time is known."""
    try:
        started = datetime.fromisoformat(session.started or "")
    except ValueError:
        return 0
    return max(int((started if started.tzinfo else started.replace(tzinfo=UTC)).timestamp()), 0)


def shortened(text: str, most: int = REASON_SHOWN) -> str:
    """Return a text in one line, cut to `most` characters."""
    line = one_line(text[: 2 * most])
    return line if len(line) <= most else f"{line[:most].rstrip()} …"


NONE = -1


class Numbered:
    """Words by number, in the order of their first use."""

    def __init__(self, words: Sequence[str] = ()) -> None:
        self._place = {word: place for place, word in enumerate(words)}

    def of(self, word: str | None) -> int:
        """Return the number of a word, a new one if the word is new."""
        return NONE if word is None else self._place.setdefault(word, len(self._place))

    def words(self) -> list[str]:
        """Return the words, in order."""
        return list(self._place)


def gist(step: Step, most: int) -> str:
    """Return the first words of what a step does, `most` characters: its calls, else its text, else what came back."""
    calls = "; ".join(_call(call, most) for call in step.calls)
    return shortened(calls[: 4 * most] or step.text.strip() or "; ".join(one.text[:most] for one in step.results), most)


def _call(call: ToolCall, most: int) -> str:
    values = [call.arguments] if isinstance(call.arguments, str) else list(call.arguments.values())
    texts = (value if isinstance(value, str) else as_json(value, indented=False) for value in values)
    return f"{call.name} {', '.join(one[:most] for one in texts)}".strip()

"""Which runs a reader wants to see first in a list, and how much of a text stands there."""

from datetime import UTC, datetime

from misstep.harness.escaping import one_line
from misstep.harness.records.session import Session

REASON_SHOWN = 600
"""How many characters of a reason are shown."""

_SECONDS = 1 << 40


def rank_of(session: Session, found: int) -> int:
    """Return the rank of a session: higher with more categories found in it, and of these higher where it is newer."""
    return found * _SECONDS + _started(session)


def _started(session: Session) -> int:
    """When a session started, in seconds since 1970; 0 where no time is known."""
    try:
        started = datetime.fromisoformat(session.started or "")
    except ValueError:
        return 0
    return max(int((started if started.tzinfo else started.replace(tzinfo=UTC)).timestamp()), 0)


def shortened(text: str, most: int = REASON_SHOWN) -> str:
    """Return a text in one line, of which no more than `most` characters are shown."""
    said = one_line(text[: 2 * most])
    return said if len(said) <= most else f"{said[:most].rstrip()} …"

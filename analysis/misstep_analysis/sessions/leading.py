"""Which of several runs leads: by the tasks that each two share, and beyond chance only where a paired test says so.

The tasks that one run alone tried say nothing of how it compares, and the highest of several shares is no lead.
"""

from collections.abc import Sequence

from msgspec import Struct

from misstep_analysis.tables.wording import listed_text


class Contest(Struct, frozen=True):
    """Two runs on the tasks that both tried: `a` less `b`, `None` where they share none, and whether a test tells."""

    a: str
    b: str
    difference: float | None
    apart: bool


class Lead(Struct, frozen=True):
    """The runs that no other is ahead of, on the tasks shared with each; `sentence` says how far that is shown."""

    first: tuple[str, ...]
    shown: bool
    sentence: str


def lead_of(names: Sequence[str], contests: Sequence[Contest], things: str = "runs", tasks: str = "cases") -> Lead:
    """Return which of several runs leads; one alone has no other to lead."""
    if len(names) < 2:
        return Lead(tuple(names), False, "")
    ahead: dict[str, dict[str, float]] = {name: {} for name in names}
    shown: set[tuple[str, str]] = set()
    for one in contests:
        if one.difference is not None:
            ahead[one.a][one.b], ahead[one.b][one.a] = one.difference, -one.difference
            shown |= {(one.a, one.b), (one.b, one.a)} if one.apart else set()
    count = len(names)
    first = tuple(name for name in names if len(ahead[name]) == count - 1 and min(ahead[name].values()) >= 0)
    if not first:
        unshared = any(len(of) < count - 1 for of in ahead.values())
        why = f"some share no {tasks}" if unshared else f"none is ahead of all others on the {tasks} that two share"
        return Lead((), False, f"Of {count} {things} none is shown to be the best: {why}.")
    if len(first) > 1:
        return Lead(first, False, f"Of {count} {things} {_listed(first)} are level, and none is ahead of them.")
    [best] = first
    doubtful = [name for name in names if name != best and (best, name) not in shown]
    if doubtful:
        lead = f"Of {count} {things} {best} is ahead, but its lead over {_listed(doubtful)} may be chance."
        return Lead(first, False, lead)
    return Lead(first, True, f"The best of {count} {things} is {best}.")


_MOST = 3


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MOST:
        return f"{', '.join(names[:_MOST])} and {len(names) - _MOST} more"
    return listed_text(names)

"""All flagged sessions of a run as one index, which the page's browser filters, sorts and searches.

A list a field, those with most categories first, then the newest. Categories, projects and the like are held once and
then counted from 0. With made-up values:

    {"categories": ["infinite_loop"], "projects": ["/home/ann/shop"], "weeks": ["2026-W07"], …,
     "id": ["run-7"], "title": ["Sort the list."], "category": [[0]], "steps": [[[4, 6, 8]]], "project": [0],
     "file": ["runs.jsonl"], "line": [7], "view": ["misstep view runs.jsonl --id run-7"], "piece": ["session-0"], …}
"""

from collections.abc import Iterable

from msgspec import Struct, structs

from misstep.analysis.measures.session_rates import Grouping, group_of
from misstep.analysis.pages.browser.embedding import embedded, is_embedded
from misstep.analysis.pages.browser.frame import LINES_SHOWN, Listed
from misstep.analysis.pages.browser.pieces import Pieces
from misstep.analysis.pages.browser.wanted import (
    WantedSession,
    place_of,
    rank_of,
    session_index,
    shortened,
    steps_named,
)
from misstep.analysis.tables.wording import counted_text
from misstep.harness.errors import InputError
from misstep.harness.journal.classified import LabelledSession

PAGE_BYTES = 18_000_000
"""How many bytes all sessions in a page take at most, compressed."""

SESSIONS_LISTED = 20_000
"""How many flagged sessions a page lists at most."""


_GROUPS: tuple[Grouping, ...] = ("project", "model", "agent", "week")


class FindingLine(Struct, frozen=True):
    """A finding as a line for readers without scripts."""

    session: str
    category: str
    place: str
    steps: str
    reason: str


class FlaggedSessions:
    """Gathers the flagged sessions of a run as they are read, and no more of their texts than a page has `room` for."""

    def __init__(self, room: int = PAGE_BYTES) -> None:
        self._pieces = Pieces(room)
        self._flagged: list[WantedSession] = []

    def add(self, one: LabelledSession) -> None:
        """Take a session if any category was found in it."""
        flagged = tuple(verdict for verdict in one.verdicts if verdict.label == "yes")
        if not flagged:
            return
        session = one.session
        if not is_embedded(session.shown):
            raise InputError(
                f"the run has other text than Misstep's to show of {session.item!r}", "Classify into a new folder."
            )
        rank = rank_of(session, len(flagged))
        name = f"session-{len(self._flagged)}" if session.shown and self._pieces.wants(rank) else ""
        if name:
            self._pieces.add_embedded(name, rank, session.shown)
        self._flagged.append(WantedSession(rank, structs.replace(session, shown=""), flagged, name))

    def browser(self) -> Listed[FindingLine]:
        """Return the browser of all sessions that were taken."""
        stored = self._pieces.kept()
        wanted = sorted(self._flagged, key=lambda one: -one.rank)
        listed = wanted[:SESSIONS_LISTED]
        absent = sum(one.piece not in stored for one in listed)
        notes = []
        if len(listed) < len(wanted):
            notes.append(f"{len(listed):,} of {len(wanted):,} flagged sessions are listed.")
        if absent:
            which = "it names the command that shows it" if absent == 1 else "each names the command that shows it"
            notes.append(f"The steps of {counted_text(absent, 'session')} did not fit into the page: {which}.")
        lines, title = _lines(wanted)
        groups: dict[str, list[str]] = {by: [group_of(one.session, by) for one in listed] for by in _GROUPS}
        return Listed({"index": embedded(session_index(listed, stored, groups)), **stored}, lines, title, tuple(notes))


def _lines(wanted: Iterable[WantedSession]) -> tuple[tuple[FindingLine, ...], str]:
    verdicts = [(one.session, verdict) for one in wanted for verdict in one.found]
    lines = tuple(
        FindingLine(
            session.item,
            verdict.judge,
            place_of(session),
            steps_named(verdict.steps),
            shortened(verdict.rationale),
        )
        for session, verdict in verdicts[:LINES_SHOWN]
    )
    some = f", the first {LINES_SHOWN} of them" if len(verdicts) > LINES_SHOWN else ""
    return lines, f"{counted_text(len(verdicts), 'finding')}{some}"

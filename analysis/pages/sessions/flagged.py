"""All flagged sessions of a run as one index, which the page's browser filters, sorts and searches.

A list a field, in the order in which a reader wants to see them: those with most categories first, then the newest.
Categories, projects and the like are said once and then counted from 0. With made-up values:

    {"categories": ["infinite_loop"], "projects": ["/home/ann/shop"], "weeks": ["2026-W07"], …,
     "id": ["run-7"], "title": ["Sort the list."], "category": [[0]], "steps": [[[4, 6, 8]]], "project": [0],
     "file": ["runs.jsonl"], "line": [7], "view": ["misstep view runs.jsonl --id run-7"], "piece": ["session-0"], …}
"""

import shlex
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct, structs

from misstep.analysis.measures.session_rates import group_of
from misstep.analysis.pages.browser.embedding import embedded, is_embedded
from misstep.analysis.pages.browser.frame import LINES_SHOWN, Listed
from misstep.analysis.pages.browser.numbered import Numbered
from misstep.analysis.pages.browser.pieces import Pieces
from misstep.analysis.pages.browser.wanted import rank_of, shortened
from misstep.analysis.tables.wording import counted_text
from misstep.harness.errors import InputError
from misstep.harness.journal.classified import LabelledSession, PlacedVerdict
from misstep.harness.records.session import Session

PAGE_BYTES = 18_000_000
"""How many bytes all sessions in a page take at most, as they are in it."""

SESSIONS_LISTED = 20_000
"""How many flagged sessions a page lists at most."""


class FlaggedIndex(Struct, frozen=True):
    """The flagged sessions, a list a field; `piece` names the part of the page that holds a session's steps."""

    categories: list[str]
    projects: list[str]
    models: list[str]
    agents: list[str]
    weeks: list[str]
    id: list[str]
    title: list[str]
    category: list[list[int]]
    rationale: list[list[str]]
    steps: list[list[tuple[int, ...]]]
    project: list[int]
    model: list[int]
    agent: list[int]
    week: list[int]
    started: list[str]
    n_steps: list[int]
    parent: list[str]
    file: list[str]
    line: list[int | None]
    view: list[str]
    piece: list[str]


class FindingLine(Struct, frozen=True):
    """A finding as a line for readers without scripts."""

    session: str
    category: str
    place: str
    steps: str
    reason: str


class _Flagged(NamedTuple):
    rank: int
    session: Session
    verdicts: tuple[PlacedVerdict, ...]
    piece: str


class FlaggedSessions:
    """Gathers the flagged sessions of a run as they are read, and no more of their texts than a page has room for.

    - `room`: How many bytes their texts may take in the page.
    """

    def __init__(self, room: int = PAGE_BYTES) -> None:
        self._pieces = Pieces(room)
        self._flagged: list[_Flagged] = []

    def add(self, one: LabelledSession) -> None:
        """Take a session if any category was found in it."""
        found = tuple(verdict for verdict in one.verdicts if verdict.label == "yes")
        if not found:
            return
        session = one.session
        if not is_embedded(session.shown):
            raise InputError(
                f"the run has other text than Misstep's to show of {session.item!r}", "Classify into a new folder."
            )
        rank = rank_of(session, len(found))
        name = f"session-{len(self._flagged)}" if session.shown and self._pieces.wants(rank) else ""
        if name:
            self._pieces.add_embedded(name, rank, session.shown)
        self._flagged.append(_Flagged(rank, structs.replace(session, shown=""), found, name))

    def browser(self) -> Listed[FindingLine]:
        """Return the browser of all sessions that were taken."""
        kept = self._pieces.kept()
        wanted = sorted(self._flagged, key=lambda one: -one.rank)
        listed = wanted[:SESSIONS_LISTED]
        absent = sum(one.piece not in kept for one in listed)
        notes = []
        if len(listed) < len(wanted):
            notes.append(f"{len(listed):,} of {len(wanted):,} flagged sessions are listed.")
        if absent:
            which = "it names the command that shows it" if absent == 1 else "each names the command that shows it"
            notes.append(f"The steps of {counted_text(absent, 'session')} did not fit into the page: {which}.")
        lines, title = _lines(wanted)
        return Listed({"index": embedded(_index(listed, kept)), **kept}, lines, title, tuple(notes))


def _index(flagged: Iterable[_Flagged], kept: Mapping[str, str]) -> FlaggedIndex:
    rows = list(flagged)
    categories, projects, models, agents, weeks = (Numbered() for _ in range(5))
    sessions = [one.session for one in rows]
    return FlaggedIndex(
        category=[[categories.of(verdict.judge) for verdict in one.verdicts] for one in rows],
        project=[projects.of(group_of(one, "project")) for one in sessions],
        model=[models.of(group_of(one, "model")) for one in sessions],
        agent=[agents.of(group_of(one, "agent")) for one in sessions],
        week=[weeks.of(group_of(one, "week")) for one in sessions],
        categories=categories.words(),
        projects=projects.words(),
        models=models.words(),
        agents=agents.words(),
        weeks=weeks.words(),
        id=[one.item for one in sessions],
        title=[one.title for one in sessions],
        rationale=[[shortened(verdict.rationale) for verdict in one.verdicts] for one in rows],
        steps=[[verdict.steps for verdict in one.verdicts] for one in rows],
        started=[one.started or "" for one in sessions],
        n_steps=[one.n_steps for one in sessions],
        parent=[one.parent or "" for one in sessions],
        file=[one.file for one in sessions],
        line=[one.line for one in sessions],
        view=[shlex.join(["misstep", "view", one.file, "--id", one.item]) for one in sessions],
        piece=[one.piece if one.piece in kept else "" for one in rows],
    )


def _lines(wanted: Iterable[_Flagged]) -> tuple[tuple[FindingLine, ...], str]:
    found = [(one.session, verdict) for one in wanted for verdict in one.verdicts]
    lines = tuple(
        FindingLine(
            session.item,
            verdict.judge,
            session.file if session.line is None else f"{session.file}:{session.line}",
            ", ".join(map(str, verdict.steps[:8])) + (", …" if len(verdict.steps) > 8 else ""),
            shortened(verdict.rationale),
        )
        for session, verdict in found[:LINES_SHOWN]
    )
    some = f", the first {LINES_SHOWN} of them" if len(found) > LINES_SHOWN else ""
    return lines, f"{counted_text(len(found), 'finding')}{some}"

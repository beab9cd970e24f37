"""The page of a run of `classify`: rates by project and week, and every flagged session to look at.

The page of a run of `classify`: its findings, charts, and every flagged session to look at.

The index of flagged sessions has a list a field, those with most categories first, then the newest. Categories,
projects and the like are held once and then counted from 0. With made-up values:

    {"categories": ["infinite_loop"], "projects": ["/home/ann/shop"], "weeks": ["2026-W07"], …,
     "id": ["run-7"], "title": ["Sort the list."], "category": [[0]], "steps": [[[4, 6, 8]]], "project": [0],
     "file": ["runs.jsonl"], "line": [7], "view": ["misstep view runs.jsonl --id run-7"], "piece": ["session-0"], …}
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from misstep_analysis.pages.browser import (
    LINES_SHOWN,
    Listed,
    Pieces,
    WantedSession,
    browser_page,
    embedded,
    is_embedded,
    rank_of,
    session_index,
    shortened,
    steps_named,
)
from misstep_analysis.pages.page import Foot, figure_html, markup, table_html, table_id
from misstep_analysis.plots.drawing import can_draw
from misstep_analysis.plots.points import curves
from misstep_analysis.plots.rows import bars
from misstep_analysis.sessions.costs import cost_tables
from misstep_analysis.sessions.findings import Findings, judged_notes, left_out, looks, unread
from misstep_analysis.sessions.prevalence import (
    Labels,
    Prevalence,
    by_judges_too,
    co_occurrence_table,
    prevalence,
    prevalence_table,
)
from misstep_analysis.sessions.session_rates import (
    NOT_RECORDED,
    WEEKS_DRAWN,
    Grouping,
    group_of,
    headline,
    pooled_note,
    rates_by_each,
    session_rates_table,
    weeks_drawn,
)
from misstep_analysis.tables import Table, of_evidence
from misstep_analysis.tables.wording import counted_text, place_text
from misstep_harness.errors import InputError
from misstep_harness.journal.classified import LabelledSession
from misstep_harness.session import Session

PAGE_BYTES = 18_000_000
"""How many bytes all sessions in a page take at most, compressed."""

SESSIONS_LISTED = 20_000


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
        stored = self._pieces.contents()
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


PAPER = "classify"

_ALWAYS: tuple[Grouping, ...] = ("project", "week")


def sessions_page(
    findings: Findings, sessions: Iterable[LabelledSession], inputs: Sequence[str], arguments: Sequence[str]
) -> str:
    """Return the page."""
    flagged = FlaggedSessions()
    categories = tuple(findings.categories)
    total = prevalence(categories, _patterns(findings))
    rates = rates_by_each(categories, _with_labels(sessions, flagged))
    tables = [of_evidence(table, findings.evidence) for table in _tables(findings, rates)]
    browser = flagged.browser()
    finding = headline(total, rates["project"])
    failed = [f"The rule {one.category} failed on {counted_text(one.count, 'session')}." for one in findings.failed]
    if findings.unreadable:
        one = len(findings.unreadable) == 1
        failed.insert(0, f"{counted_text(len(findings.unreadable), 'session')} {'was' if one else 'were'} unreadable.")
    return browser_page(
        "sessions/page.html.jinja",
        title=f"Findings in {counted_text(findings.n, 'session')}",
        finding=finding,
        warnings=filter(None, (" ".join(failed), pooled_note(total, rates["project"]))),
        foot=Foot(shlex.join(["misstep", "classify", *arguments]), inputs=tuple(inputs)),
        figures=[markup(figure) for figure in _figures(tables, rates["week"])],
        contents=[(table_id(table), table.title) for table in tables],
        tables=[markup(table_html(table, with_finding=table.finding != finding)) for table in tables],
        browser=browser,
        notes=(*looks(findings), *unread(findings), *left_out(findings), _WORST),
    )


_WORST = (
    "The worst project is the one whose interval has the highest lower bound, so that a few sessions make no project "
    "the worst. The intervals treat the sessions of a project as independent draws."
)


def _with_labels(sessions: Iterable[LabelledSession], flagged: FlaggedSessions) -> Iterator[tuple[Session, Labels]]:
    """Return the sessions with their labels; the flagged ones are taken as they come."""
    for one in sessions:
        flagged.add(one)
        yield one.session, one.labels


def _patterns(findings: Findings) -> dict[Labels, int]:
    return {pattern.labels: pattern.count for pattern in findings.patterns}


def _tables(findings: Findings, rates: Mapping[Grouping, Mapping[str, Prevalence]]) -> Iterator[Table]:
    categories, patterns = tuple(findings.categories), _patterns(findings)
    source = counted_text(findings.n, "session")
    judged = judged_notes(findings)
    table = prevalence_table(categories, patterns, source=source, paper=PAPER, every=bool(judged))
    yield by_judges_too(table, judged) if judged else table
    yield from cost_tables(findings.costs, source)
    for by, groups in rates.items():
        if len(groups) > 1 or (by in _ALWAYS and set(groups) - {NOT_RECORDED}):
            yield session_rates_table(groups, by, source=source)
    yield co_occurrence_table(categories, patterns, source=source, paper=PAPER)
    if findings.sub_agents is not None:
        apart = {pattern.labels: pattern.count for pattern in findings.sub_agents.patterns}
        source = counted_text(findings.sub_agents.n, "run")
        table = prevalence_table(categories, apart, source=source, paper=PAPER, noun="sub-agent run")
        yield structs.replace(table, name="sub_agents", title="Runs of sub-agents, which are not sessions")


def _figures(tables: Sequence[Table], by_week: Mapping[str, Prevalence]) -> Iterator[str]:
    if not can_draw():
        return
    drawn = {table.name: table.drawn for table in tables}
    yield figure_html(
        bars(drawn["prevalence"], "Share of sessions by category"),
        "The share of the sessions that could be checked, with its 95% interval.",
    )
    places = weeks_drawn(by_week)
    if len(places) > 1 and drawn["rates_by_week"]:
        yield figure_html(
            curves(drawn["rates_by_week"], places, "Share of sessions by week", in_words=True),
            "The share of the sessions that began in a week and could be checked, with its 95% interval, over at most "
            f"the last {WEEKS_DRAWN} weeks.",
        )


def _lines(wanted: Iterable[WantedSession]) -> tuple[tuple[FindingLine, ...], str]:
    verdicts = [(one.session, verdict) for one in wanted for verdict in one.found]
    lines = tuple(
        FindingLine(
            session.item,
            verdict.judge,
            place_text(session.file, session.line),
            steps_named(verdict.steps),
            shortened(verdict.rationale),
        )
        for session, verdict in verdicts[:LINES_SHOWN]
    )
    some = f", the first {LINES_SHOWN} of them" if len(verdicts) > LINES_SHOWN else ""
    return lines, f"{counted_text(len(verdicts), 'finding')}{some}"

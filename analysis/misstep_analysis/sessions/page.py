"""The page of a run of `classify`: rates by project and week, and every flagged session to look at.

The page of a run of `classify`: its findings, charts, and every flagged session to look at.

The index of flagged sessions has a list a field, those with most categories first, then the newest. Categories,
projects and the like are held once and then counted from 0. With made-up values:

    {"categories": ["infinite_loop"], "projects": ["/home/ann/shop"], "weeks": ["2026-W07"], …,
     "id": ["run-7"], "title": ["Sort the list."], "category": [[0]], "steps": [[[4, 6, 8]]], "project": [0],
     "is_new": [true], "file": ["runs.jsonl"], "line": [7], "view": ["misstep view runs.jsonl --id run-7"],
     "piece": ["session-0"], …}
"""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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
from misstep_analysis.pages.page import Foot, figure_html, markup, table_html
from misstep_analysis.plots.drawing import can_draw
from misstep_analysis.plots.points import curves
from misstep_analysis.plots.rows import bars
from misstep_analysis.sessions.costs import cost_tables
from misstep_analysis.sessions.findings import Findings, checked_line, first_line, judged_notes, left_out, looks
from misstep_analysis.sessions.prevalence import (
    Labels,
    Prevalence,
    by_judges_too,
    co_occurrence_table,
    prevalence,
    prevalence_table,
)
from misstep_analysis.sessions.session_rates import (
    WEEKS_DRAWN,
    Grouping,
    group_of,
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
    """A finding as a line for readers without scripts; `is_new` since the last look."""

    session: str
    category: str
    place: str
    steps: str
    reason: str
    is_new: bool


class FlaggedSessions:
    """Gathers the flagged sessions of a run as they are read, and no more of their texts than a page has `room` for.

    `new` are the ids of the sessions that the last look did not have.
    """

    def __init__(self, room: int = PAGE_BYTES, new: Collection[str] = ()) -> None:
        self._new = frozenset(new)
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
        lines, title = _lines(wanted, self._new)
        groups: dict[str, list[str]] = {by: [group_of(one.session, by) for one in listed] for by in _GROUPS}
        index = session_index(listed, stored, groups, {"is_new": [one.session.item in self._new for one in listed]})
        return Listed({"index": embedded(index), **stored}, lines, title, tuple(notes))


PAPER = "classify"


def sessions_page(
    findings: Findings, sessions: Iterable[LabelledSession], inputs: Sequence[str], arguments: Sequence[str]
) -> str:
    """Return the page: the sessions first, then figures and costs, folded."""
    flagged = FlaggedSessions(new=findings.new.items if findings.new else ())
    categories = tuple(findings.categories)
    rates = rates_by_each(categories, _with_labels(sessions, flagged))
    tables = [of_evidence(table, findings.evidence) for table in _tables(findings, rates)]
    costs = cost_tables(findings.costs, counted_text(findings.n, "session"))
    finding = first_line(findings)
    failed = [f"The rule {one.category} failed on {counted_text(one.count, 'session')}." for one in findings.failed]
    if findings.unreadable:
        one = len(findings.unreadable) == 1
        failed.insert(0, f"{counted_text(len(findings.unreadable), 'session')} {'was' if one else 'were'} unreadable.")
    return browser_page(
        "sessions/page.html.jinja",
        title="Findings",
        finding=finding,
        warnings=filter(None, (" ".join(failed),)),
        checked=checked_line(findings),
        pooled=pooled_note(prevalence(categories, _patterns(findings)), rates["project"]),
        foot=Foot(shlex.join(["misstep", "classify", *arguments]), inputs=tuple(inputs)),
        figures=[markup(figure) for figure in _figures(tables, rates["week"])],
        tables=[markup(table_html(_not_drawn(table), with_finding=table.finding != finding)) for table in tables],
        costs=[markup(table_html(of_evidence(table, findings.evidence))) for table in costs],
        browser=flagged.browser(),
        notes=(*looks(findings), *left_out(findings), _INTERVALS),
    )


_INTERVALS = "Intervals hold 95% and take sessions as independent draws. The worst group has the highest lower bound."


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
    table = prevalence_table(
        categories, patterns, source=source, paper=PAPER, every=bool(judged), evidence=findings.evidence
    )
    yield by_judges_too(table, judged) if judged else table
    for by, groups in rates.items():
        if len(groups) > 1:  # one group has the figures of all sessions
            yield session_rates_table(groups, by, source=source)
    yield co_occurrence_table(categories, patterns, source=source, paper=PAPER)
    if findings.sub_agents is not None:
        apart = {pattern.labels: pattern.count for pattern in findings.sub_agents.patterns}
        source = counted_text(findings.sub_agents.n, "run")
        table = prevalence_table(categories, apart, source=source, paper=PAPER, noun="sub-agent run")
        yield structs.replace(table, name="sub_agents", title="Runs of sub-agents, which are not sessions")


def _not_drawn(table: Table) -> Table:
    """Return the table of all sessions without the rows that bars show."""
    if table.name != "prevalence" or not can_draw():
        return table
    return structs.replace(table, rows=tuple(row for row in table.rows if row not in table.drawn))


def _figures(tables: Sequence[Table], by_week: Mapping[str, Prevalence]) -> Iterator[str]:
    if not can_draw():
        return
    drawn = {table.name: table.drawn for table in tables}
    yield figure_html(
        bars(drawn["prevalence"], "Share of sessions by category"),
        "The share of the sessions that could be checked, with its 95% interval. A bar of fewer than 10 is pale.",
    )
    places = weeks_drawn(by_week)
    if len(places) > 1 and drawn["rates_by_week"]:
        yield figure_html(
            curves(drawn["rates_by_week"], places, "Share of sessions by week", in_words=True),
            "The share of the sessions that began in a week and could be checked, with its 95% interval, over at most "
            f"the last {WEEKS_DRAWN} weeks.",
        )


def _lines(wanted: Iterable[WantedSession], new: Collection[str]) -> tuple[tuple[FindingLine, ...], str]:
    verdicts = [(one.session, verdict) for one in wanted for verdict in one.found]
    lines = tuple(
        FindingLine(
            session.item,
            verdict.judge,
            place_text(session.file, session.line),
            steps_named(verdict.steps),
            shortened(verdict.rationale),
            session.item in new,
        )
        for session, verdict in verdicts[:LINES_SHOWN]
    )
    some = f", the first {LINES_SHOWN} of them" if len(verdicts) > LINES_SHOWN else ""
    return lines, f"{counted_text(len(verdicts), 'finding')}{some}"

"""The page of a run of `classify`: its findings, charts, and every flagged session to look at."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import structs

from misstep.analysis.measures.prevalence import Labels, Prevalence, co_occurrence_table, prevalence, prevalence_table
from misstep.analysis.measures.session_rates import (
    NOT_RECORDED,
    WEEKS_DRAWN,
    Grouping,
    headline,
    pooled_note,
    rates_by_each,
    session_rates_table,
    weeks_drawn,
)
from misstep.analysis.pages.browser.frame import browser_page
from misstep.analysis.pages.findings import Findings, left_out
from misstep.analysis.pages.foot import Foot
from misstep.analysis.pages.notebooks.display import figure_html
from misstep.analysis.pages.rendering import markup
from misstep.analysis.pages.sessions.flagged import FlaggedSessions
from misstep.analysis.pages.table_html import table_html, table_id
from misstep.analysis.plots import bars, curves
from misstep.analysis.tables import Table, of_evidence
from misstep.analysis.tables.wording import counted_text
from misstep.harness.journal.classified import LabelledSession
from misstep.harness.records.session import Session

PAPER = "classify"

_ALWAYS: tuple[Grouping, ...] = ("project", "week")


def sessions_page(
    findings: Findings, sessions: Iterable[LabelledSession], inputs: Sequence[str], arguments: Sequence[str]
) -> str:
    """Return the page."""
    flagged = FlaggedSessions()
    categories = tuple(findings.categories)
    total = prevalence(categories, _patterns(findings))
    rates = rates_by_each(categories, _taken(sessions, flagged))
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
        notes=(*left_out(findings), _WORST),
    )


_WORST = (
    "The worst project is the one whose interval has the highest lower bound, so that a few sessions make no project "
    "the worst. The intervals treat the sessions of a project as independent draws."
)


def _taken(sessions: Iterable[LabelledSession], flagged: FlaggedSessions) -> Iterator[tuple[Session, Labels]]:
    """Return the sessions with their labels; the flagged ones are taken as they come."""
    for one in sessions:
        flagged.add(one)
        yield one.session, one.labels


def _patterns(findings: Findings) -> dict[Labels, int]:
    return {pattern.labels: pattern.count for pattern in findings.patterns}


def _tables(findings: Findings, rates: Mapping[Grouping, Mapping[str, Prevalence]]) -> Iterator[Table]:
    categories, patterns = tuple(findings.categories), _patterns(findings)
    source = counted_text(findings.n, "session")
    yield prevalence_table(categories, patterns, source=source, paper=PAPER)
    for by, groups in rates.items():
        if len(groups) > 1 or (by in _ALWAYS and set(groups) - {NOT_RECORDED}):
            yield session_rates_table(groups, by, source=source, paper=PAPER)
    yield co_occurrence_table(categories, patterns, source=source, paper=PAPER)
    if findings.sub_agents is not None:
        apart = {pattern.labels: pattern.count for pattern in findings.sub_agents.patterns}
        source = counted_text(findings.sub_agents.n, "run")
        table = prevalence_table(categories, apart, source=source, paper=PAPER, noun="sub-agent run")
        yield structs.replace(table, name="sub_agents", title="Runs of sub-agents, which are not sessions")


def _figures(tables: Sequence[Table], by_week: Mapping[str, Prevalence]) -> Iterator[str]:
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

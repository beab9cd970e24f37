"""The page of many runs: how many show misbehaviour, and an index that its browser filters, sorts and searches.

A list a field, those with most categories first, then the newest. Categories, models and the like are held once and
then counted from 0. With made-up values:

    {"categories": ["infinite_loop"], "models": ["small"], "outcomes": ["failed", "passed"], …,
     "id": ["run-7"], "title": ["Sort the list."], "category": [[0]], "steps": [[[4, 6, 8]]], "outcome": [0],
     "seconds": [71.5], "tokens": [null], "file": ["runs.jsonl"], "line": [7],
     "view": ["misstep view runs.jsonl --id run-7"], "piece": ["run-0"], …}
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from misstep_analysis.pages.browser import (
    Listed,
    Pieces,
    WantedSession,
    browser_page,
    embedded,
    gist,
    rank_of,
    session_index,
    shortened,
    show_session,
    steps_named,
    view_of,
)
from misstep_analysis.pages.page import Foot, markup, table_html
from misstep_analysis.pages.trajectory import RunTotals, run_totals
from misstep_analysis.sessions.prevalence import Labels, counts_sentence, prevalence, prevalence_table
from misstep_analysis.sessions.session_rates import group_of
from misstep_analysis.tables.wording import count_text, counted_text, in_words, number_text, place_text
from misstep_harness.session import Session, session_of
from misstep_harness.trajectory import Evidence, Trajectory, Unreadable, together
from misstep_harness.verdict import Verdict

PAGE_BYTES = 32_000_000
"""How many bytes a page of runs has at most; the page says if it shows less of longer texts or of more runs."""

STEPS_BYTES = 18_000_000
"""How many bytes of it the steps of all runs take at most, compressed."""

INDEX_BYTES = 4_000_000
"""How many bytes of it the index takes at most: of more runs, fewer are listed."""

LINES_SHOWN = 1_000
_LINES_BYTES = 1_000_000
_RUNS_LISTED = 40_000
_EXCERPTS = 2
_EXCERPT = 240
_NAME = 120


class ListedRun(Struct, frozen=True):
    """A run as the index takes it: its session with its steps as the page opens them, and its verdicts."""

    session: Session
    format: str
    outcome: str
    totals: RunTotals
    verdicts: tuple[Verdict, ...]
    excerpts: dict[int, str]


class FoundLine(Struct, frozen=True):
    """A category found in a run, for readers without scripts: why, and the words of its first evidence steps."""

    category: str
    steps: str
    reason: str
    excerpts: tuple[str, ...]


class RunLine(Struct, frozen=True):
    """A run as a line for readers without scripts; `anchor` names its findings on the page."""

    anchor: str
    id: str
    title: str
    place: str
    cells: tuple[str, ...]
    found: tuple[FoundLine, ...]
    view: str


class _ListedRun(WantedSession, frozen=True):
    run: ListedRun


def listed_run(run: Trajectory, file: str, line: int | None, verdicts: Sequence[Verdict]) -> ListedRun:
    """Return a run as the index takes it, made while the run is in memory."""
    flagged = [verdict for verdict in verdicts if verdict.label == "yes"]
    evidence = {step for verdict in flagged for step in verdict.steps}
    quoted = {step for verdict in flagged for step in verdict.steps[:_EXCERPTS] if 0 <= step < len(run.steps)}
    return ListedRun(
        session_of(run, file, line, show_session(run, evidence)),
        run.source.format,
        run.outcome.status,
        run_totals(run),
        tuple(verdicts),
        {number: gist(run.steps[number], _EXCERPT) for number in sorted(quoted)},
    )


class ListedRuns:
    """Gathers runs as they are read, and no more of their texts than a page has room for, in bytes."""

    def __init__(self, steps_bytes: int = STEPS_BYTES, index_bytes: int = INDEX_BYTES) -> None:
        self.patterns: Counter[Labels] = Counter()
        self.sub_agents = 0
        self.n = 0
        self.evidence: Evidence = "real"
        self._index_bytes = index_bytes
        self._pieces = Pieces(steps_bytes)
        self._runs: list[_ListedRun] = []

    def add(self, run: ListedRun) -> None:
        """Take a run. One of a sub-agent is listed and not counted."""
        if run.session.parent is None:
            self.patterns[tuple(verdict.label for verdict in run.verdicts)] += 1
        else:
            self.sub_agents += 1
        self.evidence = together((self.evidence, run.session.evidence))
        flagged = tuple(verdict for verdict in run.verdicts if verdict.label == "yes")
        rank = rank_of(run.session, len(flagged))
        name = f"run-{self.n}" if self._pieces.wants(rank) else ""
        if name:
            self._pieces.add_embedded(name, rank, run.session.shown)
        self.n += 1
        session = structs.replace(run.session, shown="")
        self._runs.append(_ListedRun(rank, session, flagged, name, structs.replace(run, session=session)))
        if len(self._runs) > 2 * _RUNS_LISTED:
            self._runs = self._most_wanted()[:_RUNS_LISTED]

    def browser(self) -> Listed[RunLine]:
        """Return the browser of all runs that were taken."""
        stored = self._pieces.contents()
        listed = self._most_wanted()[:_RUNS_LISTED]
        index = embedded(_index(listed, stored))
        while len(index.encode()) > self._index_bytes and listed:
            listed = listed[: len(listed) * 3 // 4]
            index = embedded(_index(listed, stored))
        names = {one.piece for one in listed}
        lines = tuple(_lines(one.run for one in listed[:LINES_SHOWN]))
        some = f", the first {len(lines):,} of {self.n:,}" if len(lines) < self.n else ""
        data = {"index": index, **{name: text for name, text in stored.items() if name in names}}
        return Listed(data, lines, f"{counted_text(len(lines), 'run')}{some}", tuple(self._notes(listed, stored)))

    def _most_wanted(self) -> list[_ListedRun]:
        return sorted(self._runs, key=lambda one: -one.rank)

    def _notes(self, listed: Sequence[_ListedRun], stored: Mapping[str, str]) -> Iterable[str]:
        if len(listed) < self.n:
            yield f"{len(listed):,} of {self.n:,} runs are listed: those with most findings, then the newest."
        if absent := sum(one.piece not in stored for one in listed):
            yield (
                f"The steps of {counted_text(absent, 'run')} did not fit into the page; the command beside a run that "
                "is opened shows all of it."
            )


def _index(listed: Sequence[_ListedRun], pieces: Mapping[str, str]) -> dict[str, Any]:
    runs = [one.run for one in listed]
    numbered = {
        "model": [group_of(one.session, "model") for one in listed],
        "agent": [group_of(one.session, "agent") for one in listed],
        "outcome": [run.outcome for run in runs],
        "format": [run.format for run in runs],
    }
    figures = {"seconds": [run.totals.duration for run in runs], "tokens": [run.totals.tokens for run in runs]}
    return session_index(listed, pieces, numbered, figures)


def _lines(runs: Iterable[ListedRun]) -> Iterator[RunLine]:
    room = _LINES_BYTES
    for number, run in enumerate(runs):
        line = _line(number, run)
        room -= len(msgspec.json.encode(line))
        if room < 0:
            return
        yield line


def _line(number: int, run: ListedRun) -> RunLine:
    session, totals = run.session, run.totals
    return RunLine(
        anchor=f"found-{number}",
        id=shortened(session.item, _NAME),
        title=session.title,
        place=f"{shortened(place_text(session.file, session.line), _NAME)}, {run.format}",
        cells=(
            shortened(session.agent or "", _NAME),
            shortened(session.model or "", _NAME),
            run.outcome,
            count_text(totals.steps),
            "" if totals.duration is None else number_text(totals.duration, "seconds"),
            count_text(totals.tokens),
        ),
        found=tuple(
            FoundLine(
                in_words(verdict.judge),
                steps_named(verdict.steps),
                shortened(verdict.rationale, _EXCERPT),
                tuple(f"{step}: {run.excerpts[step]}" for step in verdict.steps[:_EXCERPTS] if step in run.excerpts),
            )
            for verdict in run.verdicts
            if verdict.label == "yes"
        ),
        view=view_of(session) if len(session.item) + len(session.file) < 2 * _NAME else "",
    )


_UNREADABLE_NAMED = 10


def runs_page(
    title: str, categories: Sequence[str], runs: ListedRuns, unreadable: Sequence[Unreadable], foot: Foot
) -> str:
    """Return the page."""
    browser = runs.browser()
    source = counted_text(runs.n, "run")
    table = prevalence_table(categories, runs.patterns, source=source, paper="view", noun="run", evidence=runs.evidence)
    return browser_page(
        "runs/index.html.jinja",
        title=f"Runs in {title}",
        finding=counts_sentence(prevalence(categories, runs.patterns), "run"),
        warnings=tuple(_warnings(unreadable)),
        foot=foot,
        browser=browser,
        table=markup(table_html(table, with_finding=False)),
        notes=tuple(_notes(runs)),
    )


def _warnings(unreadable: Sequence[Unreadable]) -> list[str]:
    if not unreadable:
        return []
    places = [place_text(one.file, one.line) for one in unreadable[:_UNREADABLE_NAMED]]
    more = len(unreadable) - len(places)
    named = ", ".join(places) + (f" and {more:,} more" if more else "")
    return [
        f"{counted_text(len(unreadable), 'run')} could not be read and {'is' if len(unreadable) == 1 else 'are'} "
        f"not counted: {named}."
    ]


def _notes(runs: ListedRuns) -> list[str]:
    notes = [
        "Rules find the misbehaviour, without a model. The interval is of sampling alone and takes the runs as "
        "independent draws.",
        "The page shortens long texts and marks the cuts; the search looks into what is in the page. "
        "`misstep view FILE --id ID` shows one run whole.",
    ]
    if runs.sub_agents:
        is_one = runs.sub_agents == 1
        notes.append(
            f"{counted_text(runs.sub_agents, 'run')} of {'a sub-agent is' if is_one else 'sub-agents are'} listed, and "
            "not counted in the figures."
        )
    return notes

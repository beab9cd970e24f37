"""What became of patches in review, as a funnel: generated, published, reviewed, landed (table V).

A review log is a CSV with a row an event:

    attempt,event,when,by,comment
    gcd/search/react+tests/search_replace/0,published,2026-03-01T10:00:00Z,ann,
    gcd/search/react+tests/search_replace/0,rejected,2026-03-02T09:00:00Z,ben,the test was already fixed

An attempt counts once an event. One that was accepted, rejected or sent back was reviewed; what was reviewed or landed
was published, and what was published was generated, also where the log does not say so.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from analysis.stats.estimate import Estimate
from analysis.stats.proportions import wilson
from analysis.tables import Evidence, Row, Table, estimate_row, made_by_this
from analysis.tables.wording import with_interval
from harness.errors import InputError

EVENTS = ("generated", "published", "reviewed", "accepted", "changes_requested", "rejected", "landed")
COLUMNS = ("attempt", "event", "when", "by", "comment")

_FORM = f"A review log has the columns {', '.join(COLUMNS)}, and one row an event: {', '.join(EVENTS)}."
_ANSWERS = ("accepted", "changes_requested", "rejected")
_SOURCE = "review log"

RATES = (
    ("published", "generated"),
    ("reviewed", "published"),
    ("accepted", "reviewed"),
    ("landed", "generated"),
    ("landed", "published"),
    ("landed", "reviewed"),
)
"""What is a share of what: both bases of a rate that papers print without saying which."""


class ReviewEvent(Struct, frozen=True):
    """One row of a review log."""

    attempt: str
    event: str
    when: str = ""
    by: str = ""
    comment: str = ""


class ReviewFunnel(Struct, frozen=True):
    """Which attempts came to which event, what follows from others added."""

    reached: dict[str, frozenset[str]]

    def count(self, event: str) -> int:
        """How many attempts came to an event."""
        return len(self.reached[event])

    def rate(self, event: str, of: str) -> Estimate:
        """How many of the attempts that came to `of` came to `event` as well, with Wilson's interval."""
        return wilson(len(self.reached[event] & self.reached[of]), self.count(of))


def read_reviews(file: Path) -> Iterator[ReviewEvent]:
    """The events of a review log, in order.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, or an event is none of `EVENTS`; names file and line.
    """
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.DictReader(stream)
            missing = [name for name in COLUMNS[:2] if name not in (rows.fieldnames or ())]
            if missing:
                raise InputError(f"there is no column {missing[0]!r}", _FORM, file=file, line=1)
            for row in rows:
                event = (row["event"] or "").strip()
                if event not in EVENTS:
                    raise InputError(f"there is no event {event!r}", _FORM, file=file, line=rows.line_num)
                if not row["attempt"]:
                    raise InputError("an event of no attempt", _FORM, file=file, line=rows.line_num)
                yield ReviewEvent(row["attempt"], event, *((row.get(name) or "") for name in COLUMNS[2:]))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read: {error}", _FORM, file=file) from error


def review_funnel(events: Iterable[ReviewEvent], generated: Iterable[str] = ()) -> ReviewFunnel:
    """The funnel of a review log.

    Parameters
    ----------
    events
        The log.
    generated
        Attempts with a patch that the log need not name, such as those of the runs that it is about.
    """
    reached: dict[str, set[str]] = {event: set() for event in EVENTS}
    reached["generated"].update(generated)
    for one in events:
        reached[one.event].add(one.attempt)
    reached["reviewed"].update(*(reached[event] for event in _ANSWERS))
    reached["published"] |= reached["reviewed"] | reached["landed"]
    reached["generated"] |= reached["published"]
    return ReviewFunnel({event: frozenset(attempts) for event, attempts in reached.items()})


def review_document(funnel: ReviewFunnel) -> dict[str, Any]:
    """The counts and rates for scripts: `counts` by event, `rates` as a list with what each is a share of."""
    return {
        "counts": {event: funnel.count(event) for event in EVENTS},
        "rates": [{"event": event, "of": of, "rate": funnel.rate(event, of)} for event, of in RATES],
    }


@made_by_this
def review_table(funnel: ReviewFunnel, source: str = _SOURCE, evidence: Evidence = "real") -> Table:
    """From generated to landed: counts, and rates with the base of each."""
    unreviewed = len(funnel.reached["landed"] - funnel.reached["reviewed"])
    return Table(
        name="reviews",
        paper="repair",
        title="From generated to landed",
        finding=review_finding(funnel),
        rows=tuple(review_rows(funnel, source, evidence)),
        notes=(
            "An attempt counts once an event; of several answers to one patch each counts.",
            "Accepted, rejected and sent back imply reviewed; reviewed and landed imply published.",
            *([f"Landed without a review on record: {unreviewed:,}."] if unreviewed else []),
        ),
        drawn=tuple(funnel_rows(funnel, source, evidence)),
    )


def review_finding(funnel: ReviewFunnel) -> str:
    """What share landed, on both bases, in one sentence."""
    if not funnel.count("published"):
        return "No patch was published."
    of_published, of_reviewed = funnel.rate("landed", "published"), funnel.rate("landed", "reviewed")
    return (
        f"{with_interval(of_published, 'share')} of {funnel.count('published'):,} patches published landed"
        f", {with_interval(of_reviewed, 'share')} of those reviewed."
    )


def review_rows(funnel: ReviewFunnel, source: str, evidence: Evidence) -> list[Row]:
    """A row an event, and a row a rate."""
    counts = [
        Row(
            event.replace("_", " "),
            funnel.count(event),
            evidence=evidence,
            source=source,
            unit="count",
            group="Patches",
        )
        for event in EVENTS
    ]
    return counts + [
        estimate_row(f"{event} of {of}", funnel.rate(event, of), "share", "Rates", source, evidence)
        for event, of in RATES
    ]


def funnel_rows(funnel: ReviewFunnel, source: str, evidence: Evidence) -> list[Row]:
    """The steps of a figure: each a part of the one before it."""
    steps = [funnel.reached[event] for event in ("generated", "published", "reviewed")]
    steps.append(funnel.reached["landed"] & funnel.reached["reviewed"])
    names = ("generated", "published", "reviewed", "landed after a review")
    return [
        Row(name, len(step), evidence=evidence, source=source, unit="count")
        for name, step in zip(names, steps, strict=True)
    ]

"""What became of patches in review, as a funnel: generated, published, reviewed, landed (table V).

An attempt counts once an event. One that was accepted, rejected or sent back was reviewed; what was reviewed or landed
was published, and what was published was generated, also where the log does not say so.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Evidence, Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import with_interval
from misstep.harness.records.repair_reviews import EVENTS, ReviewEvent

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


class ReviewFunnel(Struct, frozen=True):
    """Which attempts came to which event, what follows from others added."""

    reached: dict[str, frozenset[str]]

    def count(self, event: str) -> int:
        """Return how many attempts came to an event."""
        return len(self.reached[event])

    def rate(self, event: str, of: str) -> Estimate:
        """Return how many of the attempts that came to `of` came to `event` as well, with Wilson's interval."""
        return wilson(len(self.reached[event] & self.reached[of]), self.count(of))


def review_funnel(events: Iterable[ReviewEvent], generated: Iterable[str] = ()) -> ReviewFunnel:
    """Return the funnel of a review log."""
    reached: dict[str, set[str]] = {event: set() for event in EVENTS}
    reached["generated"].update(generated)
    for one in events:
        reached[one.event].add(one.attempt)
    reached["reviewed"].update(*(reached[event] for event in _ANSWERS))
    reached["published"] |= reached["reviewed"] | reached["landed"]
    reached["generated"] |= reached["published"]
    return ReviewFunnel({event: frozenset(attempts) for event, attempts in reached.items()})


def review_document(funnel: ReviewFunnel) -> dict[str, Any]:
    """Return the counts and rates for scripts: `counts` by event, `rates` as a list with what each is a share of."""
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
    """Return what share landed, on both bases, in one sentence."""
    if not funnel.count("published"):
        return "No patch was published."
    of_published, of_reviewed = funnel.rate("landed", "published"), funnel.rate("landed", "reviewed")
    return (
        f"{with_interval(of_published, 'share')} of {funnel.count('published'):,} patches published landed"
        f", {with_interval(of_reviewed, 'share')} of those reviewed."
    )


def review_rows(funnel: ReviewFunnel, source: str, evidence: Evidence) -> list[Row]:
    """Return a row an event, and a row a rate."""
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
    """Return the steps of a figure: each a part of the one before it."""
    steps = [funnel.reached[event] for event in ("generated", "published", "reviewed")]
    steps.append(funnel.reached["landed"] & funnel.reached["reviewed"])
    names = ("generated", "published", "reviewed", "landed after a review")
    return [
        Row(name, len(step), evidence=evidence, source=source, unit="count")
        for name, step in zip(names, steps, strict=True)
    ]

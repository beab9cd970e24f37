"""Count what became of patches in review (table V), at each share of a rollout.

An attempt counts once an event. One that was accepted, rejected or sent back was reviewed; what was reviewed or landed
was published, and what was published was generated, also where the log does not say so.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import in_words, with_interval
from misstep_harness.repair.records.repair_attempt import EVENTS, ReviewEvent

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

_REVIEWS = TableHead(
    "reviews",
    "repair",
    "From generated to landed",
    (
        "An attempt counts once an event; of several answers to one patch each counts.",
        "Accepted, rejected and sent back imply reviewed; reviewed and landed imply published.",
    ),
)


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
def review_table(funnel: ReviewFunnel) -> Table:
    """Return counts from generated to landed, and rates with the base of each."""
    unreviewed = len(funnel.reached["landed"] - funnel.reached["reviewed"])
    notes = [f"Landed without a review on record: {unreviewed:,}."] if unreviewed else []
    return _REVIEWS.table(review_finding(funnel), _rows(funnel), notes, drawn=_steps(funnel))


def review_finding(funnel: ReviewFunnel) -> str:
    """Return what share landed, on both bases, in one sentence."""
    if not funnel.count("published"):
        return "No patch was published."
    of_published, of_reviewed = (with_interval(funnel.rate("landed", of), "share") for of in ("published", "reviewed"))
    return f"{of_published} of {funnel.count('published'):,} patches published landed, {of_reviewed} of those reviewed."


def _rows(funnel: ReviewFunnel, group: str = "") -> list[Row]:
    counts = {in_words(event): funnel.count(event) for event in EVENTS}
    rates = {f"{event} of {of}": funnel.rate(event, of) for event, of in RATES}
    return [
        *rows_in("count", counts, group or "Patches", _SOURCE),
        *rows_in("share", rates, group or "Rates", _SOURCE),
    ]


def _steps(funnel: ReviewFunnel) -> list[Row]:
    """Return the rows of a figure: each a part of the one before it."""
    steps = {event: funnel.count(event) for event in ("generated", "published", "reviewed")}
    steps["landed after a review"] = len(funnel.reached["landed"] & funnel.reached["reviewed"])
    return rows_in("count", steps, "", _SOURCE)

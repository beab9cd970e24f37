"""Count what became of patches in review (table V), at each share of a rollout.

An attempt counts once an event. One that was accepted, rejected or sent back was reviewed; what was reviewed or landed
was published, and what was published was generated, also where the log does not say so.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from misstep.analysis.measures.repair.attempts import counted
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Row, Table, TableHead, made_by_this, rows_in
from misstep.analysis.tables.wording import in_words, with_interval
from misstep.harness.records.repair_attempt import EVENTS, SHARES, RepairAttempt, ReviewEvent, in_share

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
_ROLLOUT = TableHead(
    "rollout",
    "repair",
    "Patches in review at each share of a rollout",
    (
        "A share holds every smaller one: a case has its place by a hash of its name and the seed.",
        "A patch outside of a share counts at the larger ones alone, also if somebody reviewed it early.",
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


class RolloutStage(Struct, frozen=True):
    """One share of the cases, how many these are, and the funnel of their patches (sections 7.3, 9)."""

    share: float
    cases: int
    funnel: ReviewFunnel

    @property
    def name(self) -> str:
        """Return the share as a percentage."""
        return f"{100 * self.share:.4g}%"


def rollout_stages(
    attempts: Iterable[RepairAttempt], events: Iterable[ReviewEvent], shares: Sequence[float] = SHARES, seed: int = 0
) -> list[RolloutStage]:
    """Return the funnel at each share, from the smallest; an attempt at a case that does not hold counts nowhere."""
    tries, logged, stages = counted(attempts), list(events), []
    for share in sorted(shares):
        inside = {attempt.id: attempt for attempt in tries if in_share(attempt.case, share, seed)}
        patched = (name for name, attempt in inside.items() if attempt.patched)
        funnel = review_funnel((event for event in logged if event.attempt in inside), patched)
        stages.append(RolloutStage(share, len({attempt.case for attempt in inside.values()}), funnel))
    return stages


def rollout_document(stages: Sequence[RolloutStage]) -> dict[str, Any]:
    """Return the same for scripts: a list with each share, its number of cases, and counts and rates as of a review."""
    return {"stages": [{"share": one.share, "cases": one.cases, **review_document(one.funnel)} for one in stages]}


@made_by_this
def rollout_table(stages: Sequence[RolloutStage]) -> Table:
    """Return the funnel at each share of a rollout, one below the other."""
    rows: list[Row] = []
    sentences = []
    for one in stages:
        group, landed = f"{one.name} of the cases", one.funnel.rate("landed", "published")
        rows += rows_in("count", {"cases": one.cases}, group, _SOURCE)
        rows += _rows(one.funnel, group)
        share = f"{with_interval(landed, 'share')} of {landed.n:,} published landed" if landed.n else ""
        sentences.append(f"At {one.name} {share or 'no patch was published'}.")
    return _ROLLOUT.table(" ".join(sentences), rows)

"""What became of patches at each share of a rollout: the funnel of the cases that it has come to (sections 7.3, 9)."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

from misstep.analysis.measures.repair.attempts import counted
from misstep.analysis.measures.repair.reviews import ReviewFunnel, review_document, review_funnel, review_rows
from misstep.analysis.tables import Row, Table, made_by_this
from misstep.analysis.tables.wording import with_interval
from misstep.harness.records.repair_attempt import RepairAttempt
from misstep.harness.records.repair_reviews import SHARES, ReviewEvent, in_share

_SOURCE = "review log"


class RolloutStage(Struct, frozen=True):
    """One share of the cases, how many these are, and the funnel of their patches."""

    share: float
    cases: int
    funnel: ReviewFunnel

    @property
    def name(self) -> str:
        """Return the share as a percentage."""
        return f"{100 * self.share:.4g}%"


def rollout_stages(
    attempts: Iterable[RepairAttempt],
    events: Iterable[ReviewEvent],
    shares: Sequence[float] = SHARES,
    seed: int = 0,
) -> list[RolloutStage]:
    """Return the funnel at each share, from the smallest; an attempt at a case that does not hold counts nowhere."""
    made, logged = counted(attempts), list(events)
    found = []
    for share in sorted(shares):
        inside = [attempt for attempt in made if in_share(attempt.case, share, seed)]
        names = {attempt.id for attempt in inside}
        funnel = review_funnel((event for event in logged if event.attempt in names), _patched(inside))
        found.append(RolloutStage(share, len({attempt.case for attempt in inside}), funnel))
    return found


def _patched(attempts: Iterable[RepairAttempt]) -> list[str]:
    return [attempt.id for attempt in attempts if attempt.patched]


def rollout_document(stages: Sequence[RolloutStage]) -> dict[str, Any]:
    """Return the same for scripts: a list with each share, its number of cases, and counts and rates as of a review."""
    return {"stages": [{"share": one.share, "cases": one.cases, **review_document(one.funnel)} for one in stages]}


@made_by_this
def rollout_table(stages: Sequence[RolloutStage]) -> Table:
    """The funnel at each share of a rollout, one below the other."""
    rows = [row for one in stages for row in _rows(one)]
    return Table(
        name="rollout",
        paper="repair",
        title="Patches in review at each share of a rollout",
        finding=" ".join(map(_sentence, stages)),
        rows=tuple(rows),
        notes=(
            "A share holds every smaller one: a case has its place by a hash of its name and the seed.",
            "A patch outside of a share counts at the larger ones alone, also if somebody reviewed it early.",
        ),
    )


def _rows(one: RolloutStage) -> list[Row]:
    cases = Row("cases", one.cases, source=_SOURCE, unit="count", group=f"{one.name} of the cases")
    of_funnel = review_rows(one.funnel, _SOURCE, "real")
    return [cases, *(structs.replace(row, group=f"{one.name} of the cases") for row in of_funnel)]


def _sentence(one: RolloutStage) -> str:
    landed = one.funnel.rate("landed", "published")
    if not landed.n:
        return f"At {one.name} no patch was published."
    return f"At {one.name} {with_interval(landed, 'share')} of {landed.n:,} published landed."

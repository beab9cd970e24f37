"""Patches that pass their tests, apart by what reviewers decided, and what a judge of patches said of either (6.2).

Tests call all of them right: only people tell those that should not land, so that a judge is of use here.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from misstep.analysis.measures.repair.attempts import counted
from misstep.analysis.measures.repair.reviews import ReviewFunnel
from misstep.analysis.stats.diagnostic import Confusion, precision, recall
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import with_interval
from misstep.harness.records.repair_attempt import PATCH_JUDGE, RepairAttempt

_SOURCE = "review log"
_MOST_NAMED = 10


class ReviewedPatches(Struct, frozen=True):
    """The patches with which the tests pass and on which reviewers decided.

    `judge` is the judge against the reviewers, unacceptable its positive class, over the patches that it answered.
    """

    accepted: tuple[str, ...]
    rejected: tuple[str, ...]
    judge: Confusion

    @property
    def share_rejected(self) -> Estimate:
        """Return how many of them reviewers rejected, with Wilson's interval."""
        return wilson(len(self.rejected), len(self.accepted) + len(self.rejected))


def reviewed_patches(attempts: Iterable[RepairAttempt], funnel: ReviewFunnel) -> ReviewedPatches:
    """Return the patches that pass their tests by what reviewers decided; a rejection ends a review."""
    refused = funnel.reached["rejected"]
    taken = (funnel.reached["accepted"] | funnel.reached["landed"]) - refused
    decided = [attempt for attempt in counted(attempts) if attempt.solved and attempt.id in refused | taken]
    cells = dict.fromkeys(((True, True), (True, False), (False, True), (False, False)), 0)
    for attempt in decided:
        said = next((signal.passed for signal in attempt.signals if signal.validator == PATCH_JUDGE), None)
        if said is not None:
            cells[attempt.id in refused, not said] += 1
    return ReviewedPatches(
        tuple(attempt.id for attempt in decided if attempt.id in taken),
        tuple(attempt.id for attempt in decided if attempt.id in refused),
        Confusion(tp=cells[True, True], fp=cells[False, True], fn=cells[True, False], tn=cells[False, False]),
    )


def reviewed_document(found: ReviewedPatches) -> dict[str, Any]:
    """Return the same for scripts: counts, the names of the rejected, and the judge against the reviewers."""
    return {
        "accepted": len(found.accepted),
        "rejected": len(found.rejected),
        "share_rejected": found.share_rejected,
        "attempts_rejected": list(found.rejected),
        "judge": found.judge,
        "judge_precision_unacceptable": precision(found.judge),
        "judge_recall_unacceptable": recall(found.judge),
    }


@made_by_this
def reviewed_table(found: ReviewedPatches) -> Table:
    """Patches that pass their tests: how many reviewers rejected, and how many of either the judge would have held."""
    judge = found.judge
    rows = [
        Row("accepted", len(found.accepted), source=_SOURCE, unit="count", group="Patches that pass their tests"),
        Row("rejected", len(found.rejected), source=_SOURCE, unit="count", group="Patches that pass their tests"),
    ]
    shares = {
        "calls unacceptable, of those rejected": recall(judge),
        "calls unacceptable, of those accepted": wilson(judge.fp, judge.fp + judge.tn),
        "rejected, of those that it calls unacceptable": precision(judge),
    }
    if judge.n:
        rows += [estimate_row(name, share, "share", "The judge of patches", _SOURCE) for name, share in shares.items()]
    named = ", ".join(found.rejected[:_MOST_NAMED]) + (", …" if len(found.rejected) > _MOST_NAMED else "")
    return Table(
        name="passing_but_rejected",
        paper="repair",
        title="Patches that pass their tests and were rejected",
        finding=_finding(found),
        rows=tuple(rows),
        notes=(
            "The tests call every one of these patches right: what reviewers rejected is told by people alone.",
            *([f"Rejected: {named}."] if found.rejected else []),
            *([] if judge.n else ["No judge of patches was asked about them."]),
        ),
    )


def _finding(found: ReviewedPatches) -> str:
    share = found.share_rejected
    if not share.n:
        return "Reviewers have decided on no patch that passes its tests."
    noun = "patch that passes" if share.n == 1 else "patches that pass"
    return f"Reviewers rejected {with_interval(share, 'share')} of {share.n:,} {noun} the tests."

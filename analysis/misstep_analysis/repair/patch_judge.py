"""Compare the judge of patches with the oracle's tests (table IV) and reviewers (6.2); unacceptable is positive."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from misstep_analysis.repair.attempts import ReviewFunnel, counted
from misstep_analysis.stats.diagnostic import Confusion, precision, recall
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import with_interval
from misstep_harness.repair.records import PATCH_JUDGE, RepairAttempt

_SOURCE = "review log"
_MOST_NAMED = 10
_REJECTED = TableHead(
    "passing_but_rejected",
    "repair",
    "Patches that pass their tests and were rejected",
    ("The tests call every one of these patches right: what reviewers rejected is told by people alone.",),
)


def judge_against_oracle(attempts: Iterable[RepairAttempt]) -> Confusion:
    """Return how often the judge of patches calls a patch unacceptable, by whether the oracle's tests refuse it."""
    scored = (one for one in counted(attempts) if one.patched and one.solved is not None)
    return _judged(scored, lambda one: not one.solved)


def _judged(attempts: Iterable[RepairAttempt], is_bad: Callable[[RepairAttempt], bool]) -> Confusion:
    cells: Counter[tuple[bool, bool]] = Counter()
    for attempt in attempts:
        passed = next((signal.passed for signal in attempt.signals if signal.validator == PATCH_JUDGE), None)
        if passed is not None:
            cells[is_bad(attempt), not passed] += 1
    return Confusion(tp=cells[True, True], fp=cells[False, True], fn=cells[True, False], tn=cells[False, False])


class ReviewedPatches(Struct, frozen=True):
    """The patches that pass their tests and were decided on; `judge` compares the judge with the reviewers."""

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
    approvals = (funnel.reached["accepted"] | funnel.reached["landed"]) - refused
    decided = [attempt for attempt in counted(attempts) if attempt.solved and attempt.id in refused | approvals]
    accepted, rejected = (tuple(one.id for one in decided if one.id in names) for names in (approvals, refused))
    return ReviewedPatches(accepted, rejected, _judged(decided, lambda one: one.id in refused))


def reviewed_document(patches: ReviewedPatches) -> dict[str, Any]:
    """Return the same for scripts: counts, the names of the rejected, and the judge against the reviewers."""
    return {
        "accepted": len(patches.accepted),
        "rejected": len(patches.rejected),
        "share_rejected": patches.share_rejected,
        "attempts_rejected": list(patches.rejected),
        "judge": patches.judge,
        "judge_precision_unacceptable": precision(patches.judge),
        "judge_recall_unacceptable": recall(patches.judge),
    }


@made_by_this
def reviewed_table(patches: ReviewedPatches) -> Table:
    """Return how many passing patches reviewers rejected, and how many of either the judge would have held."""
    judge, rejected = patches.judge, patches.rejected
    counts = {"accepted": len(patches.accepted), "rejected": len(rejected)}
    shares = {
        "calls unacceptable, of those rejected": recall(judge),
        "calls unacceptable, of those accepted": wilson(judge.fp, judge.fp + judge.tn),
        "rejected, of those that it calls unacceptable": precision(judge),
    }
    rows = rows_in("count", counts, "Patches that pass their tests", _SOURCE)
    rows += rows_in("share", shares, "The judge of patches", _SOURCE) if judge.n else []
    named = ", ".join(rejected[:_MOST_NAMED]) + (", …" if len(rejected) > _MOST_NAMED else "")
    notes = [f"Rejected: {named}."] if rejected else []
    notes += [] if judge.n else ["No judge of patches was asked about them."]
    share, finding = patches.share_rejected, "Reviewers have decided on no patch that passes its tests."
    if share.n:
        noun = "patch that passes" if share.n == 1 else "patches that pass"
        finding = f"Reviewers rejected {with_interval(share, 'share')} of {share.n:,} {noun} the tests."
    return _REJECTED.table(finding, rows, notes)

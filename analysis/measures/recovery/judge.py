"""The judge of recoveries against what was planted, and the recovery rate corrected for its errors."""

from collections.abc import Sequence

from msgspec import Struct

from misstep.analysis.measures.recovery.problems import Problem
from misstep.analysis.measures.recovery.rates import as_judged, by_unit, recovery_rate, truly
from misstep.analysis.measures.shares import clustered_share
from misstep.analysis.stats.correction import rogan_gladen_clustered
from misstep.analysis.stats.estimate import Estimate, told
from misstep.harness.errors import UsageError

NO_LABEL = "no problem with a label of the judge"


class RecoveryJudge(Struct, frozen=True):
    """What a judge of recoveries is worth.

    `precision` is of what it calls recovered, `sensitivity` of what did recover, `specificity` of what did not;
    `apparent` is the rate as judged, `corrected` the same corrected by the other half's sensitivity and specificity,
    and `true` the planted one, all of the half that is not used for these two.
    """

    precision: Estimate
    sensitivity: Estimate
    specificity: Estimate
    apparent: Estimate
    corrected: Estimate
    true: Estimate
    unlabelled: int


def judge_of_recoveries(problems: Sequence[Problem]) -> RecoveryJudge:
    """Precision, sensitivity and specificity over units, and on one half of the units the corrected recovery rate."""
    labelled = [one for one in problems if one.judged is not None]
    units = sorted({one.unit for one in labelled})
    halves = [[one for one in labelled if one.unit in set(units[start::2])] for start in (0, 1)]
    measured, used = halves
    return RecoveryJudge(
        clustered_share(by_unit((one for one in labelled if one.judged), truly), NO_LABEL),
        clustered_share(_labelled(labelled, recovered=True), NO_LABEL),
        clustered_share(_labelled(labelled, recovered=False), NO_LABEL),
        recovery_rate(used, as_judged),
        _corrected(measured, used),
        recovery_rate(used, truly),
        len(problems) - len(labelled),
    )


def _labelled(problems: Sequence[Problem], *, recovered: bool) -> list[tuple[int, int]]:
    own = [one for one in problems if one.recovered is recovered]
    return by_unit(own, lambda one: one.judged is recovered)


def _corrected(measured: Sequence[Problem], used: Sequence[Problem]) -> Estimate:
    flagged = by_unit(used, as_judged)
    hits, left_alone = (_labelled(measured, recovered=recovered) for recovered in (True, False))
    if not (flagged and hits and left_alone):
        reason = "a half lacks problems that recovered, or that did not: nothing to correct by"
        return Estimate(None, n=0, reason=reason)
    try:
        return told(rogan_gladen_clustered(flagged, hits, left_alone).estimate)
    except UsageError as error:
        return Estimate(None, n=sum(n for _, n in flagged), reason=error.found)

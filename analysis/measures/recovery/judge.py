"""The judge of recoveries against what was planted, and the recovery rate corrected for its errors."""

from collections.abc import Sequence

from msgspec import Struct

from misstep.analysis.measures.recovery.problems import Problem
from misstep.analysis.measures.recovery.rates import as_judged, by_unit, recovery_rate, truly
from misstep.analysis.stats.clusters.clustered_bounds import korn_graubard
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
    return RecoveryJudge(
        _share([one for one in labelled if one.judged], recovered=True),
        _found(labelled, recovered=True),
        _found(labelled, recovered=False),
        recovery_rate(halves[1], as_judged),
        _corrected(halves[0], halves[1]),
        recovery_rate(halves[1], truly),
        len(problems) - len(labelled),
    )


def _share(problems: Sequence[Problem], *, recovered: bool) -> Estimate:
    clusters = by_unit(problems, lambda one: one.recovered is recovered)
    return korn_graubard(clusters) if clusters else Estimate(None, n=0, reason=NO_LABEL)


def _found(problems: Sequence[Problem], *, recovered: bool) -> Estimate:
    """Of the problems that recovered, or of those that did not, the share that the judge labels so."""
    clusters = _labelled(problems, recovered=recovered)
    return korn_graubard(clusters) if clusters else Estimate(None, n=0, reason=NO_LABEL)


def _labelled(problems: Sequence[Problem], *, recovered: bool) -> list[tuple[int, int]]:
    own = [one for one in problems if one.recovered is recovered]
    return by_unit(own, lambda one: one.judged is recovered)


def _corrected(measured: Sequence[Problem], used: Sequence[Problem]) -> Estimate:
    flagged, found, left_alone = (
        by_unit(used, as_judged),
        _labelled(measured, recovered=True),
        _labelled(measured, recovered=False),
    )
    if not (flagged and found and left_alone):
        return Estimate(
            None, n=0, reason="a half lacks problems that recovered, or that did not: nothing to correct by"
        )
    try:
        return told(rogan_gladen_clustered(flagged, found, left_alone).estimate)
    except UsageError as error:
        return Estimate(None, n=sum(n for _, n in flagged), reason=error.found)

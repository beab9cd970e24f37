"""The effect of guidance on recovery, by class and over time; and what a judge of recoveries is worth."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.observer.recovery.problems import (
    ENGINEER,
    RECOVERED,
    SESSION_OVER,
    WINDOW,
    Classes,
    Problem,
    Start,
    as_judged,
    by_unit,
    chosen,
    recovery_rate,
    truly,
)
from misstep_analysis.sessions.shares import clustered_share
from misstep_analysis.stats.clusters.clustered import clustered_difference
from misstep_analysis.stats.correction import rogan_gladen_clustered
from misstep_analysis.stats.decisions.incidence import (
    CumulativeIncidence,
    Followed,
    IncidenceComparison,
    cumulative_incidence,
    incidence_difference,
)
from misstep_analysis.stats.estimate import Estimate, informative
from misstep_analysis.stats.significance import Significance, holm

NO_LABEL = "no problem with a label of the judge"


class RecoveryEffect(Struct, frozen=True):
    """One class of misbehaviour in both arms: the shares that recovered, and the first less the second, over units."""

    name: str
    guided: Estimate
    unguided: Estimate
    difference: Estimate
    test: Significance
    p_adjusted: float | None = None


class TimeToRecovery(Struct, frozen=True):
    """The problems of two arms over time: curves, and shares and difference at the window of each event that occurs."""

    start: Start
    guided: CumulativeIncidence
    unguided: CumulativeIncidence
    at_window: dict[int, IncidenceComparison]


def recovery_effects(
    guided: Sequence[Problem], unguided: Sequence[Problem], classes: Classes, overall: str = "Overall"
) -> list[RecoveryEffect]:
    """Return the effect of guidance on recovery within the window, by class."""
    effects = [_effect(name, chosen(guided, of), chosen(unguided, of)) for name, of in classes.items()]
    adjusted = holm([None if one.name == overall else one.test.p_value for one in effects]).p_values
    return [
        structs.replace(one, p_adjusted=one.test.p_value if one.name == overall else p)
        for one, p in zip(effects, adjusted, strict=True)
    ]


def _effect(name: str, guided: Sequence[Problem], unguided: Sequence[Problem]) -> RecoveryEffect:
    rates = recovery_rate(guided), recovery_rate(unguided)
    if not (guided and unguided):
        reason = "an arm has no such problem"
        return RecoveryEffect(name, *rates, Estimate(None, n=0, reason=reason), Significance(None, None, reason=reason))
    compared = clustered_difference(by_unit(guided), by_unit(unguided))
    return RecoveryEffect(name, *rates, compared.small_sample, compared.small_sample_test)


def time_to_recovery(
    guided: Sequence[Problem], unguided: Sequence[Problem], start: Start, seed: int = 0
) -> TimeToRecovery | None:
    """Recovery over time, with the end of the session and an engineer's turn as competing events.

    `None` where an arm has no problem; `seed` is of the resampled units.
    """
    if not (guided and unguided):
        return None
    rng = np.random.default_rng(seed)
    arms = [
        Followed([one.steps for one in arm], [one.event for one in arm], [one.unit for one in arm])
        for arm in (guided, unguided)
    ]
    curves = [cumulative_incidence(list(arm.times), list(arm.events), causes=ENGINEER) for arm in arms]
    at_window = {
        event: incidence_difference(arms[0], arms[1], WINDOW, rng, cause=event)
        for event in (RECOVERED, SESSION_OVER, ENGINEER)
        if event == RECOVERED or any(event in arm.events for arm in arms)
    }
    return TimeToRecovery(start, curves[0], curves[1], at_window)


class RecoveryJudge(Struct, frozen=True):
    """What a judge of recoveries is worth; `corrected` and `true` are of the half not used for the other figures."""

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
    measured_units = set(sorted({one.unit for one in labelled})[::2])
    measured = [one for one in labelled if one.unit in measured_units]
    used = [one for one in labelled if one.unit not in measured_units]
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
    return informative(rogan_gladen_clustered(flagged, hits, left_alone).estimate)

"""Every breaker asked about every case that was made up after a report."""

from analysis.measures.reflexive.reported import BreakerDescription, BreakerScore, Trial, scores_of_breakers
from harness.reflexive.reported.breakers import BREAKERS, Breaker
from harness.reflexive.reported.rounds import ReportedCase, first_stop, reported_cases


def reported_scores() -> list[BreakerScore]:
    """What each breaker does with the cases of `harness/reflexive/reported/cases`; those of other loops come first."""
    return scores_of_breakers(_trial(breaker, case) for breaker in BREAKERS for case in reported_cases())


def _trial(breaker: Breaker, case: ReportedCase) -> Trial:
    stopped = first_stop(breaker.decide, case.rounds)
    return Trial(
        breaker=BreakerDescription(breaker.name, breaker.says, breaker.source, breaker.ours),
        case=case.name,
        source=case.source,
        first=case.first,
        last=case.last,
        stopped=None if stopped is None else stopped[0],
        reason="" if stopped is None else stopped[1],
    )

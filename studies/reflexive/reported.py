"""Every breaker asked about every case that was made up after a report."""

from misstep.analysis.measures.reflexive.reported import BreakerDescription, BreakerScore, Trial, scores_of_breakers
from misstep.harness.errors import MissingPrerequisite
from misstep.harness.reflexive.reported.breakers import BREAKERS, Breaker
from misstep.harness.reflexive.reported.rounds import ReportedCase, first_stop, reported_cases


def reported_scores() -> list[BreakerScore]:
    """What each breaker does with the cases of `harness/reflexive/reported/cases`; those of other loops come first."""
    available = [breaker for breaker in BREAKERS if not _missing(breaker)]
    return scores_of_breakers(_trial(breaker, case) for breaker in available for case in reported_cases())


def not_asked() -> tuple[str, ...]:
    """Return the breakers that cannot be asked here, each with why, as sentences."""
    return tuple(f"The breaker {one.name} could not be asked: {why}" for one in BREAKERS if (why := _missing(one)))


def _missing(breaker: Breaker) -> str:
    try:
        breaker.decide(reported_cases()[0].rounds[:1])
    except MissingPrerequisite as missing:
        return missing.line()
    return ""


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
        reported=" ".join(case.reported.split()),
        why=" ".join(case.why.split()),
    )

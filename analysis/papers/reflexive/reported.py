"""Breakers of other loops and ours on runs that were made up after what users of such loops reported."""

from collections.abc import Sequence

from analysis.measures.reflexive.reported import OUTCOMES, RIGHT, BreakerScore, Trial
from analysis.tables import Row, Table, estimate_row, made_by_this
from analysis.tables.wording import with_interval

_PAPER = "reflexive"
_LOOP = "stop_rule"
"""The breaker that is the loop's own rule."""

_ABOUT = (
    "The runs are made up after public threads, which each case names. A thread says what happened, and the rounds "
    "were written to fit; no run was observed.",
    "The cases are few and were chosen because a breaker failed on them. The shares say which failures a breaker has, "
    "and not how often they occur. The intervals are Wilson's, as if the cases were drawn at random.",
    "The loop's rule was written before it was asked about a case and was not changed afterwards. One hand wrote the "
    "rule and the cases. After a first look the calls of the cases were written out, and the rounds between which a "
    "stop counts as right were set by one rule for all cases.",
    "A breaker of another loop is reduced to its documented condition and threshold. What is a warning or a nudge in "
    "the original counts as a stop here. Plateau detectors, too, are there to ask the strategist, not to stop a run.",
)


@made_by_this
def breakers_table(scores: Sequence[BreakerScore]) -> Table:
    """What each breaker did with all cases: a line a breaker, a column an outcome.

    Parameters
    ----------
    scores
        Those of `studies.reflexive.reported.reported_scores`.
    """
    return Table(
        name="reported_breakers",
        paper=_PAPER,
        title="Breakers on runs made up after reports",
        finding=_finding(scores),
        rows=tuple(
            estimate_row(outcome.capitalize(), share, "share", _described(score), evidence="generated")
            for score in scores
            for outcome, share in score.shares.items()
        ),
        notes=(
            "Stopped rightly, stopped late and missed are shares of the runs to be stopped, left alone rightly of "
            "those to go on, stopped wrongly of all: a stop before its time is a wrong one.",
            *_wrong(scores),
            *_ABOUT,
            f"Where the breakers of other loops are documented: {'; '.join(_documented(scores))}.",
        ),
    )


@made_by_this
def reported_cases_table(scores: Sequence[BreakerScore]) -> Table:
    """What each breaker did with each case: the outcome, with the round of the stop.

    Parameters
    ----------
    scores
        As for `breakers_table`.
    """
    return Table(
        name="reported_cases",
        paper=_PAPER,
        title="Each breaker on each run made up after a report",
        finding=_finding(scores),
        rows=tuple(
            Row(
                quantity=f"{trial.case} ({_expected(trial)})",
                value=trial.outcome if trial.stopped is None else f"{trial.outcome}, after round {trial.stopped}",
                evidence="generated",
                source=f"made up after {trial.source}",
                unit="text",
                group=_described(score),
            )
            for score in scores
            for trial in score.trials
        ),
        notes=_ABOUT,
    )


def _described(score: BreakerScore) -> str:
    return f"{score.breaker.name}: {score.breaker.says}{' (ours)' if score.breaker.ours else ''}"


def _documented(scores: Sequence[BreakerScore]) -> list[str]:
    return [f"{score.breaker.name}, {score.breaker.documented}" for score in scores if not score.breaker.ours]


def _expected(trial: Trial) -> str:
    return "go on" if trial.first is None else f"stop after {trial.first} to {trial.last}"


def _of_the_loop(scores: Sequence[BreakerScore]) -> BreakerScore:
    return next(score for score in scores if score.breaker.name == _LOOP)


def _finding(scores: Sequence[BreakerScore]) -> str:
    loop = _of_the_loop(scores)
    others = [score for score in scores if not score.breaker.ours]
    best = max(others, key=lambda score: score.right.value or 0.0)
    wrongly, late, missed = (len(loop.having(name)) for name in ("stopped wrongly", "stopped late", "missed"))
    return (
        f"Of {len(loop.trials)} runs made up after reports the loop's rule judges {with_interval(loop.right, 'share')} "
        f"rightly: it stops {wrongly} wrongly and {late} too late, and misses {missed}. The best of {len(others)} "
        f"breakers of other loops, {best.breaker.name}, judges {with_interval(best.right, 'share')} rightly; one that "
        f"never stops would be right about the {sum(trial.first is None for trial in loop.trials)} that should go on."
    )


def _wrong(scores: Sequence[BreakerScore]) -> list[str]:
    """What the loop's own rule gets wrong, case by case."""
    loop = _of_the_loop(scores)
    return [
        f"The loop's rule, {outcome}: {', '.join(trial.case for trial in loop.having(outcome))}."
        for outcome in OUTCOMES
        if outcome not in RIGHT and loop.having(outcome)
    ]

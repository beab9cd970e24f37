"""Breakers of other loops and ours on runs that were made up after reports of users of such loops."""

from collections.abc import Sequence

from misstep.analysis.measures.reflexive.reported import OUTCOMES, RIGHT, BreakerScore, Trial
from misstep.analysis.tables import Row, Table, TableHead, estimate_row, made_by_this
from misstep.analysis.tables.wording import with_interval

_PAPER = "reflexive"
_LOOP = "stop_rule"

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


_REPORTED_BREAKERS = TableHead(
    "reported_breakers",
    _PAPER,
    "Breakers on runs made up after reports",
    (
        "Stopped rightly, stopped late and missed are shares of the runs to be stopped, left alone rightly of "
        "those to go on, stopped wrongly of all: a stop before its time is a wrong one.",
    ),
)


@made_by_this
def breakers_table(scores: Sequence[BreakerScore], notes: Sequence[str] = ()) -> Table:
    """Return the outcomes of each breaker on all cases: a line a breaker, a column an outcome."""
    return _REPORTED_BREAKERS.table(
        _finding(scores),
        (
            estimate_row(
                outcome.capitalize(),
                share,
                "share",
                f"{score.breaker.name}: {score.breaker.says}{' (ours)' if score.breaker.ours else ''}",
                evidence="generated",
            )
            for score in scores
            for outcome, share in score.shares.items()
        ),
        (
            *_wrong(scores),
            *_ABOUT,
            f"Where the breakers of other loops are documented: {'; '.join(_documented(scores))}.",
            *notes,
        ),
    )


_REPORTED_CASES = TableHead("reported_cases", _PAPER, "Runs made up after reports")


@made_by_this
def reported_cases_table(scores: Sequence[BreakerScore]) -> Table:
    """Return each case in our words, with the right verdict and its reason."""
    cases = scores[0].trials
    to_stop = sum(case.first is not None for case in cases)
    return _REPORTED_CASES.table(
        (
            f"{to_stop} of {len(cases)} runs made up after reports should be stopped, and {len(cases) - to_stop} "
            "should go on."
        ),
        (
            _text_row(case, case.case, quantity, text)
            for case in cases
            for quantity, text in (
                ("What was reported", case.reported),
                ("Right verdict", _expected(case)),
                ("Why", case.why),
            )
        ),
        _ABOUT[:1],
    )


_REPORTED_OUR_BREAKERS = TableHead(
    "reported_our_breakers", _PAPER, "Detectors of plateaus and the loop's rule on each run made up after a report"
)


@made_by_this
def our_breakers_table(scores: Sequence[BreakerScore], notes: Sequence[str] = ()) -> Table:
    """Return the outcome of each detector of plateaus, and of the loop's own rule, on each case: a line a case."""
    ours = [score for score in scores if score.breaker.ours]
    judged = (f"{score.breaker.name} {with_interval(score.right, 'share')}" for score in ours)
    return _REPORTED_OUR_BREAKERS.table(
        f"The share of {len(ours[0].trials)} runs that is judged rightly: {'; '.join(judged)}.",
        (
            _text_row(
                trial,
                _with_verdict(trial),
                trial.breaker.name,
                trial.outcome if trial.stopped is None else f"{trial.outcome}, after round {trial.stopped}",
            )
            for case in zip(*(score.trials for score in ours), strict=True)
            for trial in case
        ),
        (f"What each stops at: {'; '.join(_says(score) for score in ours)}.", *_ABOUT, *notes),
    )


_REPORTED_OTHER_BREAKERS = TableHead(
    "reported_other_breakers",
    _PAPER,
    "Breakers of other loops on each run made up after a report",
    ("The figure behind a breaker is the round after which it stopped the run.",),
)


@made_by_this
def other_breakers_table(scores: Sequence[BreakerScore]) -> Table:
    """Return the outcomes of the breakers of other loops on each case: a line a case, a column an outcome."""
    others = [score for score in scores if not score.breaker.ours]
    wrong, silent = (sum(bool(score.having(outcome)) for score in others) for outcome in ("stopped wrongly", "missed"))
    cases = zip(*(score.trials for score in others), strict=True)
    return _REPORTED_OTHER_BREAKERS.table(
        (
            f"{wrong} of {len(others)} breakers of other loops wrongly stop at least one of "
            f"{len(others[0].trials)} runs made up after reports, and {silent} miss at least one that should be "
            "stopped."
        ),
        (
            _text_row(
                trials[0],
                _with_verdict(trials[0]),
                outcome.capitalize(),
                ", ".join(
                    (trial.breaker.name if trial.stopped is None else f"{trial.breaker.name} ({trial.stopped})")
                    for trial in trials
                    if trial.outcome == outcome
                )
                or "none",
            )
            for trials in cases
            for outcome in OUTCOMES
        ),
        (*_ABOUT,),
    )


def _text_row(case: Trial, group: str, quantity: str, text: str) -> Row:
    source = f"made up after {case.source}"
    return Row(quantity, text, evidence="generated", source=source, unit="text", group=group)


def _with_verdict(case: Trial) -> str:
    return f"{case.case} ({_expected(case)})"


def _says(score: BreakerScore) -> str:
    return f"{score.breaker.name}, {score.breaker.says}"


def _documented(scores: Sequence[BreakerScore]) -> list[str]:
    return [f"{score.breaker.name}, {score.breaker.documented}" for score in scores if not score.breaker.ours]


def _expected(trial: Trial) -> str:
    return "go on" if trial.first is None else f"stop after round {trial.first} to {trial.last}"


def _of_the_loop(scores: Sequence[BreakerScore]) -> BreakerScore:
    return next(score for score in scores if score.breaker.name == _LOOP)


def _finding(scores: Sequence[BreakerScore]) -> str:
    loop = _of_the_loop(scores)
    others = [score for score in scores if not score.breaker.ours]
    best = max(others, key=lambda score: score.right.value or 0.0)
    wrongly, late, missed = (len(loop.having(name)) for name in ("stopped wrongly", "stopped late", "missed"))
    return (
        f"Of {len(loop.trials)} runs made up after reports the loop's rule judges {with_interval(loop.right, 'share')} "
        f"rightly: it stops {wrongly} wrongly and {late} too late, and misses {missed}. Of {len(others)} "
        f"breakers of other loops the one with the highest share, {best.breaker.name}, judges "
        f"{with_interval(best.right, 'share')} rightly; one that never stops would be right about the "
        f"{sum(trial.first is None for trial in loop.trials)} that should go on."
    )


def _wrong(scores: Sequence[BreakerScore]) -> list[str]:
    loop = _of_the_loop(scores)
    return [
        f"The loop's rule, {outcome}: {', '.join(trial.case for trial in loop.having(outcome))}."
        for outcome in OUTCOMES
        if outcome not in RIGHT and loop.having(outcome)
    ]

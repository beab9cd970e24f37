"""What became of runs on their way to training data, as a table and as sentences."""

from misstep.analysis.measures.triage.curation import ACTIONS, Curation
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Evidence, Row, Table, estimate_row, made_by_this, of_evidence
from misstep.analysis.tables.wording import counted_text, number_text, with_interval

ACTION_WORDS = {
    "keep": "kept",
    "filter": "filtered",
    "rerun": "sent for a rerun",
    "repair_task": "waiting for a repair of their task",
    "undecided": "undecided",
}
"""Action → what the runs are."""

RECORDED = "Solve rate as recorded"
EARNED = "Passes that are not earned taken out"
PUT_BACK = "And false failures put back"
_CORRECTED = "{}, corrected for the judge's errors"

NOTES = (
    "What is done with a run follows from its label and its outcome, as table 1 of AutoTriage says. Undecided runs are "
    "not kept: they have no verdict, no recorded outcome, or a label that no run of their outcome can have.",
    "Precision is over the kept runs with a gold label; both bounds count every other kept run as wrong, and as right.",
    "A failure that is the task's fault may be a right result that was rejected. Put back, all of them count as "
    "solved, the most that they can be. Runs for a rerun count as not solved until they are run again.",
)


def curation_sentence(found: Curation) -> str:
    """Return what became of the runs, in one line: what is kept with the bound on its precision, then what is not."""
    runs = counted_text(found.n, "run")
    others = [f"{found.counts[action]:,} {ACTION_WORDS[action]}" for action in ACTIONS[1:] if found.counts[action]]
    rest = f"; {', '.join(others)}" if others else ""
    return f"{found.counts['keep']:,} of {runs} kept{rest}. {precision_sentence(found)}"


def precision_sentence(found: Curation) -> str:
    """Return how right the kept are."""
    if found.precision.value is not None:
        share = with_interval(found.precision, "share")
        bound = number_text(found.bound.low, "share")
        return f"By gold labels {share} of those kept are rightly kept, at least {bound} with 95% confidence."
    corrected = found.corrected_precision
    if corrected.value is not None and found.rates is not None:
        share = with_interval(corrected, "share")
        return f"By the judge's errors on other cases ({found.rates.source}), {share} of those kept are rightly kept."
    return f"How many of those kept are rightly kept is not known: {corrected.reason or found.precision.reason}."


def worth_sentence(found: Curation) -> str:
    """Return what a reward of 1 is worth, beside the solve rate."""
    worth = found.worth
    if worth.recorded.value is None:
        return f"What the rewards are worth is not known: {worth.recorded.reason}."
    low, high = (number_text(end, "share") for end in (worth.earned.low, worth.put_back.high))
    told = (
        f"The recorded solve rate is {with_interval(worth.recorded, 'share')}. By the verdicts {low} to {high} are "
        "left when passes that are not earned are taken out and false failures put back"
    )
    return f"{told}{_corrected_clause(found)}."


def _corrected_clause(found: Curation) -> str:
    worth = found.worth
    if worth.corrected_earned.low is None or worth.corrected_put_back.high is None:
        return ""
    low, high = (number_text(end, "share") for end in (worth.corrected_earned.low, worth.corrected_put_back.high))
    return f", and {low} to {high} when the judge's errors are allowed for"


@made_by_this
def curation_table(found: Curation, judge: str, source: str, evidence: Evidence = "real") -> Table:
    """Return what became of the runs, how right it is, and what their rewards are worth."""
    table = Table(
        name="curation",
        paper="judging",
        title=f"What becomes of the runs, by {judge}",
        finding=f"{curation_sentence(found)} {worth_sentence(found)}",
        rows=(*action_rows(found, source), *figure_rows(found, source)),
        notes=(*NOTES, *_rates_note(found)),
    )
    return of_evidence(table, evidence)


def action_rows(found: Curation, source: str, group: str = "") -> list[Row]:
    """Return each action with its share of the runs."""
    named = {action: ACTION_WORDS[action].capitalize() for action in ACTIONS}
    return [estimate_row(named[action], found.shares[action], "share", group or "Runs", source) for action in ACTIONS]


def figure_rows(found: Curation, source: str, group: str = "") -> list[Row]:
    """Return how right the kept are, and what the rewards are worth."""
    worth, kept = found.worth, found.counts["keep"]
    bound = Estimate(found.bound.low, n=found.bound.n, method=found.bound.method, reason=found.bound.reason)
    precision = [
        ("Precision by gold labels", found.precision),
        ("Its exact lower bound", bound),
        ("Precision if the kept without a gold label are wrong", _end(found.precision_lowest, kept)),
        ("Precision if the kept without a gold label are right", _end(found.precision_highest, kept)),
        ("Precision by the judge's errors on other cases", found.corrected_precision),
        ("Share of the runs to be kept that are kept", found.recall),
    ]
    rewards = [
        (RECORDED, worth.recorded),
        (EARNED, worth.earned),
        (PUT_BACK, worth.put_back),
        ("The first, if no undecided run is a solution", _end(worth.lowest, found.n)),
        ("The second, if every undecided run is one", _end(worth.highest, found.n)),
        (_CORRECTED.format(EARNED), worth.corrected_earned),
        (_CORRECTED.format(PUT_BACK), worth.corrected_put_back),
    ]
    return [
        *(estimate_row(name, one, "share", group or "What is kept", source) for name, one in precision),
        *(estimate_row(name, one, "share", group or "What a reward of 1 is worth", source) for name, one in rewards),
    ]


def _end(value: float | None, n: int) -> Estimate:
    """Return one end of what missing answers leave open."""
    return Estimate(value, n=n, reason="" if value is not None else "there are no such runs")


def _rates_note(found: Curation) -> tuple[str, ...]:
    if found.rates is None:
        return ()
    return (
        f"The judge's errors are those on {found.rates.source}. The correction supposes that it errs here as there.",
    )

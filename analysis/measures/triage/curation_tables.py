"""What became of runs on their way to training data, as a table and as sentences."""

from misstep.analysis.measures.triage.curation import ACTIONS, Curation
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Evidence, Row, Table, made_by_this, of_evidence, rows_in
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

NOTES = (
    "What is done with a run follows from its label and its outcome, as table 1 of AutoTriage says. Undecided runs are "
    "not kept: they have no verdict, no recorded outcome, or a label that no run of their outcome can have.",
    "Precision is over the kept runs with a gold label; both bounds count every other kept run as wrong, and as right.",
    "A failure that is the task's fault may be a right result that was rejected. Put back, all of them count as "
    "solved, the most that they can be. Runs for a rerun count as not solved until they are run again.",
)


def curation_sentence(runs: Curation) -> str:
    """Return what became of the runs, in one line: what is kept with the bound on its precision, then what is not."""
    others = [f"{runs.counts[action]:,} {ACTION_WORDS[action]}" for action in ACTIONS[1:] if runs.counts[action]]
    shares = "; ".join(
        filter(None, (f"{runs.counts['keep']:,} of {counted_text(runs.n, 'run')} kept", ", ".join(others)))
    )
    return f"{shares}. {precision_sentence(runs)}"


def precision_sentence(runs: Curation) -> str:
    """Return how right the kept are."""
    precision, corrected = runs.precision, runs.corrected_precision
    if precision.value is not None:
        bound = number_text(runs.bound.low, "share")
        share = with_interval(precision, "share")
        return f"By gold labels {share} of those kept are rightly kept, at least {bound} with 95% confidence."
    if corrected.value is not None and runs.rates is not None:
        share = with_interval(corrected, "share")
        return f"By the judge's errors on other cases ({runs.rates.source}), {share} of those kept are rightly kept."
    return f"How many of those kept are rightly kept is not known: {corrected.reason or precision.reason}."


def worth_sentence(runs: Curation) -> str:
    """Return what a reward of 1 is worth, beside the solve rate."""
    worth = runs.worth
    if worth.recorded.value is None:
        return f"What the rewards are worth is not known: {worth.recorded.reason}."
    low, high = worth.corrected_earned.low, worth.corrected_put_back.high
    allowed = f", and {_between(low, high)} when the judge's errors are allowed for"
    return (
        f"The recorded solve rate is {with_interval(worth.recorded, 'share')}. By the verdicts "
        f"{_between(worth.earned.low, worth.put_back.high)} are left when passes that are not earned are taken out and "
        f"false failures put back{'' if low is None or high is None else allowed}."
    )


def _between(low: float | None, high: float | None) -> str:
    return f"{number_text(low, 'share')} to {number_text(high, 'share')}"


@made_by_this
def curation_table(runs: Curation, judge: str, source: str, evidence: Evidence = "real") -> Table:
    """Return what became of the runs, how right it is, and what their rewards are worth."""
    notes = list(NOTES)
    if runs.rates is not None:
        notes.append(
            f"The judge's errors are those on {runs.rates.source}. The correction supposes that it errs here as there."
        )
    finding, title = f"{curation_sentence(runs)} {worth_sentence(runs)}", f"What becomes of the runs, by {judge}"
    rows = (*action_rows(runs, source), *figure_rows(runs, source))
    return of_evidence(Table("curation", "judging", title, finding, rows, tuple(notes)), evidence)


def action_rows(runs: Curation, source: str, group: str = "") -> list[Row]:
    """Return each action with its share of the runs."""
    shares = {ACTION_WORDS[action].capitalize(): runs.shares[action] for action in ACTIONS}
    return rows_in("share", shares, group or "Runs", source)


def figure_rows(runs: Curation, source: str, group: str = "") -> list[Row]:
    """Return how right the kept are, and what the rewards are worth."""
    worth, to_keep = runs.worth, runs.counts["keep"]
    bound = Estimate(runs.bound.low, n=runs.bound.n, method=runs.bound.method, reason=runs.bound.reason)
    precision = {
        "Precision by gold labels": runs.precision,
        "Its exact lower bound": bound,
        "Precision if the kept without a gold label are wrong": _end(runs.precision_lowest, to_keep),
        "Precision if the kept without a gold label are right": _end(runs.precision_highest, to_keep),
        "Precision by the judge's errors on other cases": runs.corrected_precision,
        "Share of the runs to be kept that are kept": runs.recall,
    }
    rewards = {
        RECORDED: worth.recorded,
        EARNED: worth.earned,
        PUT_BACK: worth.put_back,
        "The first, if no undecided run is a solution": _end(worth.lowest, runs.n),
        "The second, if every undecided run is one": _end(worth.highest, runs.n),
        f"{EARNED}, corrected for the judge's errors": worth.corrected_earned,
        f"{PUT_BACK}, corrected for the judge's errors": worth.corrected_put_back,
    }
    return [
        *rows_in("share", precision, group or "What is kept", source),
        *rows_in("share", rewards, group or "What a reward of 1 is worth", source),
    ]


def _end(value: float | None, n: int) -> Estimate:
    return Estimate(value, n=n, reason="" if value is not None else "there are no such runs")

"""A comparison of judges as sentences and tables."""

from collections.abc import Mapping, Sequence

from misstep.analysis.measures.judging.pairs.comparison import LEVEL, PairedJudges
from misstep.analysis.measures.judging.rows import judging_table
from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.measures.judging.wording import beside_constant, pair_sentence
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Fields, Row, Table, Unit, made_by_this, rows_from, rows_of

DIFFERENCE = "Difference, unanswered counted as wrong"

_RUN_FIELDS: Fields = (
    ("Accuracy, unanswered wrong", "accuracy_all", "share"),
    ("Accuracy of the answered", "accuracy", "share"),
    ("Cohen's kappa", "cohen_kappa", "coefficient"),
)
_NOTES = (
    "The difference is the first judge's share of gold labels given less the second's, over the items asked of both; "
    "an item without an answer counts as wrong.",
    "Items needed: to find this difference at the level 0.05 with a chance of 80%, if the judges go on to disagree as "
    "often as here (Connor 1987); one comparison, no adjustment.",
)


def comparison_finding(pairs: Sequence[PairedJudges]) -> str:
    """What the comparison of some judges found: of two the sentence, of more how many pairs differ, and the widest."""
    if len(pairs) == 1:
        return pair_sentence(pairs[0])
    apart = sum(pair.apart for pair in pairs)
    differ = f"{apart} of {len(pairs)} pairs of judges differ at the level {LEVEL:g} after Holm's adjustment"
    known = [pair for pair in pairs if pair.difference is not None]
    if not known:
        return f"{differ}."
    return f"{differ}. The widest apart: {pair_sentence(max(known, key=lambda pair: abs(pair.difference or 0.0)))}"


@made_by_this
def comparison_table(pairs: Sequence[PairedJudges], source: str) -> Table:
    """Judges compared in pairs on the same items."""
    rows = [row for pair in pairs for row in pair_rows(pair, source, alone=len(pairs) == 1)]
    notes = (*_NOTES, f"Adjusted after Holm for {len(pairs)} pairs." if len(pairs) > 1 else "")
    return judging_table("comparison", f"Judges compared in pairs on {source}", comparison_finding(pairs), rows, notes)


def pair_rows(pair: PairedJudges, source: str, *, alone: bool) -> list[Row]:
    """Return the rows of two judges; `alone` if no other pair is compared."""
    answered = pair.answered
    figures: list[tuple[str, Estimate, Unit]] = [
        (DIFFERENCE, pair.estimate, "difference"),
        ("p-value", Estimate(pair.p_value, n=pair.n, method=pair.test), "p"),
        ("Difference where both answered", pair.where_answered, "difference"),
        ("p-value where both answered", Estimate(answered.p_value, n=answered.n), "p"),
        (f"Only {pair.a} right", Estimate(pair.only_a, n=pair.n), "count"),
        (f"Only {pair.b} right", Estimate(pair.only_b, n=pair.n), "count"),
        ("Items needed to tell them apart", Estimate(pair.n_needed), "count"),
    ]
    if not alone:
        figures.insert(2, ("p-value, adjusted for all pairs", Estimate(pair.p_adjusted, n=pair.n), "p"))
    return rows_of(figures, f"{pair.a} against {pair.b}", source)


@made_by_this
def compared_runs_table(scored: Mapping[str, Scores], source: str) -> Table:
    """Return the runs that are compared, each by itself: accuracy, kappa, cost and time."""
    rows: list[Row] = []
    for name, scores in scored.items():
        cost = _total("cost", scores.cost_usd, scores.reported["cost_usd"])
        seconds = _total("time", scores.seconds, scores.reported["seconds"])
        rows += rows_from(scores, _RUN_FIELDS, name, source)
        rows += rows_of([("Cost", cost, "usd"), ("Seconds", seconds, "seconds")], name, source)
    note = "Each run counts all items that it judged; cost and seconds are totals of the recorded values."
    return judging_table("compared_runs", f"The runs by themselves on {source}", beside_constant(scored), rows, (note,))


def _total(what: str, value: float | None, reported: int) -> Estimate:
    return Estimate(value, n=reported or None, reason="" if reported else f"no {what} is on record")

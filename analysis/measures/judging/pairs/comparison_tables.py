"""A comparison of judges as sentences and tables."""

from collections.abc import Mapping, Sequence

from misstep.analysis.measures.judging.pairs.comparison import LEVEL, PairedJudges
from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.measures.judging.wording import beside_constant, pair_sentence
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, Unit, estimate_row, made_by_this

DIFFERENCE = "Difference, unanswered counted as wrong"


def comparison_finding(pairs: Sequence[PairedJudges]) -> str:
    """What the comparison of some judges found: of two the sentence, of more how many pairs differ, and the widest."""
    if len(pairs) == 1:
        return pair_sentence(pairs[0])
    apart = sum(pair.apart for pair in pairs)
    told = f"{apart} of {len(pairs)} pairs of judges differ at the level {LEVEL:g} after Holm's adjustment"
    known = [pair for pair in pairs if pair.difference is not None]
    if not known:
        return f"{told}."
    return f"{told}. The widest apart: {pair_sentence(max(known, key=_distance))}"


def _distance(pair: PairedJudges) -> float:
    return abs(pair.difference or 0.0)


@made_by_this
def comparison_table(pairs: Sequence[PairedJudges], source: str) -> Table:
    """Judges compared in pairs on the same items."""
    return Table(
        name="comparison",
        paper="judging",
        title=f"Judges compared in pairs on {source}",
        finding=comparison_finding(pairs),
        rows=tuple(row for pair in pairs for row in pair_rows(pair, source, alone=len(pairs) == 1)),
        notes=(
            "The difference is the first judge's share of gold labels given less the second's, over the items asked of "
            "both; an item without an answer counts as wrong.",
            "Items needed: to find this difference at the level 0.05 with a chance of 80%, if the judges go on to "
            "disagree as often as here (Connor 1987); one comparison, no adjustment.",
            *([f"Adjusted after Holm for {len(pairs)} pairs."] if len(pairs) > 1 else []),
        ),
    )


def pair_rows(pair: PairedJudges, source: str, *, alone: bool) -> list[Row]:
    """Return the rows of two judges; `alone` where no other pair is compared."""
    group, answered = f"{pair.a} against {pair.b}", pair.answered

    def row(quantity: str, estimate: Estimate, unit: Unit) -> Row:
        return estimate_row(quantity, estimate, unit, group, source)

    counts = {f"Only {pair.a} right": pair.only_a, f"Only {pair.b} right": pair.only_b}
    return [
        row(DIFFERENCE, pair.estimate, "difference"),
        row("p-value", Estimate(pair.p_value, n=pair.n, method=pair.test), "p"),
        *([] if alone else [row("p-value, adjusted for all pairs", Estimate(pair.p_adjusted, n=pair.n), "p")]),
        row("Difference where both answered", pair.where_answered, "difference"),
        row("p-value where both answered", Estimate(answered.p_value, n=answered.n), "p"),
        *(row(name, Estimate(count, n=pair.n), "count") for name, count in counts.items()),
        row("Items needed to tell them apart", Estimate(pair.n_needed), "count"),
    ]


@made_by_this
def compared_runs_table(scored: Mapping[str, Scores], source: str) -> Table:
    """Return the runs that are compared, each by itself: accuracy, kappa, cost and time."""
    return Table(
        name="compared_runs",
        paper="judging",
        title=f"The runs by themselves on {source}",
        finding=beside_constant(scored),
        rows=tuple(row for name, scores in scored.items() for row in _run_rows(name, scores, source)),
        notes=("Each run counts all items that it judged; cost and seconds are totals of the recorded values.",),
    )


def _run_rows(name: str, scores: Scores, source: str) -> list[Row]:
    figures: tuple[tuple[str, Estimate, Unit], ...] = (
        ("Accuracy, unanswered wrong", scores.accuracy_all, "share"),
        ("Accuracy of the answered", scores.accuracy, "share"),
        ("Cohen's kappa", scores.cohen_kappa, "coefficient"),
        ("Cost", _total("cost", scores.cost_usd, scores.reported["cost_usd"]), "usd"),
        ("Seconds", _total("time", scores.seconds, scores.reported["seconds"]), "seconds"),
    )
    return [estimate_row(quantity, estimate, unit, name, source) for quantity, estimate, unit in figures]


def _total(what: str, value: float | None, reported: int) -> Estimate:
    return Estimate(value, n=reported or None, reason="" if reported else f"no {what} is on record")

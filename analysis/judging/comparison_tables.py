"""A comparison of judges as sentences and tables."""

from collections.abc import Mapping, Sequence

from analysis.formatting import counted_text, number_text
from analysis.judging.comparison import PairedJudges
from analysis.judging.rows import interval_words, with_interval
from analysis.judging.scores import Scores
from analysis.stats.estimate import Estimate
from analysis.tables import Row, Table, Unit, estimate_row, made_by_this

_LEVEL = 0.05


def pair_sentence(pair: PairedJudges) -> str:
    """What the comparison of two judges found, in one sentence with its interval."""
    if pair.difference is None:
        return f"{pair.a} and {pair.b} cannot be compared: {pair.reason}."
    of = f"of {counted_text(pair.n, 'item')}"
    tested = _tested(pair)
    if pair.difference == 0:
        told = f"{pair.a} and {pair.b} give the gold label equally often {of}{_interval(pair)}"
        return f"{told}; {tested}{_where_both_answered(pair)}."
    ahead, behind = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
    told = (
        f"{ahead} gives the gold label on {_points(pair.difference)} more {of} than {behind}{_interval(pair)}; {tested}"
    )
    needed = f"about {counted_text(pair.n_needed or 0, 'item')} tell them apart"
    return f"{told}; at this rate of disagreement {needed}{_where_both_answered(pair)}."


def _points(difference: float) -> str:
    return f"{number_text(abs(difference), 'share').removesuffix('%')} points"


def _where_both_answered(pair: PairedJudges) -> str:
    """What of the difference is left over the items that both answered, where those are fewer."""
    answered = pair.answered
    if answered.n == pair.n:
        return ""
    if answered.difference is None:
        return "; they answered no item in common"
    if answered.difference == 0:
        return f"; on the {answered.n:,} that both answered they do equally well"
    ahead = pair.a if answered.difference > 0 else pair.b
    return f"; on the {answered.n:,} that both answered {ahead} leads by {_points(answered.difference)}"


def _interval(pair: PairedJudges) -> str:
    low, high = pair.low, pair.high
    if (pair.difference or 0) < 0:
        low, high = (None if end is None else -end for end in (high, low))
    return f" ({interval_words(low, high, 'difference')})"


def _tested(pair: PairedJudges) -> str:
    if pair.p_value is None:
        return "there is no test"
    p = f"p {number_text(pair.p_value, 'p')}"
    return p if pair.p_adjusted == pair.p_value else f"{p}, adjusted {number_text(pair.p_adjusted, 'p')}"


def comparison_finding(pairs: Sequence[PairedJudges]) -> str:
    """What the comparison of some judges found: of two the sentence, of more how many pairs differ, and the widest."""
    if len(pairs) == 1:
        return pair_sentence(pairs[0])
    apart = sum(pair.p_adjusted is not None and pair.p_adjusted <= _LEVEL for pair in pairs)
    told = f"{apart} of {len(pairs)} pairs of judges differ at the level {_LEVEL:g} after Holm's adjustment"
    known = [pair for pair in pairs if pair.difference is not None]
    if not known:
        return f"{told}."
    return f"{told}. The widest apart: {pair_sentence(max(known, key=_distance))}"


def _distance(pair: PairedJudges) -> float:
    return abs(pair.difference or 0.0)


@made_by_this
def comparison_table(pairs: Sequence[PairedJudges], source: str) -> Table:
    """Judges compared in pairs on the same items.

    Parameters
    ----------
    pairs
        The pairs, their p-values adjusted for all of them.
    source
        What they were compared on.
    """
    return Table(
        name="comparison",
        paper="judging",
        title=f"Judges compared in pairs on {source}",
        finding=comparison_finding(pairs),
        rows=tuple(row for pair in pairs for row in _rows(pair, source, alone=len(pairs) == 1)),
        notes=(
            "The difference is the first judge's share of gold labels given less the second's, over the items asked of "
            "both; an item without an answer counts as wrong.",
            "Items needed: to find this difference at the level 0.05 with a chance of 80%, if the judges go on to "
            "disagree as often as here (Connor 1987); one comparison, no adjustment.",
            *([f"Adjusted after Holm for {len(pairs)} pairs."] if len(pairs) > 1 else []),
        ),
    )


def _rows(pair: PairedJudges, source: str, *, alone: bool) -> list[Row]:
    group, answered = f"{pair.a} against {pair.b}", pair.answered

    def row(quantity: str, estimate: Estimate, unit: Unit) -> Row:
        return estimate_row(quantity, estimate, unit, group, source)

    counts = {f"Only {pair.a} right": pair.only_a, f"Only {pair.b} right": pair.only_b}
    difference = Estimate(pair.difference, pair.low, pair.high, pair.n, pair.method, pair.reason)
    over_answered = Estimate(answered.difference, answered.low, answered.high, answered.n, pair.method, answered.reason)
    return [
        row("Difference, unanswered counted as wrong", difference, "difference"),
        row("p-value", Estimate(pair.p_value, n=pair.n, method=pair.test), "p"),
        *([] if alone else [row("p-value, adjusted for all pairs", Estimate(pair.p_adjusted, n=pair.n), "p")]),
        row("Difference where both answered", over_answered, "difference"),
        row("p-value where both answered", Estimate(answered.p_value, n=answered.n), "p"),
        *(row(name, Estimate(count, n=pair.n), "count") for name, count in counts.items()),
        row("Items needed to tell them apart", Estimate(pair.n_needed), "count"),
    ]


@made_by_this
def compared_runs_table(scored: Mapping[str, Scores], source: str) -> Table:
    """The runs that are compared, each by itself: accuracy, kappa, cost and time.

    Parameters
    ----------
    scored
        Name of a run → its scores.
    source
        What they were measured on.
    """
    return Table(
        name="compared_runs",
        paper="judging",
        title=f"The runs by themselves on {source}",
        finding=_runs_finding(scored, source),
        rows=tuple(row for name, scores in scored.items() for row in _run_rows(name, scores, source)),
        notes=(
            "Each run over all the items that it was asked about; cost and seconds are totals of what is on record.",
        ),
    )


def _runs_finding(scored: Mapping[str, Scores], source: str) -> str:
    known = {name: one.accuracy_all for name, one in scored.items() if one.accuracy_all.value is not None}
    if not known:
        return f"No judge has an accuracy on {source}."
    most = max(accuracy.value or 0.0 for accuracy in known.values())
    best = [name for name, accuracy in known.items() if accuracy.value == most]
    told = with_interval(known[best[0]], "share")
    if len(best) == 1:
        return f"{best[0]} gives the gold label most often: on {told}."
    others = f"{', '.join(best[:-1])} and {best[-1]}"
    return f"{others} give the gold label equally often, and none more often: {best[0]} on {told}."


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

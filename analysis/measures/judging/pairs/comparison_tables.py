"""A comparison of judges as sentences and tables."""

from collections.abc import Mapping, Sequence

from misstep.analysis.measures.judging.pairs.comparison import LEVEL, PairedJudges
from misstep.analysis.measures.judging.rows import judging_table
from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.measures.judging.wording import beside_constant, ranking, unanswered_text
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Fields, Row, Table, Unit, made_by_this, rows_from, rows_of
from misstep.analysis.tables.wording import (
    counted_text,
    interval_words,
    number_text,
    p_text,
    points_text,
)

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


def best_of(scored: Mapping[str, Scores], pairs: Sequence[PairedJudges]) -> str:
    """Return which of several runs on one benchmark is best, beside no judge at all, and whether the next differs."""
    sentence = beside_constant(scored)
    best, following = ranking(scored)[:2]
    if scored[best].accuracy_all.value is None:
        return sentence
    pair = next((one for one in pairs if {one.a, one.b} == {best, following}), None)
    if pair is None or pair.difference is None or pair.p_adjusted is None:
        return f"{sentence} {best} cannot be compared with the next, {following}."
    by = _told(pair.estimate if pair.a == best else pair.estimate.negated(), pair.p_adjusted)
    apart = "is clearly better than" if pair.apart else "is not clearly better than"
    return f"{sentence} {best} {apart} the next, {following}: {by}.{_apart_from_unanswered(scored, pair, best)}"


def pair_sentence(pair: PairedJudges) -> str:
    """Return what the comparison of two judges found, with its interval and its test."""
    if pair.difference is None:
        return f"{pair.a} and {pair.b} cannot be compared: {pair.reason}."
    of = f"of {counted_text(pair.n, 'item')}"
    if pair.difference == 0:
        sentence = f"{pair.a} and {pair.b} give the gold label equally often {of}"
        return f"{sentence} ({_interval(pair.estimate)}); {_test_words(pair)}{_where_both_answered(pair)}."
    ahead, behind, first_leads = pair.leader()
    difference = pair.estimate if first_leads else pair.estimate.negated()
    sentence = f"{ahead} gives the gold label on {points_text(pair.difference)} more {of} than {behind}"
    sentence += f" ({_interval(difference)}); {_test_words(pair)}{_where_both_answered(pair)}"
    return f"{sentence}. At this rate of disagreement about {counted_text(pair.n_needed or 0, 'item')} tell them apart."


def _apart_from_unanswered(scored: Mapping[str, Scores], pair: PairedJudges, best: str) -> str:
    """What is left of a difference where both answered, in a sentence of its own; empty where both answered all."""
    answered = pair.where_answered
    if answered.n == pair.n:
        return ""
    counts = {name: unanswered_text(scored[name]) for name in (pair.a, pair.b)}
    counted = "; ".join(f"{name}: {count}" for name, count in counts.items() if count)
    wrong = f" Unanswered items count as wrong there ({counted})"
    if answered.value is None:
        return f"{wrong}; no item was answered by both."
    by = _told(answered if pair.a == best else answered.negated(), pair.answered.p_value)
    return f"{wrong}; over the {counted_text(pair.answered.n, 'item')} that both answered the difference is {by}."


def _told(difference: Estimate, p: float | None) -> str:
    text = f"{number_text(difference.value, 'difference')}, {_interval(difference)}"
    return text if p is None else f"{text}, {p_text(p, p)}"


def _interval(difference: Estimate) -> str:
    return interval_words(difference.low, difference.high, "difference")


def _where_both_answered(pair: PairedJudges) -> str:
    answered, p = pair.where_answered, pair.answered.p_value
    if answered.n == pair.n:
        return ""
    counted = ". Items without an answer count as wrong"
    if answered.value is None:
        return f"{counted}, and they answered no item in common"
    if answered.value == 0:
        return f"{counted}; on the {answered.n:,} that both answered they do equally well"
    ahead, seen = (pair.a, answered) if answered.value > 0 else (pair.b, answered.negated())
    tested = "" if p is None else f", {p_text(p, p)}"
    leads = f"{ahead} leads by {points_text(answered.value)} ({_interval(seen)}{tested})"
    return f"{counted}; on the {answered.n:,} that both answered {leads}"


def _test_words(pair: PairedJudges) -> str:
    return "there is no test" if pair.p_value is None else p_text(pair.p_value, pair.p_adjusted)

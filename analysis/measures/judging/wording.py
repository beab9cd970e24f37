"""What scores of judges come to, in sentences: the one place that makes them for pages, tables and the terminal."""

from collections.abc import Mapping, Sequence

from misstep.analysis.measures.judging.pairs.comparison import PairedJudges
from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables.wording import (
    counted_text,
    interval_words,
    number_text,
    p_text,
    points_text,
    with_interval,
)
from misstep.harness.verdict import UNANSWERED

_BELOW = frozenset({"less often than", "no more often than"})
_NAMED = 3
"""Runs that a sentence names one by one."""


def headline(scores: Scores) -> str:
    """What one run found, beside always giving one label: over all items, and over the answered where some are not."""
    accuracy = scores.accuracy_all
    if scores.accuracy.value is None:
        without = f"; {_no_gold(scores)}" if _no_gold(scores) else ""
        of = f"{scores.benchmark} ({scores.answered:,} of {counted_text(scores.n, 'item')} answered{without})"
        return f"{scores.judge} has no accuracy on {of}: {scores.accuracy.reason}."
    gives = f"{scores.judge} gives the gold label on {with_interval(accuracy, 'share')} of {_items(scores)}"
    gives += f" ({_no_gold(scores)})" if _no_gold(scores) else ""
    standing = _standing(scores)
    if standing in _BELOW:
        gives = f"{standing.capitalize()} {_constant(scores)}, {gives}"
    elif standing:
        gives += f"; that is {standing} {_constant(scores)}"
    if scores.answered == scores.n:
        return f"{gives}."
    return f"{gives}. Unanswered items ({unanswered_text(scores)}) count as wrong. {_over_answered(scores)}."


def beside_constant(scored: Mapping[str, Scores]) -> str:
    """Return how often the best of some runs is right, and which are no better than always giving one label."""
    ranked = ranking(scored)
    best = ranked[0]
    first = scored[best]
    if first.accuracy_all.value is None:
        return f"No run has an accuracy on {first.benchmark}: {first.accuracy_all.reason}."
    below = [name for name in ranked if _standing(scored[name]) in _BELOW]
    if len(below) == len(ranked):
        named = ", ".join(f"{name} on {with_interval(scored[name].accuracy_all, 'share')}" for name in ranked[:_NAMED])
        none = "Neither" if len(ranked) == 2 else "None"
        return (
            f"{none} of the {len(ranked)} runs gives the gold label more often than {_constant(first)} on "
            f"{_items(first)}: {named}."
        )
    level = [name for name in ranked[1:] if scored[name].accuracy_all.value == first.accuracy_all.value]
    ahead = (
        f"No run gives the gold label more often than {best}" if level else f"{best} gives the gold label most often"
    )
    sentence = f"{ahead}: on {with_interval(first.accuracy_all, 'share')} of {_items(first)}"
    standing = _standing(first)
    sentence += f", {standing} {_constant(first)}." if standing else "."
    if not below:
        return sentence
    worst = ", ".join(f"{name} ({number_text(scored[name].accuracy_all.value, 'share')})" for name in below[:_NAMED])
    others = f" and {len(below) - _NAMED} more" if len(below) > _NAMED else ""
    return f"Always giving the most frequent label is right at least as often as {worst}{others}. {sentence}"


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


def best_per_benchmark(scored: Sequence[Mapping[str, Scores]]) -> str:
    """How often the best run on each benchmark gives the gold label, beside one label alone, the lowest first."""
    best = [max(runs.values(), key=_accuracy) for runs in scored]
    parts = [_part(scores) for scores in sorted(best, key=_accuracy)]
    return f"The best runs give the gold label on {'; on '.join(parts)}. Unanswered items count as wrong."


def pair_sentence(pair: PairedJudges) -> str:
    """Return what the comparison of two judges found, with its interval and its test."""
    if pair.difference is None:
        return f"{pair.a} and {pair.b} cannot be compared: {pair.reason}."
    of = f"of {counted_text(pair.n, 'item')}"
    if pair.difference == 0:
        sentence = f"{pair.a} and {pair.b} give the gold label equally often {of}"
        return f"{sentence} ({_interval(pair.estimate)}); {_tested(pair)}{_where_both_answered(pair)}."
    ahead, behind, first_leads = pair.leader()
    difference = pair.estimate if first_leads else pair.estimate.negated()
    sentence = f"{ahead} gives the gold label on {points_text(pair.difference)} more {of} than {behind}"
    sentence += f" ({_interval(difference)}); {_tested(pair)}{_where_both_answered(pair)}"
    return f"{sentence}. At this rate of disagreement about {counted_text(pair.n_needed or 0, 'item')} tell them apart."


def unanswered_text(scores: Scores) -> str:
    """Return how many items have no answer, by what became of them; empty where all have one."""
    counts = {status: getattr(scores, status) for status in UNANSWERED}
    return ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)


def ranking(scored: Mapping[str, Scores]) -> list[str]:
    """Return the runs, the one that gives the gold label most often first."""
    return sorted(scored, key=lambda name: -_accuracy(scored[name]))


def _accuracy(scores: Scores) -> float:
    """Return what runs are ranked by: a run without an accuracy comes after one that is never right."""
    return -1.0 if scores.accuracy_all.value is None else scores.accuracy_all.value


def _standing(scores: Scores) -> str:
    accuracy, constant = scores.accuracy_all, scores.majority_share.value
    if accuracy.value is None or constant is None:
        return ""
    if accuracy.value <= constant:
        return "less often than" if accuracy.high is not None and accuracy.high < constant else "no more often than"
    return "more often than" if accuracy.low is not None and accuracy.low > constant else "not clearly more often than"


def _constant(scores: Scores) -> str:
    return f"always saying “{scores.majority_label}” would ({number_text(scores.majority_share.value, 'share')})"


def _items(scores: Scores) -> str:
    counted = counted_text(scores.accuracy_all.n or 0, "item")
    return f"{counted} of {scores.benchmark}" if scores.benchmark else counted


def _no_gold(scores: Scores) -> str:
    without = scores.tied + scores.unlabelled
    return f"{without:,} without a gold label left out" if without else ""


def _over_answered(scores: Scores) -> str:
    sentence = f"Of the {scores.accuracy.n or 0:,} answered it is right on {with_interval(scores.accuracy, 'share')}"
    matrix = scores.confusion
    if scores.majority_label not in matrix.labels or not scores.accuracy.n:
        return sentence
    place = matrix.labels.index(scores.majority_label)
    share = (sum(matrix.matrix[place]) + matrix.unknown[place]) / scores.accuracy.n
    return f"{sentence}; “{scores.majority_label}” alone would be right on {number_text(share, 'share')}"


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


def _tested(pair: PairedJudges) -> str:
    return "there is no test" if pair.p_value is None else p_text(pair.p_value, pair.p_adjusted)


def _part(scores: Scores) -> str:
    accuracy = scores.accuracy_all
    if accuracy.value is None:
        return f"no known share of {scores.benchmark} ({accuracy.reason})"
    standing = _standing(scores)
    interval = interval_words(accuracy.low, accuracy.high, "share")
    text = f"{number_text(accuracy.value, 'share')} of {scores.benchmark} ({interval})"
    return f"{text}, {standing} {_constant(scores)}" if standing else text

"""What scores of judges come to, in sentences: the one place that makes them for pages, tables and the terminal."""

from collections.abc import Mapping, Sequence

from misstep.analysis.measures.judging.scores import Scores
from misstep.analysis.tables.wording import (
    counted_text,
    interval_words,
    number_text,
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


def best_per_benchmark(scored: Sequence[Mapping[str, Scores]]) -> str:
    """How often the best run on each benchmark gives the gold label, beside one label alone, the lowest first."""
    best = [max(runs.values(), key=_accuracy) for runs in scored]
    parts = [_part(scores) for scores in sorted(best, key=_accuracy)]
    return f"The best runs give the gold label on {'; on '.join(parts)}. Unanswered items count as wrong."


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


def _part(scores: Scores) -> str:
    accuracy = scores.accuracy_all
    if accuracy.value is None:
        return f"no known share of {scores.benchmark} ({accuracy.reason})"
    standing = _standing(scores)
    interval = interval_words(accuracy.low, accuracy.high, "share")
    text = f"{number_text(accuracy.value, 'share')} of {scores.benchmark} ({interval})"
    return f"{text}, {standing} {_constant(scores)}" if standing else text

"""What several runs of judges found together, in a sentence."""

from collections.abc import Mapping, Sequence

from analysis.formatting import counted_text, number_text
from analysis.judging.comparison import PairedJudges
from analysis.judging.rows import interval_words, with_interval
from analysis.judging.scores import Scores

_LEVEL = 0.05


def best_of(scored: Mapping[str, Scores], pairs: Sequence[PairedJudges]) -> str:
    """Which of several runs on one benchmark is best, and whether it can be told apart from the next.

    Parameters
    ----------
    scored
        Name of a run → its scores; an unanswered item counts as wrong.
    pairs
        The runs compared in pairs.
    """
    ranked = sorted(scored, key=lambda name: -_accuracy(scored[name]))
    best, following = ranked[:2]
    accuracy = scored[best].accuracy_all
    if accuracy.value is None:
        return f"No run has an accuracy: {accuracy.reason}."
    level = scored[following].accuracy_all.value == accuracy.value
    ahead = (
        f"No run gives the gold label more often than {best}" if level else f"{best} gives the gold label most often"
    )
    items = f"{counted_text(accuracy.n or 0, 'item')} of {scored[best].benchmark}"
    told = f"{ahead}: on {with_interval(accuracy, 'share')} of {items}"
    pair = next((one for one in pairs if {one.a, one.b} == {best, following}), None)
    if pair is None or pair.difference is None or pair.p_adjusted is None:
        return f"{told}; it cannot be compared with the next, {following}."
    sign = 1 if pair.a == best else -1
    ends = sorted(sign * end for end in (pair.low, pair.high) if end is not None)
    low, high = ends if len(ends) == 2 else (None, None)
    by = f"{number_text(sign * pair.difference, 'difference')}, {interval_words(low, high, 'difference')}"
    apart = "is told apart" if pair.p_adjusted <= _LEVEL else "cannot be told apart"
    return f"{told}. It {apart} from the next, {following}: {by}, p {number_text(pair.p_adjusted, 'p')}."


def best_per_benchmark(scored: Sequence[Mapping[str, Scores]]) -> str:
    """How often the best run on each benchmark gives the gold label, the lowest first.

    Parameters
    ----------
    scored
        For each benchmark, name of a run → its scores.
    """
    best = [max(runs.values(), key=_accuracy) for runs in scored]
    parts = [_part(scores) for scores in sorted(best, key=_accuracy)]
    return f"The best runs give the gold label on {', '.join(parts[:-1])} and {parts[-1]}, unanswered counted as wrong."


def _accuracy(scores: Scores) -> float:
    """What runs are ranked by: a run without an accuracy comes after one that is never right."""
    return -1.0 if scores.accuracy_all.value is None else scores.accuracy_all.value


def _part(scores: Scores) -> str:
    accuracy = scores.accuracy_all
    if accuracy.value is None:
        return f"no known share of {scores.benchmark} ({accuracy.reason})"
    interval = interval_words(accuracy.low, accuracy.high, "share")
    return f"{number_text(accuracy.value, 'share')} of {scores.benchmark} ({interval})"

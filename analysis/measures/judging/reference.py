"""What a judge is held against: the label that most raters gave an item, and what each rater gave."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from misstep.analysis.gold import BenchmarkItem, GoldLabel
from misstep.harness.errors import InputError, UsageError


class Reference(Struct, frozen=True):
    """The gold labels of a benchmark.

    - `label_of`: Item → the label of the majority.
    - `tied`: The items on which no label has a majority over all others.
    """

    label_of: dict[str, str]
    tied: frozenset[str]
    by_rater: dict[str, dict[str, str]]


def majority(gold: Iterable[GoldLabel], raters: Sequence[str] = ()) -> Reference:
    """Return the gold label of each item: the one that most raters gave."""
    by_rater: dict[str, dict[str, str]] = {}
    for row in gold:
        labels = by_rater.setdefault(row.rater, {})
        if row.item in labels:
            raise InputError(
                f"{row.rater!r} labels {row.item!r} twice", "Keep one row for each item and rater.", file="gold.csv"
            )
        labels[row.item] = row.label
    unknown = [rater for rater in raters if rater not in by_rater]
    if unknown:
        raise UsageError(f"there are no labels by {', '.join(unknown)}", f"Raters: {', '.join(by_rater) or 'none'}.")
    counted = {rater: labels for rater, labels in by_rater.items() if not raters or rater in raters}
    votes: dict[str, Counter[str]] = {}
    for labels in counted.values():
        for item, label in labels.items():
            votes.setdefault(item, Counter())[label] += 1
    winners = {item: _most_frequent(counts) for item, counts in votes.items()}
    return Reference(
        {item: labels[0] for item, labels in winners.items() if len(labels) == 1},
        frozenset(item for item, labels in winners.items() if len(labels) > 1),
        counted,
    )


def _most_frequent(counts: Counter[str]) -> list[str]:
    most = max(counts.values())
    return [label for label, count in counts.items() if count == most]


def clusters_of(items: Iterable[BenchmarkItem]) -> dict[str, str]:
    """Item → what it hangs together with: items about one run are not independent of each other.

    The run is `trajectory_id`, or the file where an item names a step in it and no run of it; where an item is about
    no run, `extra` may name its `cluster`. An item without any of these stands for itself.
    """
    return {item.id: _cluster(item) for item in items}


def _cluster(item: BenchmarkItem) -> str:
    if item.trajectory_id is not None:
        return f"run {item.trajectory_id}"
    if isinstance(item.trajectory, str) and item.step is not None:
        return f"file {item.trajectory}"
    named = item.extra.get("cluster")
    return f"item {item.id}" if named is None else f"cluster {named}"

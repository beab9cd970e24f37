"""A run's verdicts beside people's labels, as codes: what every question about a judge starts from."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import multimode
from typing import Literal

import numpy as np
from msgspec import Struct

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.judging.units import BoolArray, JudgedUnits, units_of
from misstep_analysis.stats.raters.patterns import MISSING, IntArray
from misstep_harness.errors import InputError, UsageError
from misstep_harness.verdict import Verdict

Level = Literal["nominal", "ordinal", "interval"]


class Reference(Struct, frozen=True):
    """The gold labels of a benchmark.

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
        raise UsageError(f"no labels by {', '.join(unknown)}", f"Raters: {', '.join(by_rater) or 'none'}.")
    counted = {rater: labels for rater, labels in by_rater.items() if not raters or rater in raters}
    votes: dict[str, list[str]] = {}
    for labels in counted.values():
        for item, label in labels.items():
            votes.setdefault(item, []).append(label)
    winners = {item: labels if len(labels) == 1 else multimode(labels) for item, labels in votes.items()}
    return Reference(
        {item: labels[0] for item, labels in winners.items() if len(labels) == 1},
        frozenset(item for item, labels in winners.items() if len(labels) > 1),
        counted,
    )


def clusters_of(items: Iterable[BenchmarkItem]) -> dict[str, str]:
    """Item → what it hangs together with: items about one run are not independent of each other.

    The run is `trajectory_id`, or the file where an item names a step in it and no run of it; where an item is about
    no run, `extra` may name its `cluster`. An item without any of these stands for itself.
    """
    clusters = {}
    for item in items:
        named = item.extra.get("cluster")
        clusters[item.id] = f"item {item.id}" if named is None else f"cluster {named}"
        if item.trajectory_id is not None:
            clusters[item.id] = f"run {item.trajectory_id}"
        elif isinstance(item.trajectory, str) and item.step is not None:
            clusters[item.id] = f"file {item.trajectory}"
    return clusters


class Codes(Struct, frozen=True):
    """The labels as codes: those of the benchmark first, then any other answer, then no answer."""

    labels: tuple[str, ...]

    @property
    def unknown(self) -> int:
        """Return the code of an answer that is none of the labels."""
        return len(self.labels)

    @property
    def unanswered(self) -> int:
        """Return the code of a missing answer."""
        return len(self.labels) + 1

    @property
    def places(self) -> dict[str, int]:
        """Label → code."""
        return {label: place for place, label in enumerate(self.labels)}

    def of(self, verdicts: Iterable[Verdict]) -> list[int]:
        """Return the code of each verdict."""
        places = self.places
        return [
            self.unanswered if verdict.label is None else places.get(verdict.label, self.unknown)
            for verdict in verdicts
        ]


class JudgedSample(Struct, frozen=True):
    """The items asked, with the answer and people's labels of each.

    - `answers`, `gold`: Items: the code of the answer, and of the gold label, `MISSING` if there is none.
    - `ratings`: Ratings x (item, rater, label): each label that a rater gave to an item asked.
    """

    verdicts: tuple[Verdict, ...]
    codes: Codes
    answers: IntArray
    gold: IntArray
    raters: tuple[str, ...]
    ratings: IntArray
    units: JudgedUnits
    positive: str = ""
    level: Level = "nominal"

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the benchmark's labels."""
        return self.codes.labels

    @property
    def answered(self) -> BoolArray:
        """Items: whether there is an answer, one of the labels or not."""
        return np.asarray(self.answers != self.codes.unanswered)

    @property
    def known(self) -> BoolArray:
        """Items: whether there is a gold label."""
        return np.asarray(self.gold != MISSING)

    @property
    def right(self) -> BoolArray:
        """Items: whether the answer is the gold label."""
        return np.asarray(self.known & (self.answers == self.gold))

    def label_counts(self) -> IntArray:
        """Items x labels: how many raters gave each label."""
        counts = np.zeros((len(self.verdicts), len(self.labels)), dtype=np.int64)
        np.add.at(counts, (self.ratings[:, 0], self.ratings[:, 2]), 1)
        return counts


def judged_sample(
    verdicts: Iterable[Verdict],
    gold: Iterable[GoldLabel],
    labels: Sequence[str] = (),
    *,
    clusters: Mapping[str, str] | None = None,
    positive: str = "",
    level: Level = "nominal",
) -> JudgedSample:
    """Return the verdicts of one run beside people's labels."""
    verdict_of = one_an_item(verdicts)
    reference = majority(gold)
    codes = codes_of(reference, labels)
    places, rows = codes.places, {item: row for row, item in enumerate(verdict_of)}
    label_of = reference.label_of
    ratings = [
        (rows[item], rater, places[label])
        for rater, labels_by_item in enumerate(reference.by_rater.values())
        for item, label in labels_by_item.items()
        if item in rows
    ]
    return JudgedSample(
        tuple(verdict_of.values()),
        codes,
        np.array(codes.of(verdict_of.values()), dtype=np.int64),
        np.array([places[label_of[item]] if item in label_of else MISSING for item in verdict_of], dtype=np.int64),
        tuple(reference.by_rater),
        np.array(ratings, dtype=np.int64).reshape(-1, 3),
        units_of(list(verdict_of), clusters),
        positive,
        level,
    )


def one_an_item(verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    """Item → its verdict: of several attempts the last, where all before it failed."""
    verdict_of: dict[str, Verdict] = {}
    for verdict in verdicts:
        earlier = verdict_of.get(verdict.item)
        if earlier is not None and earlier.status != "failed":
            raise UsageError(f"the item {verdict.item!r} has two verdicts", "Score the run of one judge at a time.")
        verdict_of[verdict.item] = verdict
    return verdict_of


def codes_of(reference: Reference, labels: Sequence[str]) -> Codes:
    """Return the codes of the labels, or of those that people gave where a benchmark has no labels of its own."""
    given_by_people = {label for labels_by_item in reference.by_rater.values() for label in labels_by_item.values()}
    codes = Codes(tuple(labels) or tuple(sorted(given_by_people)))
    known = set(codes.labels)
    for rater, labels_by_item in reference.by_rater.items():
        if known.issuperset(labels_by_item.values()):
            continue
        item, label = next((item, label) for item, label in labels_by_item.items() if label not in known)
        message = f"{rater!r} labelled {item!r} {label!r}, which is none of {', '.join(codes.labels)}"
        raise InputError(message, "Name every label in benchmark.toml.", file="gold.csv")
    return codes

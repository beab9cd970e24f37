"""Public sets whose items several people labelled, with their agreement, from their facts."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from misstep_analysis.agreement import agreement_report
from misstep_analysis.labels import Labels, ScaleLevel, read_labels
from misstep_analysis.reproduction.recorded.classified import seed, version
from misstep_analysis.stats.raters.patterns import MISSING
from misstep_analysis.triage.paper.agreement import RatedSet
from misstep_harness.benchmarks.folders import benchmark_folder
from misstep_harness.datasets.facts import Facts, from_recorded
from misstep_harness.places import path_text

_RATED: tuple[tuple[str, str, ScaleLevel], ...] = (
    ("mast", "MAST: failure modes in multi-agent traces", "nominal"),
    ("judge_bench_raters-dices_350_crowdsourced", "DICES-350: is a reply safe", "nominal"),
    ("judge_bench_raters-inferential_strategies", "Inferential strategies: is the reasoning sound", "nominal"),
    ("judge_bench_raters-newsroom-informativeness", "Newsroom: informativeness, 1 to 5", "ordinal"),
    ("judge_bench_raters-newsroom-relevance", "Newsroom: relevance, 1 to 5", "ordinal"),
    ("judge_bench_raters-newsroom-fluency", "Newsroom: fluency, 1 to 5", "ordinal"),
    ("judge_bench_raters-newsroom-coherence", "Newsroom: coherence, 1 to 5", "ordinal"),
)
"""Benchmark with labels of several raters, its title, what alpha takes the labels for."""

_DATASETS = tuple(dict.fromkeys(name.partition("-")[0] for name, _, _ in _RATED))
_NONE = "-"


class Scale(Struct, frozen=True):
    """The raters of a benchmark and the labels in use, in order and apart by spaces."""

    benchmark: str
    raters: str
    categories: str


class Ratings(Struct, frozen=True):
    """The label that each rater gave an item, in the order of the raters; a dash for none."""

    benchmark: str
    item: str
    labels: str


def _measured(dataset: str, folder: Path) -> Iterator[tuple[str, Labels]]:
    for name, _, level in _RATED:
        if name.partition("-")[0] == dataset:
            yield name, read_labels(benchmark_folder(name, folder.parent) / "gold.csv", level=level)


def _scales(dataset: str, folder: Path) -> Iterator[Scale]:
    for name, labels in _measured(dataset, folder):
        yield Scale(name, " ".join(labels.raters), " ".join(labels.categories))


def _ratings(dataset: str, folder: Path) -> Iterator[Ratings]:
    for name, labels in _measured(dataset, folder):
        named = {MISSING: _NONE} | dict(enumerate(labels.categories))
        for item, codes in zip(labels.items, labels.codes.tolist(), strict=True):
            yield Ratings(name, item, " ".join(named[code] for code in codes))


_SCALES = {name: Facts(name, "scales", Scale, partial(_scales, name)) for name in _DATASETS}
_RATINGS = {name: Facts(name, "ratings", Ratings, partial(_ratings, name)) for name in _DATASETS}
FACTS: tuple[Facts[Any], ...] = (*_SCALES.values(), *_RATINGS.values())
"""The tables that these sets are read from."""


def rated_sets(resamples: int = 10_000) -> list[RatedSet]:
    """Return the public sets whose items several raters labelled, with their agreement."""
    scales = {row.benchmark: row for one in _SCALES.values() for row in one.rows()}
    rows: dict[str, list[Ratings]] = {name: [] for name in scales}
    for row in (row for one in _RATINGS.values() for row in one.rows()):
        rows[row.benchmark].append(row)
    sets = []
    for name, title, level in _RATED:
        dataset = name.partition("-")[0]
        labels = _labels(scales[name], rows[name], _RATINGS[dataset].file)
        report = agreement_report(labels, level, resamples, seed())
        clusters = _clusters(labels) if dataset == "mast" else ()
        sets.append(RatedSet(title, dataset, version(dataset), labels, report, clusters))
    return sets


def notes() -> tuple[str, ...]:
    """Say which of these sets are not measured here."""
    return from_recorded(_DATASETS)


def _labels(scale: Scale, rows: Sequence[Ratings], file: Path) -> Labels:
    categories = scale.categories.split()
    code_of = {_NONE: MISSING} | {label: code for code, label in enumerate(categories)}
    return Labels(
        file=path_text(file),
        items=[row.item for row in rows],
        raters=scale.raters.split(),
        categories=categories,
        values=[float(label) for label in categories] if all(map(str.isdecimal, categories)) else [],
        codes=np.array([[code_of[label] for label in row.labels.split()] for row in rows]),
        remarks=[],
    )


def _clusters(labels: Labels) -> tuple[str, ...]:
    """Return the cluster of each item: runs of one round with the same labels throughout are copies, and so one."""
    runs = [tuple(item.rsplit("/", 2)[:2]) for item in labels.items]
    labels_of: dict[tuple[str, ...], list[Sequence[int]]] = {}
    for run, codes in zip(runs, labels.codes.tolist(), strict=True):
        labels_of.setdefault(run, []).append(codes)
    return tuple(f"{run[0]}: {labels_of[run]}" for run in runs)

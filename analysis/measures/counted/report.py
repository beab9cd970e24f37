"""Everything that whole counts can say, as one result: the JSON of `misstep merge FILE…`."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

import numpy as np
from msgspec import Struct

from misstep.analysis.labels import Reading
from misstep.analysis.labels.coding import counted_labels
from misstep.analysis.measures.agreement import AgreementReport, agreement_report
from misstep.analysis.measures.counted.judges import CountedJudge, counted_judges
from misstep.analysis.measures.passing.attempts import TaskCounts
from misstep.analysis.measures.passing.scores import AtK, Flicker, at_k, flicker
from misstep.analysis.measures.prevalence import Labels, Prevalence, prevalence
from misstep.analysis.stats.binned_quantiles import binned_quantile
from misstep.harness.errors import InputError
from misstep.harness.evidence import Evidence, together
from misstep.harness.records.whole_counts import TIME_EDGES, CategorySet, Counts, TaskAttempts, TimeBin

SHARES = (0.5, 0.9, 0.99)
"""The quantiles of times that are shown."""

Kind = TypeVar("Kind", TaskAttempts, TimeBin)


class CountedSystem(Struct, frozen=True):
    """One system; fields ending in `_all` count the attempts without an outcome as failed.

    A task with fewer than k attempts has no pass@k: `n_tasks` of each k says how many have one.
    """

    system: str
    evidence: Evidence
    n_tasks: int
    n_attempts: int
    answered: int
    at: tuple[AtK, ...]
    at_all: tuple[AtK, ...]
    flicker: Flicker
    flicker_all: Flicker


class TimeQuantile(Struct, frozen=True):
    """The seconds between which a quantile lies, and those between which its 95% interval lies.

    `None` is a bound that no edge gives: of times longer than the last edge.
    """

    share: float
    least: float
    below: float | None
    interval_least: float
    interval_below: float | None


class CountedTimes(Struct, frozen=True):
    """The answers of a judge whose time is known, and their quantiles."""

    judge: str
    n: int
    unknown: int
    quantiles: tuple[TimeQuantile, ...]


class CountedReport(Struct, frozen=True, omit_defaults=True):
    """The figures of each kind of count that there is.

    `strata` has what sessions are told apart by, and the prevalence in each stratum; `agreement` has a report a
    question, whose lists of items are empty: counts name none.
    """

    resamples: int
    seed: int
    sessions: Prevalence | None = None
    strata: dict[str, dict[str, Prevalence]] = {}
    sub_agents: Prevalence | None = None
    agreement: dict[str, AgreementReport] = {}
    judges: tuple[CountedJudge, ...] = ()
    systems: tuple[CountedSystem, ...] = ()
    times: tuple[CountedTimes, ...] = ()


def counted_report(
    counts: Counts,
    file: str,
    reading: Reading | None = None,
    ks: Sequence[int] = (1, 2, 4),
    resamples: int = 10_000,
    seed: int = 0,
) -> CountedReport:
    """Return the figures of all that was counted."""
    if counts == Counts():
        raise InputError("there is nothing counted", "Count files with `misstep count`.", file=file)
    how = reading or Reading()
    labels = counted_labels(counts.ratings, how, file)
    return CountedReport(
        resamples,
        seed,
        sessions=counted_prevalence(counts.sessions) if counts.sessions else None,
        strata=counted_strata(counts.sessions),
        sub_agents=counted_prevalence(counts.sub_agents) if counts.sub_agents else None,
        agreement={name: agreement_report(one, how.level, resamples, seed) for name, one in labels.items()},
        judges=counted_judges(counts, resamples, seed),
        systems=counted_systems(counts.tasks, ks, resamples, seed),
        times=counted_times(counts.times),
    )


def counted_prevalence(rows: Collection[CategorySet], categories: Sequence[str] = ()) -> Prevalence:
    """Return the counts and shares of each category and of any."""
    named = tuple(categories) or _categories_of(rows)
    patterns: Counter[Labels] = Counter()
    for kind in rows:
        label_of = dict.fromkeys(kind.found, "yes") | dict.fromkeys(kind.absent, "no")
        patterns[tuple(label_of.get(category) for category in named)] += kind.n
    return prevalence(named, patterns)


def counted_strata(rows: Collection[CategorySet]) -> dict[str, dict[str, Prevalence]]:
    """Return what sessions are told apart by → stratum → its prevalence; the strata with the most sessions first."""
    named = _categories_of(rows)
    strata: dict[str, dict[str, Prevalence]] = {}
    for by, stratum in sorted({(kind.by, kind.stratum) for kind in rows if kind.by}):
        own = [kind for kind in rows if (kind.by, kind.stratum) == (by, stratum)]
        strata.setdefault(by, {})[stratum] = counted_prevalence(own, named)
    return {by: dict(sorted(each.items(), key=lambda pair: -pair[1].n)) for by, each in strata.items()}


def _categories_of(rows: Collection[CategorySet]) -> tuple[str, ...]:
    return tuple(sorted({category for kind in rows for category in kind.categories}))


def _by_name(rows: Sequence[Kind], field: str) -> Iterator[tuple[str, list[Kind]]]:
    for name in sorted({getattr(kind, field) for kind in rows}):
        yield name, [kind for kind in rows if getattr(kind, field) == name]


def counted_systems(
    rows: Sequence[TaskAttempts], ks: Sequence[int], resamples: int = 10_000, seed: int = 0
) -> tuple[CountedSystem, ...]:
    """Return pass@k, pass^k and flicker of each system, in the order of their names."""
    return tuple(_system(name, own, ks, resamples, seed) for name, own in _by_name(rows, "system"))


def _system(name: str, rows: Sequence[TaskAttempts], ks: Sequence[int], resamples: int, seed: int) -> CountedSystem:
    kinds = [TaskCounts(kind.passed, kind.failed, kind.unanswered) for kind in rows]
    tasks = np.array([kind.n for kind in rows], dtype=np.int64)
    answered, every = [one.answered for one in kinds], [one.all for one in kinds]
    attempts, with_outcome = (
        sum(tried * kind.n for (tried, _), kind in zip(cells, rows, strict=True)) for cells in (every, answered)
    )
    return CountedSystem(
        name,
        together(kind.evidence for kind in rows),
        int(tasks.sum()),
        attempts,
        with_outcome,
        tuple(at_k(answered, k, resamples, seed, tasks) for k in ks),
        tuple(at_k(every, k, resamples, seed, tasks) for k in ks),
        flicker(answered, resamples, seed, tasks),
        flicker(every, resamples, seed, tasks),
    )


def counted_times(rows: Sequence[TimeBin]) -> tuple[CountedTimes, ...]:
    """Return the edges between which quantiles of the times of each judge lie, in the order of their names."""
    return tuple(_times(name, own) for name, own in _by_name(rows, "judge"))


def _times(judge: str, rows: Sequence[TimeBin]) -> CountedTimes:
    bins = np.zeros(len(TIME_EDGES) + 1, dtype=np.int64)
    for kind in rows:
        if kind.bin is not None:
            bins[kind.bin] += kind.n
    n, unknown = int(bins.sum()), sum(kind.n for kind in rows if kind.bin is None)
    quantiles = []
    for share in SHARES if n else ():
        one = binned_quantile(bins, share)
        edges = _edge(one.bin) or 0.0, _edge(one.bin + 1), _edge(one.first) or 0.0, _edge(one.last + 1)
        quantiles.append(TimeQuantile(share, *edges))
    return CountedTimes(judge, n, unknown, tuple(quantiles))


def _edge(place: int) -> float | None:
    return TIME_EDGES[place - 1] / 1e6 if 0 < place <= len(TIME_EDGES) else None

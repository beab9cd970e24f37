"""pass@k, pass^k and flicker from counted tasks: how many passed, failed and unanswered attempts each has."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.passing.attempts import Cell, TaskCounts
from misstep.analysis.measures.passing.scores import AtK, Flicker, at_k, flicker
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.harness.evidence import Evidence, together
from misstep.harness.records.whole_counts import TaskAttempts


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


def counted_systems(
    rows: Sequence[TaskAttempts], ks: Sequence[int], resamples: int = 10_000, seed: int = 0
) -> tuple[CountedSystem, ...]:
    """Return the figures of each system, in the order of their names."""
    return tuple(
        _system(name, [kind for kind in rows if kind.system == name], ks, resamples, seed)
        for name in sorted({kind.system for kind in rows})
    )


def _system(name: str, rows: Sequence[TaskAttempts], ks: Sequence[int], resamples: int, seed: int) -> CountedSystem:
    kinds = [TaskCounts(kind.passed, kind.failed, kind.unanswered) for kind in rows]
    tasks = np.array([kind.n for kind in rows], dtype=np.int64)
    answered, every = [one.answered for one in kinds], [one.all for one in kinds]
    return CountedSystem(
        name,
        together(kind.evidence for kind in rows),
        int(tasks.sum()),
        _attempts(every, tasks),
        _attempts(answered, tasks),
        tuple(at_k(answered, k, resamples, seed, tasks) for k in ks),
        tuple(at_k(every, k, resamples, seed, tasks) for k in ks),
        flicker(answered, resamples, seed, tasks),
        flicker(every, resamples, seed, tasks),
    )


def _attempts(cells: Sequence[Cell], tasks: IntArray) -> int:
    return sum(tried * n for (tried, _), n in zip(cells, tasks.tolist(), strict=True))

"""pass@k, pass^k and flicker of repeated attempts, and systems compared on the same tasks.

Attempts at one task are not independent trials: an interval resamples tasks, and where each task gives 0 or 1 it is
Wilson's. `_all` counts attempts without an outcome as failed. A task with fewer than k attempts has no pass@k.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from misstep_analysis.passing.attempts import PassAttempts, SystemAttempts, Unanswered
from misstep_analysis.passing.paired_systems import Cell, PairedSystems, compare_systems
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.pass_at_k import Kind, each_task, mean_over_tasks
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.patterns import FloatArray, Patterns, distinct_rows
from misstep_analysis.stats.resampling import bootstrap, bootstrapped

FEW_TASKS = 30
"""With fewer tasks than this a resampled interval is too short (`benchmarks/validity/RESULTS.md`)."""

NONE_SHARED = "no task that both systems have attempts at"
_BY_CHANCE = "mean over tasks of 1 - p^n - (1-p)^n, with p the mean rate of the same tasks"


class LeftOutTasks(Struct, frozen=True):
    """A task with too few attempts for a k, and how many it has."""

    task: str
    attempts: int


class AtK(Struct, frozen=True):
    """One of k attempts passes, and all of k do, over the tasks with k attempts; the others are left out."""

    k: int
    n_tasks: int
    pass_at_k: Estimate
    pass_hat_k: Estimate
    left_out: tuple[LeftOutTasks, ...] = ()


class Flicker(Struct, frozen=True):
    """Tasks that pass sometimes, of those with two attempts or more; `expected` is by the mean rate alone."""

    share: Estimate
    expected: Estimate
    never: int
    sometimes: int
    always: int
    tasks: tuple[str, ...] = ()
    left_out: tuple[LeftOutTasks, ...] = ()


class AttemptsPerTask(Struct, frozen=True):
    """The fewest, the median and the most attempts at a task."""

    fewest: int
    median: float
    most: int


class SystemPasses(Struct, frozen=True):
    """What was measured of one system; `evidence` is `generated` where its tasks were made with known faults."""

    system: str
    evidence: Literal["generated", "real"]
    n_tasks: int
    n_attempts: int
    answered: int
    missing: int
    unreadable: int
    attempts_per_task: AttemptsPerTask
    at: tuple[AtK, ...]
    at_all: tuple[AtK, ...]
    flicker: Flicker
    flicker_all: Flicker


class PassReport(Struct, frozen=True):
    """What was measured of all systems, as the JSON document has it."""

    ks: tuple[int, ...]
    same_tasks: bool
    systems: tuple[SystemPasses, ...]
    pairs: tuple[PairedSystems, ...]
    pairs_all: tuple[PairedSystems, ...]
    unanswered: tuple[Unanswered, ...]
    notes: tuple[str, ...]
    resamples: int
    seed: int

    @property
    def complete(self) -> bool:
        """Return whether every attempt has an outcome, so that both ways of counting agree."""
        return not self.unanswered


def pass_report(attempts: PassAttempts, ks: Sequence[int], resamples: int = 10_000, seed: int = 0) -> PassReport:
    """Everything that is measured of repeated attempts."""
    systems = attempts.systems
    unanswered = tuple(lacking for one in systems for lacking in one.unanswered)
    pairs = compare_systems({one.name: _answered(one) for one in systems}, NONE_SHARED)
    return PassReport(
        ks=tuple(ks),
        same_tasks=len({frozenset(one.tasks) for one in systems}) < 2,
        systems=tuple(_system(one, ks, resamples, seed) for one in systems),
        pairs=pairs,
        pairs_all=compare_systems({one.name: _all(one) for one in systems}, NONE_SHARED) if unanswered else pairs,
        unanswered=unanswered,
        notes=attempts.remarks,
        resamples=resamples,
        seed=seed,
    )


def _answered(one: SystemAttempts) -> dict[str, Cell]:
    return {task: counts.answered for task, counts in one.tasks.items()}


def _all(one: SystemAttempts) -> dict[str, Cell]:
    return {task: counts.all for task, counts in one.tasks.items()}


def _system(one: SystemAttempts, ks: Sequence[int], resamples: int, seed: int) -> SystemPasses:
    answered, every = _answered(one), _all(one)
    numbers = [counts.attempts for counts in one.tasks.values()]
    return SystemPasses(
        system=one.name,
        evidence=one.evidence,
        n_tasks=len(numbers),
        n_attempts=sum(numbers),
        answered=sum(tried for tried, _ in answered.values()),
        missing=one.lacking("missing"),
        unreadable=one.lacking("unreadable"),
        attempts_per_task=AttemptsPerTask(min(numbers), float(median(numbers)), max(numbers)),
        at=tuple(_at(answered, k, resamples, seed) for k in ks),
        at_all=tuple(_at(every, k, resamples, seed) for k in ks),
        flicker=_flicker(answered, resamples, seed),
        flicker_all=_flicker(every, resamples, seed),
    )


def _short(cells: Mapping[str, Cell], k: int) -> tuple[LeftOutTasks, ...]:
    return tuple(LeftOutTasks(task, tried) for task, (tried, _) in cells.items() if tried < k)


def _at(cells: Mapping[str, Cell], k: int, resamples: int, seed: int) -> AtK:
    """pass@k and pass^k over the tasks with k attempts."""
    enough = [cell for cell in cells.values() if cell[0] >= k]
    one, every = (_mean(enough, k, kind, resamples, seed) for kind in get_args(Kind))
    return AtK(k, len(enough), one, every, _short(cells, k))


def _mean(cells: Sequence[Cell], k: int, kind: Kind, resamples: int, seed: int) -> Estimate:
    """The mean over tasks; a task between 0 and 1 varies no more than one of either, so Wilson's is never too short."""
    if not cells:
        return Estimate(None, n=0, reason=f"no task has {k} attempt{' that counts' if k == 1 else 's that count'}")
    values = each_task(cells, k, kind)
    if ((values == 0) | (values == 1)).all():
        return wilson(int(values.sum()), len(values))
    return mean_over_tasks(cells, k, np.random.default_rng(seed), kind, resamples).mean


def _flicker(cells: Mapping[str, Cell], resamples: int, seed: int) -> Flicker:
    """Return the tasks that pass sometimes."""
    tried, passed = np.array(list(cells.values()), dtype=np.int64).reshape(-1, 2).T
    several, left_out = tried > 1, _short(cells, 2)
    some = tuple(task for task, (tried, passed) in cells.items() if 0 < passed < tried)
    n, always = int(several.sum()), int((several & (tried == passed)).sum())
    if not n:
        nothing = Estimate(None, n=0, reason="no task has two attempts that count")
        return Flicker(nothing, nothing, 0, 0, 0, some, left_out)
    kinds = distinct_rows(np.column_stack([tried, passed])[several])
    expected = _expected_flicker(kinds, n, resamples, seed)
    return Flicker(wilson(len(some), n), expected, n - len(some) - always, len(some), always, some, left_out)


def _expected_flicker(kinds: Patterns, n: int, resamples: int, seed: int) -> Estimate:
    tried, passed = kinds.rows[:, 0], kinds.rows[:, 1]

    def expected(sets: FloatArray) -> FloatArray:
        weights = sets / n
        rate = (weights @ (passed / tried))[:, np.newaxis]
        return np.asarray((weights * (1 - rate**tried - (1 - rate) ** tried)).sum(axis=1))

    value = float(expected(kinds.items[np.newaxis, :].astype(np.float64))[0])
    drawn = bootstrap(expected, kinds.items, resamples, np.random.default_rng(seed))
    estimate = bootstrapped(value, drawn, n, units="tasks")
    return Estimate(
        estimate.value, estimate.low, estimate.high, estimate.n, f"{_BY_CHANCE}; {estimate.method}", estimate.reason
    )

"""pass@k, pass^k and flakiness of repeated attempts, systems compared on the same tasks, and the page of both.

Attempts at one task are not independent trials: an interval resamples tasks, and where each task gives 0 or 1 it is
Wilson's. `_all` counts attempts without an outcome as failed. A task with fewer than k attempts has no pass@k.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from statistics import median
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from misstep_analysis.labels.records import listed
from misstep_analysis.pages import Foot, page, table_text
from misstep_analysis.pages.page import figure_html
from misstep_analysis.passing.attempts import PassAttempts, SystemAttempts, Unanswered
from misstep_analysis.passing.paired_systems import (
    Cell,
    PairedSystems,
    PairWords,
    compare_systems,
    pair_finding,
    pair_rows,
)
from misstep_analysis.sessions.leading import lead_of
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.pass_at_k import Kind, each_task, mean_over_tasks
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.patterns import FloatArray, Patterns, distinct_rows
from misstep_analysis.stats.resampling import bootstrap, bootstrapped
from misstep_analysis.tables import Evidence, Row, Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import counted_text, number_text, with_interval
from misstep_harness.escaping import one_line

_MOST_DRAWN = 40


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


def passes_text(report: PassReport) -> str:
    """Return the tables for a terminal."""
    return "\n".join(table_text(table) for table in pass_tables(report))


def passes_page(report: PassReport, inputs: Sequence[str], command: str) -> str:
    """Return one self-contained page: the finding, the chances of k attempts as a figure too, flicker, comparisons."""
    tables = pass_tables(report)
    return page(
        "Repeated attempts",
        tables[0].finding,
        tables,
        _figures(tables[0]),
        report.notes,
        foot=Foot(command, inputs=tuple(inputs), seed=report.seed),
    )


def _figures(table: Table) -> list[str]:
    if not 0 < len(table.drawn) <= _MOST_DRAWN or find_spec("matplotlib") is None:
        return []
    from misstep_analysis.plots.rows import forest

    drawing = forest(table.drawn, "pass@k and pass^k of each system")
    return [figure_html(drawing, "Each chance with its 95% interval over tasks.")]


ANSWERED, ALL = "with an outcome", "without one as failed"

PASSES = PairWords(
    ahead="passes {} more often than", alike="pass as often on", noun="task", difference="Difference of pass@1"
)

_PAPER = "passing"
_SHOWN = 60

_PASSES = TableHead(
    "passes",
    _PAPER,
    "One of k attempts passes, or all of k do: pass@k and pass^k",
    (
        "pass@k is 1 - C(n-c, k) / C(n, k) and pass^k is C(c, k) / C(n, k) of a task with c of n attempts passed, "
        "averaged over tasks. A task with fewer than k attempts has neither.",
    ),
)
_FLICKER = TableHead(
    "flicker",
    _PAPER,
    "Flicker: tasks that pass sometimes",
    (
        "By chance: the share of tasks that would pass sometimes if each passed at the mean rate of all. Less "
        "flicker than that says that the same tasks pass again and again, and others never.",
    ),
)
_PAIRS = TableHead(
    "pass_pairs",
    _PAPER,
    "Systems compared on the same tasks",
    (
        "The difference is the first's pass@1 less the second's, over the tasks that both have attempts at. With "
        "one attempt a task the test is McNemar's (mid-p); with more each task goes either way as a whole.",
    ),
)


def passes_headline(report: PassReport) -> str:
    """Return which system leads on the tasks that all share, and what it does."""
    known = [system for system in report.systems if _first(system).pass_at_k.value is not None]
    if not known:
        outcomes = any(system.n_attempts > system.missing + system.unreadable for system in report.systems)
        least = min((at.k for system in report.systems for at in system.at), default=1)
        return f"No task has {counted_text(least, 'attempt')} that count." if outcomes else "No attempt has an outcome."
    lead = lead_of([system.system for system in known], [pair.contest for pair in report.pairs], "systems", "tasks")
    best = next((system for system in known if system.system in lead.first), known[0])
    first = _first(best)
    of_what = "its attempts" if first.k == 1 else f"tasks in one of {first.k} attempts"
    several = f"{lead.sentence} " if lead.sentence else ""
    text = f"{several}{best.system} passes {with_interval(first.pass_at_k, 'share')} of {of_what}"
    last = max((at for at in best.at if at.k > 1 and at.n_tasks), key=lambda at: at.k, default=None)
    if last is not None:
        text += f", and all of {last.k} on {with_interval(last.pass_hat_k, 'share')} of tasks"
    if best.flicker.share.value is not None:
        text += f"; {with_interval(best.flicker.share, 'share')} of tasks pass sometimes"
    if lacking := best.missing + best.unreadable:
        text += f"; {counted_text(lacking, 'attempt')} of {best.n_attempts:,} without an outcome"
    return f"{text}."


def _first(passes: SystemPasses) -> AtK:
    return next((at for at in passes.at if at.k == 1), passes.at[0])


def pass_tables(report: PassReport) -> list[Table]:
    """Return all tables: the chances of k attempts, flicker, and the systems compared if there are several."""
    return [passes_table(report), flicker_table(report), *([pairs_table(report)] if report.pairs else [])]


@made_by_this
def passes_table(report: PassReport) -> Table:
    """pass@k and pass^k of each system, over the attempts with an outcome and with those without one as failed."""
    rows: list[Row] = []
    drawn: list[Row] = []
    for system in report.systems:
        answered, every = chances(system.at), chances(system.at_all)
        for name, estimate in answered.items():
            rows += rows_in("share", {name: estimate}, system.system, _answered(report), system.evidence)
            rows += (
                [] if report.complete else rows_in("share", {name: every[name]}, system.system, ALL, system.evidence)
            )
        known = {f"{system.system}, {name}": each for name, each in answered.items() if each.value is not None}
        drawn += rows_in("share", known, evidence=system.evidence)
    return _PASSES.table(passes_headline(report), rows, _notes(report), drawn=drawn)


def _answered(report: PassReport) -> str:
    return "" if report.complete else ANSWERED


def chances(ats: Sequence[AtK]) -> dict[str, Estimate]:
    """Return the name of each figure → the figure; one attempt is both kinds."""
    figures = {}
    for at in ats:
        figures[f"pass@{at.k}"] = at.pass_at_k
        if at.k > 1:
            figures[f"pass^{at.k}"] = at.pass_hat_k
    return figures


def _notes(report: PassReport) -> Iterator[str]:
    for system in report.systems:
        each = system.attempts_per_task
        least = "" if each.fewest == each.most else f"{each.fewest:,} to "
        most = counted_text(each.most, "attempt")
        tasks = counted_text(system.n_tasks, "task")
        yield f"{system.system}: {tasks}, {least}{most} a task, {system.n_attempts:,} in all."
        yield from _unanswered(report, system)
        for at in system.at:
            yield from _left_out(system, at.left_out, f"k = {at.k}", at.k)
        for at in () if report.complete else system.at_all:
            yield from _left_out(system, at.left_out, f"k = {at.k}, those without an outcome as failed", at.k)
    few = [system.system for system in report.systems if any(0 < at.n_tasks < FEW_TASKS for at in system.at)]
    if few:
        yield (
            f"With fewer than {FEW_TASKS} tasks an interval that resamples tasks is narrower than it should be: "
            f"{', '.join(few)}."
        )


def _left_out(passes: SystemPasses, left_out: Sequence[LeftOutTasks], where: str, least: int) -> Iterator[str]:
    if left_out:
        tasks = listed(f"{each.task} ({each.attempts})" for each in left_out)
        yield (
            f"{passes.system}, {where}: {len(left_out):,} of {counted_text(passes.n_tasks, 'task')} left out for "
            f"having fewer than {counted_text(least, 'attempt')} that count{'s' if least == 1 else ''}: {tasks}."
        )


def _unanswered(report: PassReport, passes: SystemPasses) -> Iterator[str]:
    own = [each for each in report.unanswered if each.system == passes.system]
    if own:
        texts = ((each, one_line(each.found)) for each in own)
        named = listed(f"{each.task}, {each.where}{f': {_cut(text)}' if text else ''}" for each, text in texts)
        yield (
            f"{passes.system}: {counted_text(sum(each.attempts for each in own), 'attempt')} without an outcome "
            f"({passes.missing:,} missing, {passes.unreadable:,} unreadable): {named}."
        )


def _cut(text: str) -> str:
    return f"{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}"


@made_by_this
def flicker_table(report: PassReport) -> Table:
    """Return the tasks that pass sometimes, against the number expected by chance at the mean rate."""
    rows: list[Row] = []
    for system in report.systems:
        ways = [(system.flicker, _answered(report)), *([] if report.complete else [(system.flicker_all, ALL)])]
        for flicker, source in ways:
            where = system.system, source, system.evidence
            counts = {"Always": flicker.always, "Sometimes": flicker.sometimes, "Never": flicker.never}
            rows += rows_in("share", {"Pass sometimes": flicker.share, "By chance": flicker.expected}, *where)
            rows += rows_in("count", counts, *where, n=flicker.share.n)
    notes = [note for system in report.systems for note in _left_out(system, system.flicker.left_out, "flicker", 2)]
    flickering = [system for system in report.systems if system.flicker.tasks]
    notes += [f"{system.system} passes sometimes: {listed(system.flicker.tasks)}." for system in flickering]
    return _FLICKER.table(_flicker_finding(report), rows, notes)


def _flicker_finding(report: PassReport) -> str:
    most = max(report.systems, key=lambda one: one.flicker.share.value or 0.0)
    flicker = most.flicker
    if flicker.share.value is None:
        return "No task has two attempts with an outcome: nothing can flicker."
    return (
        f"{with_interval(flicker.share, 'share')} of {counted_text(flicker.share.n or 0, 'task')} pass sometimes with "
        f"{most.system}; if all tasks were as hard, {number_text(flicker.expected.value, 'share')} would."
    )


@made_by_this
def pairs_table(report: PassReport) -> Table:
    """Systems compared in pairs on the tasks that both attempted, by pass@1."""
    pairs, alone = report.pairs, len(report.pairs) == 1
    several = (
        f"{sum(pair.apart for pair in pairs)} of {len(pairs)} pairs differ at the level 0.05 after Holm's adjustment."
    )
    rows = [
        row
        for each, source in [(pairs, _answered(report)), *([] if report.complete else [(report.pairs_all, ALL)])]
        for pair in each
        for row in pair_rows(pair, PASSES, source, _evidence(report, pair), alone=alone)
    ]
    notes = [] if alone else [f"Adjusted after Holm for {len(pairs)} pairs."]
    return _PAIRS.table(pair_finding(pairs[0], PASSES) if alone else several, rows, notes)


def _evidence(report: PassReport, pair: PairedSystems) -> Evidence:
    compared = {system.evidence for system in report.systems if system.system in (pair.a, pair.b)}
    return "generated" if compared == {"generated"} else "real"


FEW_TASKS = 30
"""With fewer tasks than this a resampled interval is too short (`benchmarks/validity/RESULTS.md`)."""

NONE_SHARED = "no task that both systems have attempts at"
_BY_CHANCE = "mean over tasks of 1 - p^n - (1-p)^n, with p the mean rate of the same tasks"


def pass_report(attempts: PassAttempts, ks: Sequence[int], resamples: int = 10_000, seed: int = 0) -> PassReport:
    """Everything that is measured of repeated attempts."""
    systems = attempts.systems
    unanswered = tuple(lacking for system in systems for lacking in system.unanswered)
    pairs = compare_systems({system.name: _answered_cells(system) for system in systems}, NONE_SHARED)
    return PassReport(
        ks=tuple(ks),
        same_tasks=len({frozenset(system.tasks) for system in systems}) < 2,
        systems=tuple(_system(system, ks, resamples, seed) for system in systems),
        pairs=pairs,
        pairs_all=compare_systems({system.name: _all(system) for system in systems}, NONE_SHARED)
        if unanswered
        else pairs,
        unanswered=unanswered,
        notes=attempts.remarks,
        resamples=resamples,
        seed=seed,
    )


def _answered_cells(attempts: SystemAttempts) -> dict[str, Cell]:
    return {task: counts.answered for task, counts in attempts.tasks.items()}


def _all(attempts: SystemAttempts) -> dict[str, Cell]:
    return {task: counts.all for task, counts in attempts.tasks.items()}


def _system(attempts: SystemAttempts, ks: Sequence[int], resamples: int, seed: int) -> SystemPasses:
    answered, every = _answered_cells(attempts), _all(attempts)
    numbers = [counts.attempts for counts in attempts.tasks.values()]
    return SystemPasses(
        system=attempts.name,
        evidence=attempts.evidence,
        n_tasks=len(numbers),
        n_attempts=sum(numbers),
        answered=sum(tried for tried, _ in answered.values()),
        missing=attempts.lacking("missing"),
        unreadable=attempts.lacking("unreadable"),
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

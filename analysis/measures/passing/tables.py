"""What was measured of repeated attempts as sentences and tables."""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import structs

from misstep.analysis.labels.spelling import listed
from misstep.analysis.measures.passing.scores import (
    FEW_TASKS,
    AtK,
    Flicker,
    LeftOutTasks,
    PairedPasses,
    PassReport,
    SystemPasses,
)
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, number_text, p_text, points_text, with_interval
from misstep.harness.escaping import one_line

ANSWERED, ALL = "with an outcome", "without one as failed"
"""The two ways of counting, as columns."""

_PAPER = "passing"
_SHOWN = 60
"""Characters shown of what stands where an outcome should."""


def passes_headline(found: PassReport) -> str:
    """Return what the system with the highest figure does, in one sentence."""
    known = [one for one in found.systems if _first(one).pass_at_k.value is not None]
    if not known:
        outcomes = any(one.n_attempts > one.missing + one.unreadable for one in found.systems)
        least = min((at.k for one in found.systems for at in one.at), default=1)
        return f"No task has {counted_text(least, 'attempt')} that count." if outcomes else "No attempt has an outcome."
    best = max(known, key=lambda one: _first(one).pass_at_k.value or 0.0)
    first = _first(best)
    of_what = "its attempts" if first.k == 1 else f"tasks in one of {first.k} attempts"
    said = f"{_opening(found, best)} {with_interval(first.pass_at_k, 'share')} of {of_what}"
    last = max((at for at in best.at if at.k > 1 and at.n_tasks), key=lambda at: at.k, default=None)
    if last is not None:
        said += f", and all of {last.k} on {with_interval(last.pass_hat_k, 'share')} of tasks"
    if best.flicker.share.value is not None:
        said += f"; {with_interval(best.flicker.share, 'share')} of tasks pass sometimes"
    lacking = best.missing + best.unreadable
    return (
        f"{said}; {counted_text(lacking, 'attempt')} of {best.n_attempts:,} without an outcome."
        if lacking
        else f"{said}."
    )


def _opening(found: PassReport, best: SystemPasses) -> str:
    if len(found.systems) == 1:
        return f"{best.system} passes"
    highest = _first(best).pass_at_k.value
    alike = [one.system for one in found.systems if _first(one).pass_at_k.value == highest]
    if found.same_tasks and len(alike) > 1:
        return f"No system passes more often than {' and '.join(alike)}: {best.system} passes"
    if found.same_tasks:
        return f"The best of {len(found.systems)} systems, {best.system}, passes"
    return f"{len(found.systems)} systems were not all tried on the same tasks. Most often {best.system} passes:"


def _first(one: SystemPasses) -> AtK:
    """Return what one attempt does, or else the first number of attempts that was asked for."""
    return next((at for at in one.at if at.k == 1), one.at[0])


def pass_tables(found: PassReport) -> list[Table]:
    """Return all tables: the chances of k attempts, flicker, and the systems compared if there are several."""
    return [passes_table(found), flicker_table(found), *([pairs_table(found)] if found.pairs else [])]


@made_by_this
def passes_table(found: PassReport) -> Table:
    """pass@k and pass^k of each system, over the attempts with an outcome and with those without one as failed."""
    rows = [row for one in found.systems for row in _pass_rows(one, complete=found.complete)]
    return Table(
        name="passes",
        paper=_PAPER,
        title="One of k attempts passes, or all of k do: pass@k and pass^k",
        finding=passes_headline(found),
        rows=tuple(rows),
        notes=tuple(_notes(found)),
        drawn=tuple(
            estimate_row(f"{one.system}, {name}", estimate, "share", evidence=one.evidence)
            for one in found.systems
            for name, estimate in _chances(one.at)
            if estimate.value is not None
        ),
    )


def _pass_rows(one: SystemPasses, *, complete: bool) -> Iterator[Row]:
    for (name, answered), (_, every) in zip(_chances(one.at), _chances(one.at_all), strict=True):
        yield estimate_row(name, answered, "share", one.system, "" if complete else ANSWERED, one.evidence)
        if not complete:
            yield estimate_row(name, every, "share", one.system, ALL, one.evidence)


def _chances(ats: Sequence[AtK]) -> Iterator[tuple[str, Estimate]]:
    """Return the name of each figure and the figure; one attempt is both kinds."""
    for at in ats:
        yield f"pass@{at.k}", at.pass_at_k
        if at.k > 1:
            yield f"pass^{at.k}", at.pass_hat_k


def _notes(found: PassReport) -> Iterator[str]:
    yield (
        "pass@k is 1 - C(n-c, k) / C(n, k) and pass^k is C(c, k) / C(n, k) of a task with c of n attempts passed, "
        "averaged over tasks. A task with fewer than k attempts has neither."
    )
    for one in found.systems:
        each = one.attempts_per_task
        least = "" if each.fewest == each.most else f"{each.fewest:,} to "
        most = counted_text(each.most, "attempt")
        yield f"{one.system}: {counted_text(one.n_tasks, 'task')}, {least}{most} a task, {one.n_attempts:,} in all."
        yield from _unanswered(found, one)
        for at in one.at:
            yield from _left_out(one, at.left_out, f"k = {at.k}", at.k)
        if found.complete:
            continue
        for at in one.at_all:
            yield from _left_out(one, at.left_out, f"k = {at.k}, those without an outcome as failed", at.k)
    few = [one.system for one in found.systems if any(0 < at.n_tasks < FEW_TASKS for at in one.at)]
    if few:
        yield (
            f"With fewer than {FEW_TASKS} tasks an interval that resamples tasks is narrower than it should be: "
            f"{', '.join(few)}."
        )


def _left_out(one: SystemPasses, left_out: Sequence[LeftOutTasks], where: str, least: int) -> Iterator[str]:
    if left_out:
        tasks = listed(f"{each.task} ({each.attempts})" for each in left_out)
        yield (
            f"{one.system}, {where}: {len(left_out):,} of {counted_text(one.n_tasks, 'task')} left out for having "
            f"fewer than {counted_text(least, 'attempt')} that count{'s' if least == 1 else ''}: {tasks}."
        )


def _unanswered(found: PassReport, one: SystemPasses) -> Iterator[str]:
    own = [each for each in found.unanswered if each.system == one.system]
    if own:
        named = listed(f"{each.task}, {each.where}{_said(each.found)}" for each in own)
        yield (
            f"{one.system}: {counted_text(sum(each.attempts for each in own), 'attempt')} without an outcome "
            f"({one.missing:,} missing, {one.unreadable:,} unreadable): {named}."
        )


def _said(found: str) -> str:
    text = one_line(found)
    return f": {text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}" if text else ""


@made_by_this
def flicker_table(found: PassReport) -> Table:
    """Return the tasks that pass sometimes, beside what chance alone gives at the mean rate."""
    return Table(
        name="flicker",
        paper=_PAPER,
        title="Flicker: tasks that pass sometimes",
        finding=_flicker_finding(found),
        rows=tuple(row for one in found.systems for row in _flicker_rows(one, complete=found.complete)),
        notes=(
            "By chance: the share of tasks that would pass sometimes if each passed at the mean rate of all. Less "
            "flicker than that says that the same tasks pass again and again, and others never.",
            *(note for one in found.systems for note in _left_out(one, one.flicker.left_out, "flicker", 2)),
            *(_named(one) for one in found.systems if one.flicker.tasks),
        ),
    )


def _named(one: SystemPasses) -> str:
    return f"{one.system} passes sometimes: {listed(one.flicker.tasks)}."


def _flicker_finding(found: PassReport) -> str:
    most = max(found.systems, key=lambda one: one.flicker.share.value or 0.0)
    flicker = most.flicker
    if flicker.share.value is None:
        return "No task has two attempts with an outcome: nothing can flicker."
    return (
        f"{with_interval(flicker.share, 'share')} of {counted_text(flicker.share.n or 0, 'task')} pass sometimes with "
        f"{most.system}; if all tasks were as hard, {number_text(flicker.expected.value, 'share')} would."
    )


def _flicker_rows(one: SystemPasses, *, complete: bool) -> Iterator[Row]:
    ways: list[tuple[Flicker, str]] = [(one.flicker, "" if complete else ANSWERED)]
    if not complete:
        ways.append((one.flicker_all, ALL))
    for flicker, source in ways:
        shares = {"Pass sometimes": flicker.share, "By chance": flicker.expected}
        yield from (
            estimate_row(name, share, "share", one.system, source, one.evidence) for name, share in shares.items()
        )
        counts = {"Always": flicker.always, "Sometimes": flicker.sometimes, "Never": flicker.never}
        yield from (
            estimate_row(name, Estimate(count, n=flicker.share.n), "count", one.system, source, one.evidence)
            for name, count in counts.items()
        )


def pair_finding(pair: PairedPasses) -> str:
    """Return which of two systems passes more often on the same tasks, in one sentence."""
    difference = pair.difference.value
    if difference is None:
        return f"{pair.a} and {pair.b} cannot be compared: {pair.difference.reason}."
    tasks = counted_text(pair.n, "task")
    if difference == 0:
        told = p_text(pair.p_value, pair.p_adjusted)
        return f"{pair.a} and {pair.b} pass as often on the same {tasks} ({told})."
    better, worse = (pair.a, pair.b) if difference > 0 else (pair.b, pair.a)
    doubt = "" if pair.apart else ", which may be chance"
    return (
        f"{better} passes {points_text(difference)} more often than {worse} on the same {tasks}{doubt} "
        f"({p_text(pair.p_value, pair.p_adjusted)})."
    )


@made_by_this
def pairs_table(found: PassReport) -> Table:
    """Systems compared in pairs on the tasks that both attempted, by pass@1."""
    apart = sum(pair.apart for pair in found.pairs)
    several = f"{apart} of {len(found.pairs)} pairs differ at the level 0.05 after Holm's adjustment."
    ways = [(found.pairs, "" if found.complete else ANSWERED)]
    if not found.complete:
        ways.append((found.pairs_all, ALL))
    return Table(
        name="pass_pairs",
        paper=_PAPER,
        title="Systems compared on the same tasks",
        finding=pair_finding(found.pairs[0]) if len(found.pairs) == 1 else several,
        rows=tuple(
            structs.replace(row, evidence=_evidence(found, pair))
            for pairs, source in ways
            for pair in pairs
            for row in _pair_rows(pair, source, len(pairs))
        ),
        notes=(
            "The difference is the first's pass@1 less the second's, over the tasks that both have attempts at. With "
            "one attempt a task the test is McNemar's (mid-p); with more each task goes either way as a whole.",
            *([f"Adjusted after Holm for {len(found.pairs)} pairs."] if len(found.pairs) > 1 else []),
        ),
    )


def _evidence(found: PassReport, pair: PairedPasses) -> Literal["generated", "real"]:
    """Generated where the tasks of both are."""
    compared = {one.evidence for one in found.systems if one.system in (pair.a, pair.b)}
    return "generated" if compared == {"generated"} else "real"


def _pair_rows(pair: PairedPasses, source: str, pairs: int) -> Iterator[Row]:
    group = f"{pair.a} less {pair.b}"
    yield estimate_row("Difference of pass@1", pair.difference, "difference", group, source)
    p_value = Estimate(pair.p_value, n=pair.n, method=pair.test, reason=pair.reason)
    yield estimate_row("p-value", p_value, "p", group, source)
    if pairs > 1:
        yield estimate_row("p-value, adjusted", Estimate(pair.p_adjusted, n=pair.n), "p", group, source)
    counts = {f"More by {pair.a}": pair.more_a, f"More by {pair.b}": pair.more_b, "As many by both": pair.alike}
    for name, count in counts.items():
        yield estimate_row(name, Estimate(count, n=pair.n), "count", group, source)

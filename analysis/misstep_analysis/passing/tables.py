"""What was measured of repeated attempts as sentences and tables."""

from collections.abc import Iterator, Sequence

from misstep_analysis.labels.records import listed
from misstep_analysis.passing.paired_systems import PairedSystems, PairWords, pair_finding, pair_rows
from misstep_analysis.passing.scores import FEW_TASKS, AtK, LeftOutTasks, PassReport, SystemPasses
from misstep_analysis.sessions.leading import lead_of
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Evidence, Row, Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import counted_text, number_text, with_interval
from misstep_harness.escaping import one_line

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
    known = [one for one in report.systems if _first(one).pass_at_k.value is not None]
    if not known:
        outcomes = any(one.n_attempts > one.missing + one.unreadable for one in report.systems)
        least = min((at.k for one in report.systems for at in one.at), default=1)
        return f"No task has {counted_text(least, 'attempt')} that count." if outcomes else "No attempt has an outcome."
    lead = lead_of([one.system for one in known], [pair.contest for pair in report.pairs], "systems", "tasks")
    best = next((one for one in known if one.system in lead.first), known[0])
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


def _first(one: SystemPasses) -> AtK:
    return next((at for at in one.at if at.k == 1), one.at[0])


def pass_tables(report: PassReport) -> list[Table]:
    """Return all tables: the chances of k attempts, flicker, and the systems compared if there are several."""
    return [passes_table(report), flicker_table(report), *([pairs_table(report)] if report.pairs else [])]


@made_by_this
def passes_table(report: PassReport) -> Table:
    """pass@k and pass^k of each system, over the attempts with an outcome and with those without one as failed."""
    rows: list[Row] = []
    drawn: list[Row] = []
    for one in report.systems:
        answered, every = chances(one.at), chances(one.at_all)
        for name, estimate in answered.items():
            rows += rows_in("share", {name: estimate}, one.system, _answered(report), one.evidence)
            rows += [] if report.complete else rows_in("share", {name: every[name]}, one.system, ALL, one.evidence)
        known = {f"{one.system}, {name}": each for name, each in answered.items() if each.value is not None}
        drawn += rows_in("share", known, evidence=one.evidence)
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
    for one in report.systems:
        each = one.attempts_per_task
        least = "" if each.fewest == each.most else f"{each.fewest:,} to "
        most = counted_text(each.most, "attempt")
        yield f"{one.system}: {counted_text(one.n_tasks, 'task')}, {least}{most} a task, {one.n_attempts:,} in all."
        yield from _unanswered(report, one)
        for at in one.at:
            yield from _left_out(one, at.left_out, f"k = {at.k}", at.k)
        for at in () if report.complete else one.at_all:
            yield from _left_out(one, at.left_out, f"k = {at.k}, those without an outcome as failed", at.k)
    few = [one.system for one in report.systems if any(0 < at.n_tasks < FEW_TASKS for at in one.at)]
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


def _unanswered(report: PassReport, one: SystemPasses) -> Iterator[str]:
    own = [each for each in report.unanswered if each.system == one.system]
    if own:
        texts = ((each, one_line(each.found)) for each in own)
        named = listed(f"{each.task}, {each.where}{f': {_cut(text)}' if text else ''}" for each, text in texts)
        yield (
            f"{one.system}: {counted_text(sum(each.attempts for each in own), 'attempt')} without an outcome "
            f"({one.missing:,} missing, {one.unreadable:,} unreadable): {named}."
        )


def _cut(text: str) -> str:
    return f"{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}"


@made_by_this
def flicker_table(report: PassReport) -> Table:
    """Return the tasks that pass sometimes, beside what chance alone gives at the mean rate."""
    rows: list[Row] = []
    for one in report.systems:
        ways = [(one.flicker, _answered(report)), *([] if report.complete else [(one.flicker_all, ALL)])]
        for flicker, source in ways:
            where = one.system, source, one.evidence
            counts = {"Always": flicker.always, "Sometimes": flicker.sometimes, "Never": flicker.never}
            rows += rows_in("share", {"Pass sometimes": flicker.share, "By chance": flicker.expected}, *where)
            rows += rows_in("count", counts, *where, n=flicker.share.n)
    notes = [note for one in report.systems for note in _left_out(one, one.flicker.left_out, "flicker", 2)]
    flickering = [one for one in report.systems if one.flicker.tasks]
    notes += [f"{one.system} passes sometimes: {listed(one.flicker.tasks)}." for one in flickering]
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
    compared = {one.evidence for one in report.systems if one.system in (pair.a, pair.b)}
    return "generated" if compared == {"generated"} else "real"

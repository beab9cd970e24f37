"""Tables of solve rates on public benchmarks: how sure a rate is, which ranks can be told apart, and out of what.

Submissions to one benchmark were tried on the same tasks, so two of them are compared task by task.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil

from msgspec import Struct

from misstep.analysis.measures.solved import SolvedSet, Stated, figures_of, stated_text
from misstep.analysis.published import Figure, published_row
from misstep.analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_difference
from misstep.analysis.stats.decisions.power import sample_size_paired
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.multiplicity import holm
from misstep.analysis.stats.printed.audit import prints_as
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this, measured_on
from misstep.analysis.tables.wording import interval_words, number_text, with_interval

ALPHA = 0.05
"""The level at which ranks are told apart."""

POWER = 0.8
"""The chance with which a difference is to be found, where the tasks for it are counted."""

_PAPER = "engineering_agent"
_ABSENT = "No set of submissions is available."


class Gap(Struct, frozen=True):
    """Two systems on the same tasks: the difference, McNemar's mid-p and the same adjusted for all gaps asked about."""

    better: str
    worse: str
    paired: PairedTable
    p_value: float
    adjusted: float

    @property
    def significant(self) -> bool:
        """Return whether the difference stands after the adjustment."""
        return self.adjusted <= ALPHA


@made_by_this
def submissions_table(sets: Sequence[SolvedSet], top: int = 10, notes: Sequence[str] = ()) -> Table:
    """Solve rates with Wilson intervals: the `top` best systems of each set, and those whose rate its page states."""
    stated = {place: [_stated(one, figure) for figure in figures_of(one)] for place, one in enumerate(sets)}
    rows: list[Row] = []
    measured: list[Row] = []
    for place, one in enumerate(sets):
        best, of_stated = _best_rows(one, top), _stated_rows(one, stated[place])
        rows += measured_on(one.dataset, [*best, *(row for pair in of_stated for row in pair)])
        measured += [*best, *(found for _, found in of_stated)]
    return Table(
        name="submissions",
        paper=_PAPER,
        title="Solve rates of submissions to public benchmarks",
        finding=_rates_finding(sets[0], [each for of_set in stated.values() for each in of_set]) if sets else _ABSENT,
        rows=tuple(rows),
        notes=(
            "Rule: the best by tasks solved, equal ones by name. A task without a result counts as unsolved.",
            "Intervals are Wilson's, of tasks drawn alike; the best of many is likely to have been lucky as well.",
            *notes,
        ),
        datasets=tuple(dict.fromkeys(one.dataset for one in sets)),
        drawn=tuple(measured),
    )


def _best_rows(one: SolvedSet, top: int) -> list[Row]:
    best = one.ranking()[:top]
    group = f"{one.title}: the {len(best)} best of {len(one.systems)}"
    return [_rate_row(one, system, group) for system in best]


def _stated_rows(one: SolvedSet, stated: Sequence[Stated]) -> list[tuple[Row, Row]]:
    """Return what the set's page states, each with what the attempts give."""
    group = f"{one.title}: stated on its page"
    return [
        (published_row(each.figure, each.figure.row, group=group), each.row(each.figure.row, group)) for each in stated
    ]


def _rates_finding(one: SolvedSet, stated: Sequence[Stated]) -> str:
    best = _rate(one, one.ranking()[0])
    return (
        f"The best of {len(one.systems)} submissions to {one.title} solves {number_text(best.value, 'share')} of "
        f"{best.n:,} tasks ({interval_words(best.low, best.high, 'share')}){stated_text(stated, 'rates', 'results')}."
    )


def _rate(one: SolvedSet, system: str, n: int | None = None) -> Estimate:
    """Return a system's rate, out of the tasks that it was tried on or out of n."""
    return wilson(len(one.solved(system)), n or len(one.systems[system]))


def _rate_row(one: SolvedSet, system: str, group: str) -> Row:
    source = f"{len(one.solved(system)):,} / {len(one.systems[system]):,}, {one.source}"
    return estimate_row(system, _rate(one, system), "share", group, source)


def _stated(one: SolvedSet, figure: Figure, n: int | None = None, of: str = "") -> Stated:
    """Return a stated rate held against that out of n tasks, by default those that the system was tried on."""
    solved, total = len(one.solved(figure.row)), n or len(one.systems[figure.row])
    counts, rate = f"{solved:,} / {total:,}{of}", _rate(one, figure.row, n)
    same = prints_as(solved, total, figure.digits)
    reason = "" if same else f"{counts} is {100 * solved / total:.2f}%, not {figure.digits}%."
    return Stated(figure, rate, f"{counts}, {one.source}", reason)


def gaps(one: SolvedSet, pairs: Iterable[tuple[str, str]]) -> list[Gap]:
    """Pairs of systems compared on the tasks of the set, with p-values adjusted by Holm for all the pairs given."""
    asked = list(pairs)
    tasks = len(one.tasks())
    tables = [_paired(one.solved(better), one.solved(worse), tasks) for better, worse in asked]
    p_values = [mcnemar_mid_p(table).p_value for table in tables]
    adjusted = holm(p_values).p_values
    return [
        Gap(better, worse, table, 1.0 if p_value is None else p_value, 1.0 if after is None else after)
        for (better, worse), table, p_value, after in zip(asked, tables, p_values, adjusted, strict=True)
    ]


def _paired(better: frozenset[str], worse: frozenset[str], tasks: int) -> PairedTable:
    return PairedTable(len(better & worse), len(better - worse), len(worse - better), tasks - len(better | worse))


@made_by_this
def ranking_table(sets: Sequence[SolvedSet], top: int = 10, notes: Sequence[str] = ()) -> Table:
    """Which neighbours in a ranking differ, which ranks differ from the first, and how many tasks that would take."""
    rows: list[Row] = []
    findings: list[str] = []
    for one in sets:
        ranking = one.ranking()
        neighbours = gaps(one, pairwise(ranking))
        from_first = gaps(one, [(ranking[0], other) for other in ranking[1:]])
        apart, level = sum(gap.significant for gap in neighbours), sum(not gap.significant for gap in from_first)
        rows += measured_on(one.dataset, _whole_rows(one, apart, level, len(neighbours)))
        for gap in neighbours[: top - 1]:
            rows += measured_on(one.dataset, _gap_rows(one, gap, len(neighbours)))
        findings.append(
            f"On {one.title}, {apart} of the {len(neighbours)} gaps between neighbours in the ranking can be told from "
            f"chance at {100 * ALPHA:g}% (Holm), and {level} submissions cannot be told from the first"
        )
    return Table(
        name="ranking",
        paper=_PAPER,
        title="Which ranks can be told apart",
        finding=f"{'; '.join(findings)}." if findings else _ABSENT,
        rows=tuple(rows),
        notes=(
            "Two submissions are compared on the same tasks: only those that one of them alone solved count (McNemar, "
            "mid-p). Holm's adjustment is for all gaps of the ranking, not only those shown.",
            f"Tasks needed: for a two-sided test at {100 * ALPHA:g}% to find the observed difference with a chance of "
            f"{100 * POWER:g}%, with as many tasks solved by one alone (Connor 1987), one comparison only.",
            "Not told apart does not mean equal: the interval says how far apart the two may be.",
            *notes,
        ),
        datasets=tuple(dict.fromkeys(one.dataset for one in sets)),
    )


def _whole_rows(one: SolvedSet, apart: int, level: int, n: int) -> list[Row]:
    said = {"Gaps between neighbours that can be told from chance": apart, "Not to be told from the first": level}
    method = f"McNemar, mid-p, Holm over {n} comparisons"
    group = f"{one.title}: the whole ranking"
    return [
        Row(quantity, count, n=n, source=one.source, unit="count", method=method, group=group)
        for quantity, count in said.items()
    ]


def _gap_rows(one: SolvedSet, gap: Gap, tests: int) -> list[Row]:
    group = f"{gap.better} less {gap.worse}"
    difference = paired_difference(gap.paired)
    discordant = gap.paired.discordant / gap.paired.n
    counts = f"{gap.paired.first_only} and {gap.paired.second_only} solved by one alone"
    source = f"{counts}, {one.source}"
    none = not difference.value
    return [
        estimate_row("Difference", difference, "difference", group, source),
        Row("p", gap.p_value, n=gap.paired.n, source=source, unit="p", method="McNemar, mid-p", group=group),
        Row(
            "p, adjusted",
            gap.adjusted,
            n=gap.paired.n,
            source=source,
            unit="p",
            method=f"Holm over {tests} comparisons",
            group=group,
        ),
        Row(
            "Tasks needed",
            None if none else ceil(sample_size_paired(discordant, float(difference.value or 0), POWER, ALPHA)),
            source=source,
            reason="No difference to detect." if none else "",
            unit="count",
            method=f"Connor, power {POWER:g} at {ALPHA:g}, two-sided",
            group=group,
        ),
    ]


@made_by_this
def denominators_table(runs: Sequence[SolvedSet], others: Sequence[SolvedSet] = (), notes: Sequence[str] = ()) -> Table:
    """Stated rates of incomplete runs, out of the tasks attempted and out of all; further sets with one rate each."""
    rows = [
        row
        for one in runs
        for figure in figures_of(one)
        for row in measured_on(one.dataset, _both_denominators(one, figure))
    ]
    for one in others:
        rows += measured_on(one.dataset, (_rate_row(one, system, one.title) for system in one.systems))
    return Table(
        name="denominators",
        paper=_PAPER,
        title="A solve rate, and out of which tasks",
        finding=_denominators_finding(runs),
        rows=tuple(rows),
        notes=(
            "A stated rate is reproduced if either denominator gives it; the other row then has no status of its own.",
            "Of all tasks: those that any run of the set attempted; a task without a result counts as unsolved.",
            "Rates of different benchmarks do not compare, and neither do those of different subsets of one.",
            *notes,
        ),
        datasets=tuple(dict.fromkeys(one.dataset for one in (*runs, *others))),
    )


def _both_denominators(one: SolvedSet, figure: Figure) -> list[Row]:
    """Return a stated rate worked out two ways: where one of them gives it, the other is not a contradiction."""
    ways = _stated(one, figure, of=" attempted"), _stated(one, figure, len(one.tasks()), " tasks")
    neither = all(way.reason for way in ways)
    return [
        published_row(figure, figure.row, group=one.title),
        *(way.row(figure.row, one.title, judged=neither or not way.reason) for way in ways),
    ]


def _denominators_finding(runs: Sequence[SolvedSet]) -> str:
    stated = [(one, figure) for one in runs for figure in figures_of(one)]
    if not stated:
        return "No set of incomplete runs is available."
    one, figure = min(stated, key=lambda pair: len(pair[0].systems[pair[1].row]))
    attempted, total = len(one.systems[figure.row]), len(one.tasks())
    return (
        f"{figure.row} is stated at {figure.printed}% with {attempted} of {total} tasks attempted; of all tasks it is "
        f"{with_interval(_rate(one, figure.row, total), 'share')}."
    )

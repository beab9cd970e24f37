"""Tables of solve rates on public benchmarks: how sure a rate is, which ranks can be told apart, and out of what.

Submissions to one benchmark were tried on the same tasks, so two of them are compared task by task.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct, structs

from analysis.measures.solved import SolvedSet, reported_figures
from analysis.published import Figure, published_row
from analysis.stats.audit import prints_as
from analysis.stats.estimate import Estimate
from analysis.stats.multiplicity import holm
from analysis.stats.paired import PairedTable, mcnemar_mid_p, paired_difference
from analysis.stats.power import sample_size_paired
from analysis.stats.proportions import wilson
from analysis.tables import Row, Table, estimate_row, made_by_this
from analysis.tables.wording import number_text

ALPHA = 0.05
"""The level at which ranks are told apart."""

POWER = 0.8
"""The chance with which a difference is to be found, where the tasks for it are counted."""

WHOLE_RANKING = "The whole ranking"
_PAPER = "engineering_agent"
_ABSENT = "No set of submissions is at hand."


class Gap(Struct, frozen=True):
    """Two systems on the same tasks: the difference, McNemar's mid-p and the same adjusted for all gaps asked about."""

    better: str
    worse: str
    paired: PairedTable
    p_value: float
    adjusted: float

    @property
    def told_apart(self) -> bool:
        """Whether the difference stands after the adjustment."""
        return self.adjusted <= ALPHA


@made_by_this
def submissions_table(sets: Sequence[SolvedSet], top: int = 10, notes: Sequence[str] = ()) -> Table:
    """Solve rates with Wilson intervals: the `top` best systems of each set, and those whose rate its page states."""
    rows: list[Row] = []
    for one in sets:
        best = one.ranking()[:top]
        group = f"{one.title}: the {len(best)} best of {len(one.systems)}"
        rows += [_rate_row(one, system, system, group) for system in best]
        stated = reported_figures(f"{_opening(one)}.")
        for figure in stated:
            group = f"{one.title}: stated on its page"
            rows += [published_row(figure, figure.row, group=group), _compared_row(one, figure, group)]
    judged = [row.status for row in rows if row.status is not None]
    return Table(
        name="submissions",
        paper=_PAPER,
        title="Solve rates of submissions to public benchmarks",
        finding=_rates_finding(rows, sets, judged),
        rows=tuple(rows),
        notes=(
            "Rule: the best by tasks solved, equal ones by name. A task without a result counts as unsolved.",
            "Intervals are Wilson's, of tasks drawn alike; the best of many is likely to have been lucky as well.",
            *notes,
        ),
        datasets=tuple(dict.fromkeys(one.dataset for one in sets)),
    )


def _opening(one: SolvedSet) -> str:
    """How the ids of the figures open that a set's page states of this table."""
    return "swe_bench_verified" if "Verified" in one.title else one.dataset


def _rates_finding(rows: Sequence[Row], sets: Sequence[SolvedSet], judged: Sequence[str]) -> str:
    if not rows:
        return _ABSENT
    best = rows[0]
    low, high = number_text(best.low, "share"), number_text(best.high, "share")
    stated = f"; {judged.count('reproduced')} of {len(judged)} stated rates follow from the results" if judged else ""
    return (
        f"The best of {len(sets[0].systems)} submissions to {sets[0].title} solves {number_text(best.value, 'share')} "
        f"of {best.n:,} tasks (95% interval {low} to {high}){stated}."
    )


def _rate_row(one: SolvedSet, system: str, quantity: str, group: str) -> Row:
    solved, n = len(one.solved(system)), len(one.systems[system])
    return _share_row(quantity, wilson(solved, n), f"{solved:,} / {n:,}, {one.source}", group)


def _share_row(quantity: str, estimate: Estimate, source: str, group: str) -> Row:
    return estimate_row(quantity, estimate, "share", group, source)


def _compared_row(one: SolvedSet, figure: Figure, group: str, n: int | None = None, of: str = "") -> Row:
    """A system's rate out of n tasks (by default those it was tried on), with the status of what the page states."""
    solved, total = len(one.solved(figure.row)), n or len(one.systems[figure.row])
    row = _share_row(figure.row, wilson(solved, total), f"{solved:,} / {total:,}{of}, {one.source}", group)
    if prints_as(solved, total, figure.digits):
        return structs.replace(row, status="reproduced")
    reason = f"{solved:,} / {total:,}{of} is {100 * solved / total:.2f}%, not {figure.digits}%."
    return structs.replace(row, status="differs", reason=reason)


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
    """Which neighbours in a ranking can be told apart, which ranks from the first, and how many tasks that would take.

    Parameters
    ----------
    sets
        Sets whose systems were all tried on the same tasks, once.
    top
        Of how many of the best each gap to the next is shown; the counts are over the whole ranking.
    notes
        What else to say, such as which sets are not at hand.
    """
    rows: list[Row] = []
    findings: list[str] = []
    for one in sets:
        ranking = one.ranking()
        neighbours = gaps(one, pairwise(ranking))
        from_first = gaps(one, [(ranking[0], other) for other in ranking[1:]])
        apart, level = sum(gap.told_apart for gap in neighbours), sum(not gap.told_apart for gap in from_first)
        rows += _whole_rows(one, apart, level, len(neighbours))
        rows += [row for gap in neighbours[: top - 1] for row in _gap_rows(one, gap, len(neighbours))]
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
    group = f"{one.title}: {WHOLE_RANKING[0].lower()}{WHOLE_RANKING[1:]}"
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
            None if none else sample_size_paired(discordant, float(difference.value or 0), POWER, ALPHA).n_per_arm,
            source=source,
            reason="No difference to detect." if none else "",
            unit="count",
            method=f"Connor, power {POWER:g} at {ALPHA:g}, two-sided",
            group=group,
        ),
    ]


@made_by_this
def denominators_table(runs: Sequence[SolvedSet], others: Sequence[SolvedSet] = (), notes: Sequence[str] = ()) -> Table:
    """Stated rates of incomplete runs, out of the tasks attempted and out of all; further sets with one rate each.

    Parameters
    ----------
    runs
        Sets whose page states rates of runs that skipped tasks.
    others
        Sets to show the rate of every system of, with nothing stated.
    notes
        What else to say, such as which sets are not at hand.
    """
    rows: list[Row] = []
    for one in runs:
        total = len(one.tasks())
        for figure in reported_figures(f"{one.dataset}."):
            ways = (
                _compared_row(one, figure, one.title, of=" attempted"),
                _compared_row(one, figure, one.title, total, of=" tasks"),
            )
            rows += [published_row(figure, figure.row, group=one.title), *_best_way(ways)]
    for one in others:
        rows += [_rate_row(one, system, system, one.title) for system in one.systems]
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


def _best_way(ways: Sequence[Row]) -> list[Row]:
    """Two ways to work one figure out: where one of them gives it, the other is no contradiction."""
    if all(way.status == "differs" for way in ways):
        return list(ways)
    return [way if way.status == "reproduced" else structs.replace(way, status=None) for way in ways]


def _denominators_finding(runs: Sequence[SolvedSet]) -> str:
    stated = [(one, figure) for one in runs for figure in reported_figures(f"{one.dataset}.")]
    if not stated:
        return "No set of incomplete runs is at hand."
    one, figure = min(stated, key=lambda pair: len(pair[0].systems[pair[1].row]))
    solved, attempted, total = len(one.solved(figure.row)), len(one.systems[figure.row]), len(one.tasks())
    whole = wilson(solved, total)
    low, high = number_text(whole.low, "share"), number_text(whole.high, "share")
    return (
        f"{figure.row} is stated at {figure.printed}% with {attempted} of {total} tasks attempted; of all tasks it is "
        f"{number_text(whole.value, 'share')} (95% interval {low} to {high})."
    )

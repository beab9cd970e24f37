"""Tables of solve rates on public benchmarks: how sure a rate is, which ranks can be told apart, and out of what."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil

from msgspec import Struct, structs

from misstep_analysis.published import Figure, published_row, read_paper
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_difference
from misstep_analysis.stats.decisions.power import sample_size_paired
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.audit import prints_as
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables import (
    Row,
    Table,
    TableHead,
    Unit,
    estimate_row,
    made_by_this,
    measured_on,
    rows_in,
    rows_of,
)
from misstep_analysis.tables.wording import interval_words, number_text, with_interval
from misstep_harness.items import Attempts
from misstep_harness.places import data_folder

ALPHA = 0.05

POWER = 0.8

_PAPER = "engineering_agent"
_ABSENT = "No set of submissions is available."
_SUBMISSIONS = TableHead(
    "submissions",
    _PAPER,
    "Solve rates of submissions to public benchmarks",
    (
        "Rule: the best by tasks solved, equal ones by name. A task without a result counts as unsolved.",
        "Intervals are Wilson's, of tasks drawn alike; the best of many is likely to have been lucky as well.",
    ),
)
_RANKING = TableHead(
    "ranking",
    _PAPER,
    "Which ranks can be told apart",
    (
        "Two submissions are compared on the same tasks: only those that one of them alone solved count (McNemar, "
        "mid-p). Holm's adjustment is for all gaps of the ranking, not only those shown.",
        f"Tasks needed: for a two-sided test at {100 * ALPHA:g}% to find the observed difference with a chance of "
        f"{100 * POWER:g}%, with as many tasks solved by one alone (Connor 1987), one comparison only.",
        "Not told apart does not mean equal: the interval says how far apart the two may be.",
    ),
)
_DENOMINATORS = TableHead(
    "denominators",
    _PAPER,
    "A solve rate, and out of which tasks",
    (
        "A stated rate is reproduced if either denominator gives it; the other row then has no status of its own.",
        "Of all tasks: those that any run of the set attempted; a task without a result counts as unsolved.",
        "Rates of different benchmarks do not compare, and neither do those of different subsets of one.",
    ),
)
Cell = tuple[int, int]
"""How often a task was tried, and how often of these it was solved."""


class SolvedSet(Struct, frozen=True):
    """One table of a public set: `systems` is system → task → (tried, solved), `source` the set with its version."""

    dataset: str
    title: str
    source: str
    systems: Mapping[str, Mapping[str, Cell]]

    def tasks(self) -> tuple[str, ...]:
        """Return every task that any system was tried on, in order of name."""
        return tuple(sorted({task for cells in self.systems.values() for task in cells}))

    def solved(self, system: str) -> frozenset[str]:
        """Return the tasks that a system solved at least once."""
        return frozenset(task for task, (_, solved) in self.systems[system].items() if solved)

    def ranking(self) -> tuple[str, ...]:
        """Return the systems, most solved tasks first, equal ones by name."""
        return tuple(sorted(self.systems, key=lambda system: (-len(self.solved(system)), system)))

    def ranked_by_share(self) -> tuple[str, ...]:
        """Return the systems, the largest share of successful tries first, equal ones by name."""
        return tuple(sorted(self.systems, key=lambda system: (-self._share(system), system)))

    def _share(self, system: str) -> Fraction:
        cells = self.systems[system].values()
        return Fraction(sum(solved for _, solved in cells), sum(tried for tried, _ in cells) or 1)


def solved_set(attempts: Iterable[Attempts], dataset: str, table: str, title: str, source: str) -> SolvedSet:
    """Return one table of a set's attempts."""
    systems: dict[str, dict[str, Cell]] = {}
    for row in attempts:
        if row.table == table:
            systems.setdefault(row.system, {})[row.task] = (row.tried, row.solved)
    return SolvedSet(dataset, title, source, systems)


def reported_figures() -> tuple[Figure, ...]:
    """Return what the sets' own pages state."""
    return read_paper(data_folder() / "reported" / "solve_rates.toml").figure


def figures_of(one: SolvedSet) -> list[Figure]:
    """Return what a set's own page states of its systems."""
    return [figure for figure in reported_figures() if figure.row in one.systems]


class Stated(Struct, frozen=True):
    """A figure that a set's page states, and what the attempts give; `reason` says why it differs, if it does."""

    figure: Figure
    found: Estimate
    source: str
    reason: str = ""

    def row(self, quantity: str, group: str, *, judged: bool = True) -> Row:
        """What the attempts give, with the status of the stated figure; not `judged` where another way gives it."""
        row = estimate_row(quantity, self.found, "share", group, self.source)
        if not self.reason:
            return structs.replace(row, status="reproduced")
        return structs.replace(row, status="differs" if judged else None, reason=self.reason)


def stated_text(stated: Sequence[Stated], figures: str, results: str) -> str:
    """Return the end of a finding: how many stated figures follow from the results; empty where none is stated."""
    reproduced = sum(not one.reason for one in stated)
    return f"; {reproduced} of {len(stated)} stated {figures} follow from the {results}" if stated else ""


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
    rows: list[Row] = []
    drawn: list[Row] = []
    every: list[Stated] = []
    for one in sets:
        best, stated = one.ranking()[:top], [_stated(one, figure) for figure in figures_of(one)]
        of_best = [
            _rate_row(one, system, f"{one.title}: the {len(best)} best of {len(one.systems)}") for system in best
        ]
        group = f"{one.title}: stated on its page"
        printed = [published_row(each.figure, each.figure.row, group=group) for each in stated]
        measured = [each.row(each.figure.row, group) for each in stated]
        rows += measured_on(one.dataset, [*of_best, *chain.from_iterable(zip(printed, measured, strict=True))])
        drawn += [*of_best, *measured]
        every += stated
    finding = _rates_finding(sets[0], every) if sets else _ABSENT
    return _SUBMISSIONS.table(finding, rows, notes, datasets=(one.dataset for one in sets), drawn=drawn)


def _rates_finding(one: SolvedSet, stated: Sequence[Stated]) -> str:
    best = _rate(one, one.ranking()[0])
    return (
        f"The best of {len(one.systems)} submissions to {one.title} solves {number_text(best.value, 'share')} of "
        f"{best.n:,} tasks ({interval_words(best.low, best.high, 'share')}){stated_text(stated, 'rates', 'results')}."
    )


def _rate(one: SolvedSet, system: str, n: int | None = None) -> Estimate:
    return wilson(len(one.solved(system)), n or len(one.systems[system]))


def _rate_row(one: SolvedSet, system: str, group: str) -> Row:
    source = f"{len(one.solved(system)):,} / {len(one.systems[system]):,}, {one.source}"
    return estimate_row(system, _rate(one, system), "share", group, source)


def _stated(one: SolvedSet, figure: Figure, n: int | None = None, of: str = "") -> Stated:
    solved, total = len(one.solved(figure.row)), n or len(one.systems[figure.row])
    counts, rate = f"{solved:,} / {total:,}{of}", _rate(one, figure.row, n)
    same = prints_as(solved, total, figure.digits)
    reason = "" if same else f"{counts} is {100 * solved / total:.2f}%, not {figure.digits}%."
    return Stated(figure, rate, f"{counts}, {one.source}", reason)


def gaps(one: SolvedSet, pairs: Iterable[tuple[str, str]]) -> list[Gap]:
    """Pairs of systems compared on the tasks of the set, with p-values adjusted by Holm for all the pairs given."""
    wanted = list(pairs)
    tasks = len(one.tasks())
    tables = []
    for better, worse in (map(one.solved, pair) for pair in wanted):
        both, either = len(better & worse), len(better | worse)
        tables.append(PairedTable(both, len(better - worse), len(worse - better), tasks - either))
    p_values = [mcnemar_mid_p(table).p_value for table in tables]
    return [
        Gap(*pair, table, 1.0 if p_value is None else p_value, 1.0 if after is None else after)
        for pair, table, p_value, after in zip(wanted, tables, p_values, holm(p_values).p_values, strict=True)
    ]


@made_by_this
def ranking_table(sets: Sequence[SolvedSet], top: int = 10, notes: Sequence[str] = ()) -> Table:
    """Which neighbours in a ranking differ, which ranks differ from the first, and how many tasks that would take."""
    rows: list[Row] = []
    findings: list[str] = []
    for one in sets:
        first, *others = one.ranking()
        neighbours, from_first = gaps(one, pairwise([first, *others])), gaps(one, [(first, other) for other in others])
        apart, level = sum(gap.significant for gap in neighbours), sum(not gap.significant for gap in from_first)
        counts = {"Gaps between neighbours that can be told from chance": apart, "Not to be told from the first": level}
        whole = rows_in("count", counts, f"{one.title}: the whole ranking", one.source, n=len(neighbours))
        method = f"McNemar, mid-p, Holm over {len(neighbours)} comparisons"
        rows += measured_on(one.dataset, [structs.replace(row, method=method) for row in whole])
        for gap in neighbours[: top - 1]:
            rows += measured_on(one.dataset, _gap_rows(one, gap, len(neighbours)))
        findings.append(
            f"On {one.title}, {apart} of the {len(neighbours)} gaps between neighbours in the ranking can be told from "
            f"chance at {100 * ALPHA:g}% (Holm), and {level} submissions cannot be told from the first"
        )
    finding = f"{'; '.join(findings)}." if findings else _ABSENT
    return _RANKING.table(finding, rows, notes, datasets=(one.dataset for one in sets))


def _gap_rows(one: SolvedSet, gap: Gap, tests: int) -> list[Row]:
    table, difference = gap.paired, paired_difference(gap.paired)
    needed = Estimate(
        None
        if not difference.value
        else ceil(sample_size_paired(table.discordant / table.n, difference.value, POWER, ALPHA)),
        method=f"Connor, power {POWER:g} at {ALPHA:g}, two-sided",
        reason="" if difference.value else "No difference to detect.",
    )
    figures: tuple[tuple[str, Estimate, Unit], ...] = (
        ("Difference", difference, "difference"),
        ("p", Estimate(gap.p_value, n=table.n, method="McNemar, mid-p"), "p"),
        ("p, adjusted", Estimate(gap.adjusted, n=table.n, method=f"Holm over {tests} comparisons"), "p"),
        ("Tasks needed", needed, "count"),
    )
    counts = f"{table.first_only} and {table.second_only} solved by one alone, {one.source}"
    return rows_of(figures, f"{gap.better} less {gap.worse}", counts)


@made_by_this
def denominators_table(runs: Sequence[SolvedSet], others: Sequence[SolvedSet] = (), notes: Sequence[str] = ()) -> Table:
    """Stated rates of incomplete runs, out of the tasks attempted and out of all; further sets with one rate each."""
    rows: list[Row] = []
    for one in runs:
        for figure in figures_of(one):
            # Where one of the two ways gives the stated rate, the other is not a contradiction.
            ways = _stated(one, figure, of=" attempted"), _stated(one, figure, len(one.tasks()), " tasks")
            neither = all(way.reason for way in ways)
            worked_out = [way.row(figure.row, one.title, judged=neither or not way.reason) for way in ways]
            rows += measured_on(one.dataset, [published_row(figure, figure.row, group=one.title), *worked_out])
    for one in others:
        rows += measured_on(one.dataset, (_rate_row(one, system, one.title) for system in one.systems))
    datasets = (one.dataset for one in (*runs, *others))
    return _DENOMINATORS.table(_denominators_finding(runs), rows, notes, datasets=datasets)


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

"""Solve rates on public benchmarks: how sure they are, which ranks differ, and pass@k of repeated attempts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.published import Figure, published_row, read_paper
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_difference
from misstep_analysis.stats.decisions.power import sample_size_paired
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.pass_at_k import Kind, mean_over_tasks, pass_at_k, pass_hat_k, plugged_in_pass_at_k
from misstep_analysis.stats.printed.audit import prints_as, value_prints_as
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

SAMPLED_KS = (1, 2, 5, 10, 50, 100)

TRIAL_KS = (1, 2, 3, 4)

KINDS: tuple[Kind, ...] = ("pass@k", "pass^k")

EXACT = "exact"
PLUGGED_IN = "share put in: 1 - (1 - c/n)^k"
_PAPER = "engineering_agent"
_NO_ATTEMPTS = "No set of repeated attempts is available."

_SAMPLES = TableHead(
    "pass_at_k",
    _PAPER,
    "One of k samples solves the task: pass@k",
    (
        "Exact: 1 - C(n-c, k) / C(n, k) for each task, averaged over tasks; intervals resample tasks.",
        "Putting the share c/n in for the chance of success is biased for k above 1, more so the nearer k is to n.",
        "Solved in any of five runs is pass@5 of tasks with five attempts each: it cannot be below the rate of one "
        "run, and says nothing of how steady a system is, which pass^k does.",
    ),
)
_TRIALS = TableHead(
    "repeated_trials",
    _PAPER,
    "One of k trials succeeds, or all of k do: pass@k and pass^k",
    (
        "pass^k: C(c, k) / C(n, k) for each task, averaged over tasks; intervals resample tasks.",
        f"Tasks with fewer than {TRIAL_KS[-1]} trials are left out, the same ones for every k.",
        "Best, median and last are the system's places by mean success over its tasks.",
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


class Sampled(Struct, frozen=True):
    """A system's samples: pass@k at each k as the mean over its tasks, and as the share of solved samples put in."""

    of: SolvedSet
    tasks: int
    exact: dict[int, Estimate]
    plugged_in: dict[int, float]

    def lost(self, k: int) -> float:
        """Return what is lost at k by putting the share in."""
        return (self.exact[k].value or 0.0) - self.plugged_in[k]


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


class _Tried(Struct, frozen=True):
    """A system's trials: both kinds at each k as the mean over its tasks, and what its set's page states of them."""

    of: SolvedSet
    system: str
    means: dict[tuple[Kind, int], Estimate]
    stated: dict[tuple[Kind, int], Stated]

    @property
    def name(self) -> str:
        return f"{self.of.title}: {self.system}"


def sampled(sets: Sequence[SolvedSet], seed: int = 0) -> list[Sampled]:
    """pass@k of each system of sets whose tasks have at least 100 samples; `seed` is of the bootstrap over tasks."""
    samples = []
    for solved, cells in ((each, list(cells.values())) for each in sets for cells in each.systems.values()):
        exact = {k: _mean(cells, k, "pass@k", seed) for k in SAMPLED_KS}
        put_in = {k: float(sum(plugged_in_pass_at_k(n, c, k) for n, c in cells) / len(cells)) for k in SAMPLED_KS}
        samples.append(Sampled(solved, len(cells), exact, put_in))
    return samples


def _mean(cells: Sequence[Cell], k: int, kind: Kind, seed: int) -> Estimate:
    return mean_over_tasks(cells, k, np.random.default_rng(seed), kind).mean


def at_k(kind: Kind, k: int) -> str:
    """Return the name of a figure of a kind at one k: "pass@10"."""
    return kind.replace("k", str(k))


@made_by_this
def samples_table(samples: Sequence[Sampled], beside: Sequence[Row] = (), notes: Sequence[str] = ()) -> Table:
    """pass@k of sampled solutions, exact and in the form that puts the observed share in."""
    finding = _samples_finding(samples[0]) if samples else _NO_ATTEMPTS
    return _SAMPLES.table(
        finding, (*sample_rows(samples), *beside), notes, datasets=(sample.of.dataset for sample in samples)
    )


def sample_rows(samples: Sequence[Sampled]) -> list[Row]:
    """Return the rows of `samples_table`, each system's exact ones first."""
    rows: list[Row] = []
    for sample in samples:
        put_in = {
            k: Estimate(value, n=sample.tasks, method="mean over tasks of 1 - (1 - c/n)^k")
            for k, value in sample.plugged_in.items()
        }
        for way, means in ((EXACT, sample.exact), (PLUGGED_IN, put_in)):
            named = {at_k("pass@k", k): mean for k, mean in means.items()}
            rows += rows_in("share", named, f"{sample.of.title}: {way}", sample.of.source)
    return rows


def _samples_finding(sampled: Sampled) -> str:
    worst = max(sampled.exact, key=sampled.lost)
    return (
        f"{with_interval(sampled.exact[1], 'share')} of samples solve their task, and "
        f"{with_interval(sampled.exact[100], 'share')} of tasks are solved by one of 100; putting the observed share "
        f"in loses up to {100 * sampled.lost(worst):.1f} points, at {at_k('pass@k', worst)}."
    )


def tried(sets: Sequence[SolvedSet], seed: int = 0) -> list[_Tried]:
    """pass@k and pass^k of systems with four or more trials on each task; `seed` is of the bootstrap over tasks.

    Of a set with more than three systems the best, the median and the last by mean success are taken.
    """
    return [_tried(solved, system, seed) for solved in sets for system in extremes(solved)]


@made_by_this
def trials_table(trials: Sequence[_Tried], notes: Sequence[str] = ()) -> Table:
    """pass@k and pass^k of systems tried four or more times on each task; what a set's page states beside."""
    rows: list[Row] = []
    for trial in trials:
        for (kind, k), stated in ((key, trial.stated.get(key)) for key in trial.means):
            group = f"{kind}, {trial.name}"
            of_k = [] if stated is None else [published_row(stated.figure, at_k(kind, k), group=group)]
            rows += measured_on(trial.of.dataset, [*of_k, _trial_row(trial, kind, k)])
    finding = _trials_finding(trials) if trials else _NO_ATTEMPTS
    return _TRIALS.table(finding, rows, notes, datasets=(trial.of.dataset for trial in trials))


def extremes(solved: SolvedSet) -> tuple[str, ...]:
    """The systems of a set; of more than three the best, the median and the last by mean success, then by name."""
    ranked = sorted(solved.systems, key=lambda system: (-_mean_success(solved.systems[system].values()), system))
    return tuple(ranked) if len(ranked) <= 3 else (ranked[0], ranked[len(ranked) // 2], ranked[-1])


def _mean_success(cells: Collection[Cell]) -> Fraction:
    return sum((Fraction(solved, tried) for tried, solved in cells), Fraction(0)) / len(cells)


def _tried(solved: SolvedSet, system: str, seed: int) -> _Tried:
    cells = [cell for cell in solved.systems[system].values() if cell[0] >= TRIAL_KS[-1]]
    means = {(kind, k): _mean(cells, k, kind, seed) for kind in KINDS for k in TRIAL_KS}
    figures = {figure.column: figure for figure in figures_of(solved) if figure.row == system}
    stated = {
        (kind, k): _stated_mean(figures[at_k(kind, k)], means[kind, k], cells, k, kind, solved.source)
        for kind, k in means
        if at_k(kind, k) in figures
    }
    return _Tried(solved, system, means, stated)


def _stated_mean(figure: Figure, mean: Estimate, cells: Sequence[Cell], k: int, kind: Kind, source: str) -> Stated:
    chance = pass_at_k if kind == "pass@k" else pass_hat_k
    exact = 100 * sum((chance(n, c, k) for n, c in cells), Fraction(0)) / len(cells)
    if value_prints_as(exact, figure.digits):
        return Stated(figure, mean, source)
    return Stated(figure, mean, source, f"The attempts give {float(exact):.2f}%, not {figure.digits}%.")


def _trials_finding(trials: Sequence[_Tried]) -> str:
    first, last = trials[0], TRIAL_KS[-1]
    stated = stated_text([stated for trial in trials for stated in trial.stated.values()], "figures", "attempts")
    return (
        f"{first.name} succeeds in {with_interval(first.means['pass^k', 1], 'share')} of single trials, and in all of "
        f"{last} on {with_interval(first.means['pass^k', last], 'share')} of tasks{stated}."
    )


def _trial_row(trial: _Tried, kind: Kind, k: int) -> Row:
    quantity, group, stated = at_k(kind, k), f"{kind}, {trial.name}", trial.stated.get((kind, k))
    if stated is not None:
        return stated.row(quantity, group)
    return estimate_row(quantity, trial.means[kind, k], "share", group, trial.of.source)


def trial_rows(trials: Sequence[_Tried], kind: Kind) -> list[Row]:
    """Return the measured rows of one of the two kinds, for a figure."""
    return [_trial_row(trial, kind, k) for trial in trials for k in TRIAL_KS]


def curve_places(ks: Sequence[int]) -> dict[str, float]:
    """Return where on the axis of a figure of these tables each quantity stands: at its k."""
    return {at_k(kind, k): float(k) for kind in KINDS for k in ks}


ALPHA = 0.05

POWER = 0.8

_NO_SUBMISSIONS = "No set of submissions is available."
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


def figures_of(solved: SolvedSet) -> list[Figure]:
    """Return what a set's own page states of its systems."""
    return [figure for figure in reported_figures() if figure.row in solved.systems]


def stated_text(stated: Sequence[Stated], figures: str, results: str) -> str:
    """Return the end of a finding: how many stated figures follow from the results; empty where none is stated."""
    reproduced = sum(not statement.reason for statement in stated)
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
    for solved in sets:
        best, stated = solved.ranking()[:top], [_stated_count(solved, figure) for figure in figures_of(solved)]
        of_best = [
            _rate_row(solved, system, f"{solved.title}: the {len(best)} best of {len(solved.systems)}")
            for system in best
        ]
        group = f"{solved.title}: stated on its page"
        printed = [published_row(each.figure, each.figure.row, group=group) for each in stated]
        measured = [each.row(each.figure.row, group) for each in stated]
        rows += measured_on(solved.dataset, [*of_best, *chain.from_iterable(zip(printed, measured, strict=True))])
        drawn += [*of_best, *measured]
        every += stated
    finding = _rates_finding(sets[0], every) if sets else _NO_SUBMISSIONS
    return _SUBMISSIONS.table(finding, rows, notes, datasets=(solved.dataset for solved in sets), drawn=drawn)


def _rates_finding(solved: SolvedSet, stated: Sequence[Stated]) -> str:
    best = _rate(solved, solved.ranking()[0])
    return (
        f"The best of {len(solved.systems)} submissions to {solved.title} solves {number_text(best.value, 'share')} of "
        f"{best.n:,} tasks ({interval_words(best.low, best.high, 'share')}){stated_text(stated, 'rates', 'results')}."
    )


def _rate(solved: SolvedSet, system: str, n: int | None = None) -> Estimate:
    return wilson(len(solved.solved(system)), n or len(solved.systems[system]))


def _rate_row(solved: SolvedSet, system: str, group: str) -> Row:
    source = f"{len(solved.solved(system)):,} / {len(solved.systems[system]):,}, {solved.source}"
    return estimate_row(system, _rate(solved, system), "share", group, source)


def _stated_count(one: SolvedSet, figure: Figure, n: int | None = None, of: str = "") -> Stated:
    solved, total = len(one.solved(figure.row)), n or len(one.systems[figure.row])
    counts, rate = f"{solved:,} / {total:,}{of}", _rate(one, figure.row, n)
    same = prints_as(solved, total, figure.digits)
    reason = "" if same else f"{counts} is {100 * solved / total:.2f}%, not {figure.digits}%."
    return Stated(figure, rate, f"{counts}, {one.source}", reason)


def gaps(solved: SolvedSet, pairs: Iterable[tuple[str, str]]) -> list[Gap]:
    """Pairs of systems compared on the tasks of the set, with p-values adjusted by Holm for all the pairs given."""
    wanted = list(pairs)
    tasks = len(solved.tasks())
    tables = []
    for better, worse in (map(solved.solved, pair) for pair in wanted):
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
    for solved in sets:
        first, *others = solved.ranking()
        neighbours, from_first = (
            gaps(solved, pairwise([first, *others])),
            gaps(solved, [(first, other) for other in others]),
        )
        apart, level = sum(gap.significant for gap in neighbours), sum(not gap.significant for gap in from_first)
        counts = {"Gaps between neighbours that can be told from chance": apart, "Not to be told from the first": level}
        whole = rows_in("count", counts, f"{solved.title}: the whole ranking", solved.source, n=len(neighbours))
        method = f"McNemar, mid-p, Holm over {len(neighbours)} comparisons"
        rows += measured_on(solved.dataset, [structs.replace(row, method=method) for row in whole])
        for gap in neighbours[: top - 1]:
            rows += measured_on(solved.dataset, _gap_rows(solved, gap, len(neighbours)))
        findings.append(
            f"On {solved.title}, {apart} of the {len(neighbours)} gaps between neighbours in the ranking can be told "
            f"from chance at {100 * ALPHA:g}% (Holm), and {level} submissions cannot be told from the first"
        )
    finding = f"{'; '.join(findings)}." if findings else _NO_SUBMISSIONS
    return _RANKING.table(finding, rows, notes, datasets=(solved.dataset for solved in sets))


def _gap_rows(solved: SolvedSet, gap: Gap, tests: int) -> list[Row]:
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
    counts = f"{table.first_only} and {table.second_only} solved by one alone, {solved.source}"
    return rows_of(figures, f"{gap.better} less {gap.worse}", counts)


@made_by_this
def denominators_table(runs: Sequence[SolvedSet], others: Sequence[SolvedSet] = (), notes: Sequence[str] = ()) -> Table:
    """Stated rates of incomplete runs, out of the tasks attempted and out of all; further sets with one rate each."""
    rows: list[Row] = []
    for run in runs:
        for figure in figures_of(run):
            # Where one of the two ways gives the stated rate, the other is not a contradiction.
            ways = (
                _stated_count(run, figure, of=" attempted"),
                _stated_count(run, figure, len(run.tasks()), " tasks"),
            )
            neither = all(way.reason for way in ways)
            worked_out = [way.row(figure.row, run.title, judged=neither or not way.reason) for way in ways]
            rows += measured_on(run.dataset, [published_row(figure, figure.row, group=run.title), *worked_out])
    for other in others:
        rows += measured_on(other.dataset, (_rate_row(other, system, other.title) for system in other.systems))
    datasets = (one.dataset for one in (*runs, *others))
    return _DENOMINATORS.table(_denominators_finding(runs), rows, notes, datasets=datasets)


def _denominators_finding(runs: Sequence[SolvedSet]) -> str:
    stated = [(run, figure) for run in runs for figure in figures_of(run)]
    if not stated:
        return "No set of incomplete runs is available."
    one, figure = min(stated, key=lambda pair: len(pair[0].systems[pair[1].row]))
    attempted, total = len(one.systems[figure.row]), len(one.tasks())
    return (
        f"{figure.row} is stated at {figure.printed}% with {attempted} of {total} tasks attempted; of all tasks it is "
        f"{with_interval(_rate(one, figure.row, total), 'share')}."
    )

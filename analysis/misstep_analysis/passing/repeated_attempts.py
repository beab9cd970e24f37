"""Tables of tasks tried several times: pass@k (one of k attempts succeeds) and pass^k (all of k do), side by side."""

from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np
from msgspec import Struct

from misstep_analysis.passing.solve_rates import Cell, SolvedSet, Stated, figures_of, stated_text
from misstep_analysis.published import Figure, published_row
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.pass_at_k import Kind, mean_over_tasks, pass_at_k, pass_hat_k, plugged_in_pass_at_k
from misstep_analysis.stats.printed.audit import value_prints_as
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, measured_on, rows_in
from misstep_analysis.tables.wording import with_interval

SAMPLED_KS = (1, 2, 5, 10, 50, 100)

TRIAL_KS = (1, 2, 3, 4)

KINDS: tuple[Kind, ...] = ("pass@k", "pass^k")

EXACT = "exact"
PLUGGED_IN = "share put in: 1 - (1 - c/n)^k"
_PAPER = "engineering_agent"
_ABSENT = "No set of repeated attempts is available."

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


class Sampled(Struct, frozen=True):
    """A system's samples: pass@k at each k as the mean over its tasks, and as the share of solved samples put in."""

    of: SolvedSet
    tasks: int
    exact: dict[int, Estimate]
    plugged_in: dict[int, float]

    def lost(self, k: int) -> float:
        """Return what is lost at k by putting the share in."""
        return (self.exact[k].value or 0.0) - self.plugged_in[k]


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
    for one, cells in ((each, list(cells.values())) for each in sets for cells in each.systems.values()):
        exact = {k: _mean(cells, k, "pass@k", seed) for k in SAMPLED_KS}
        put_in = {k: float(sum(plugged_in_pass_at_k(n, c, k) for n, c in cells) / len(cells)) for k in SAMPLED_KS}
        samples.append(Sampled(one, len(cells), exact, put_in))
    return samples


def _mean(cells: Sequence[Cell], k: int, kind: Kind, seed: int) -> Estimate:
    return mean_over_tasks(cells, k, np.random.default_rng(seed), kind).mean


def at_k(kind: Kind, k: int) -> str:
    """Return the name of a figure of a kind at one k: "pass@10"."""
    return kind.replace("k", str(k))


@made_by_this
def samples_table(samples: Sequence[Sampled], beside: Sequence[Row] = (), notes: Sequence[str] = ()) -> Table:
    """pass@k of sampled solutions, exact and in the form that puts the observed share in."""
    finding = _samples_finding(samples[0]) if samples else _ABSENT
    return _SAMPLES.table(
        finding, (*sample_rows(samples), *beside), notes, datasets=(one.of.dataset for one in samples)
    )


def sample_rows(samples: Sequence[Sampled]) -> list[Row]:
    """Return the rows of `samples_table`, each system's exact ones first."""
    rows: list[Row] = []
    for one in samples:
        put_in = {
            k: Estimate(value, n=one.tasks, method="mean over tasks of 1 - (1 - c/n)^k")
            for k, value in one.plugged_in.items()
        }
        for way, means in ((EXACT, one.exact), (PLUGGED_IN, put_in)):
            named = {at_k("pass@k", k): mean for k, mean in means.items()}
            rows += rows_in("share", named, f"{one.of.title}: {way}", one.of.source)
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
    return [_tried(one, system, seed) for one in sets for system in extremes(one)]


@made_by_this
def trials_table(trials: Sequence[_Tried], notes: Sequence[str] = ()) -> Table:
    """pass@k and pass^k of systems tried four or more times on each task; what a set's page states beside."""
    rows: list[Row] = []
    for one in trials:
        for (kind, k), stated in ((key, one.stated.get(key)) for key in one.means):
            group = f"{kind}, {one.name}"
            of_k = [] if stated is None else [published_row(stated.figure, at_k(kind, k), group=group)]
            rows += measured_on(one.of.dataset, [*of_k, _trial_row(one, kind, k)])
    finding = _trials_finding(trials) if trials else _ABSENT
    return _TRIALS.table(finding, rows, notes, datasets=(one.of.dataset for one in trials))


def extremes(one: SolvedSet) -> tuple[str, ...]:
    """The systems of a set; of more than three the best, the median and the last by mean success, then by name."""
    ranked = sorted(one.systems, key=lambda system: (-_mean_success(one.systems[system].values()), system))
    return tuple(ranked) if len(ranked) <= 3 else (ranked[0], ranked[len(ranked) // 2], ranked[-1])


def _mean_success(cells: Collection[Cell]) -> Fraction:
    return sum((Fraction(solved, tried) for tried, solved in cells), Fraction(0)) / len(cells)


def _tried(one: SolvedSet, system: str, seed: int) -> _Tried:
    cells = [cell for cell in one.systems[system].values() if cell[0] >= TRIAL_KS[-1]]
    means = {(kind, k): _mean(cells, k, kind, seed) for kind in KINDS for k in TRIAL_KS}
    figures = {figure.column: figure for figure in figures_of(one) if figure.row == system}
    stated = {
        (kind, k): _stated(figures[at_k(kind, k)], means[kind, k], cells, k, kind, one.source)
        for kind, k in means
        if at_k(kind, k) in figures
    }
    return _Tried(one, system, means, stated)


def _stated(figure: Figure, mean: Estimate, cells: Sequence[Cell], k: int, kind: Kind, source: str) -> Stated:
    chance = pass_at_k if kind == "pass@k" else pass_hat_k
    exact = 100 * sum((chance(n, c, k) for n, c in cells), Fraction(0)) / len(cells)
    if value_prints_as(exact, figure.digits):
        return Stated(figure, mean, source)
    return Stated(figure, mean, source, f"The attempts give {float(exact):.2f}%, not {figure.digits}%.")


def _trials_finding(trials: Sequence[_Tried]) -> str:
    first, last = trials[0], TRIAL_KS[-1]
    stated = stated_text([stated for one in trials for stated in one.stated.values()], "figures", "attempts")
    return (
        f"{first.name} succeeds in {with_interval(first.means['pass^k', 1], 'share')} of single trials, and in all of "
        f"{last} on {with_interval(first.means['pass^k', last], 'share')} of tasks{stated}."
    )


def _trial_row(one: _Tried, kind: Kind, k: int) -> Row:
    quantity, group, stated = at_k(kind, k), f"{kind}, {one.name}", one.stated.get((kind, k))
    if stated is not None:
        return stated.row(quantity, group)
    return estimate_row(quantity, one.means[kind, k], "share", group, one.of.source)


def trial_rows(trials: Sequence[_Tried], kind: Kind) -> list[Row]:
    """Return the measured rows of one of the two kinds, for a figure."""
    return [_trial_row(one, kind, k) for one in trials for k in TRIAL_KS]


def curve_places(ks: Sequence[int]) -> dict[str, float]:
    """Return where on the axis of a figure of these tables each quantity stands: at its k."""
    return {at_k(kind, k): float(k) for kind in KINDS for k in ks}

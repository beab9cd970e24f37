"""Tables of tasks tried several times: pass@k (one of k attempts succeeds) and pass^k (all of k do), side by side."""

from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np
from msgspec import structs

from analysis.measures.solved import Cell, SolvedSet, reported_figures
from analysis.published import Figure, published_row
from analysis.stats.audit import value_prints_as
from analysis.stats.pass_at_k import Kind, mean_over_tasks, pass_at_k, pass_hat_k, plugged_in_pass_at_k
from analysis.tables import Row, Table, estimate_row, made_by_this
from analysis.tables.wording import number_text

SAMPLED_KS = (1, 2, 5, 10, 50, 100)
"""k shown where a task has a hundred samples."""

TRIAL_KS = (1, 2, 3, 4)
"""k shown where a task has four or five trials."""

KINDS: tuple[Kind, ...] = ("pass@k", "pass^k")

EXACT = "exact"
PLUGGED_IN = "share put in: 1 - (1 - c/n)^k"
_PAPER = "engineering_agent"
_ABSENT = "No set of repeated attempts is at hand."


@made_by_this
def samples_table(
    sets: Sequence[SolvedSet], beside: Sequence[Row] = (), seed: int = 0, notes: Sequence[str] = ()
) -> Table:
    """pass@k of sampled solutions, exact and in the form that puts the observed share in.

    Parameters
    ----------
    sets
        Sets whose tasks have at least 100 samples.
    beside
        A paper's printed solve rates over several runs, shown under them.
    seed
        Of the bootstrap over tasks.
    notes
        What else to say, such as which sets are not at hand.
    """
    rows = [row for one in sets for system in one.systems for row in _sample_rows(one, system, seed)]
    return Table(
        name="pass_at_k",
        paper=_PAPER,
        title="One of k samples solves the task: pass@k",
        finding=_samples_finding(rows),
        rows=(*rows, *beside),
        notes=(
            "Exact: 1 - C(n-c, k) / C(n, k) for each task, averaged over tasks; intervals resample tasks.",
            "Putting the share c/n in for the chance of success is biased for k above 1, more so the nearer k is to n.",
            "Solved in any of five runs is pass@5 of tasks with five attempts each: it cannot be below the rate of one "
            "run, and says nothing of how steady a system is, which pass^k does.",
            *notes,
        ),
        datasets=tuple(one.dataset for one in sets),
    )


def _sample_rows(one: SolvedSet, system: str, seed: int) -> list[Row]:
    cells = list(one.systems[system].values())
    exact = [_mean_row(one, cells, k, "pass@k", f"{one.title}: {EXACT}", seed) for k in SAMPLED_KS]
    plugged = [
        Row(
            quantity=f"pass@{k}",
            value=float(sum(plugged_in_pass_at_k(n, c, k) for n, c in cells) / len(cells)),
            n=len(cells),
            source=one.source,
            unit="share",
            method="mean over tasks of 1 - (1 - c/n)^k",
            group=f"{one.title}: {PLUGGED_IN}",
        )
        for k in SAMPLED_KS
    ]
    return exact + plugged


def _mean_row(one: SolvedSet, cells: Sequence[Cell], k: int, kind: Kind, group: str, seed: int) -> Row:
    estimate = mean_over_tasks(cells, k, np.random.default_rng(seed), kind).mean
    return estimate_row(kind.replace("k", str(k)), estimate, "share", group, one.source)


def _samples_finding(rows: Sequence[Row]) -> str:
    exact = {row.quantity: row for row in rows if row.group.endswith(EXACT)}
    plugged = {row.quantity: row for row in rows if row.group.endswith(PLUGGED_IN)}
    if not exact:
        return _ABSENT
    first, last = exact["pass@1"], exact["pass@100"]
    lost = {name: float(row.value or 0) - float(plugged[name].value or 0) for name, row in exact.items()}
    worst = max(lost, key=lost.__getitem__)
    return (
        f"{_with_interval(first)} of samples solve their task, and {_with_interval(last)} of tasks are solved by one "
        f"of 100; putting the observed share in loses up to {100 * lost[worst]:.1f} points, at {worst}."
    )


@made_by_this
def trials_table(sets: Sequence[SolvedSet], seed: int = 0, notes: Sequence[str] = ()) -> Table:
    """pass@k and pass^k of systems tried four or more times on each task; what a set's page states beside.

    Of a set with more than three systems the best, the median and the last by mean success are shown.
    """
    shown = [(one, system) for one in sets for system in extremes(one)]
    rows = [row for one, system in shown for row in _trial_rows(one, system, seed)]
    return Table(
        name="repeated_trials",
        paper=_PAPER,
        title="One of k trials succeeds, or all of k do: pass@k and pass^k",
        finding=_trials_finding(rows),
        rows=tuple(rows),
        notes=(
            "pass^k: C(c, k) / C(n, k) for each task, averaged over tasks; intervals resample tasks.",
            f"Tasks with fewer than {TRIAL_KS[-1]} trials are left out, the same ones for every k.",
            "Best, median and last are the system's places by mean success over its tasks.",
            *notes,
        ),
        datasets=tuple(dict.fromkeys(one.dataset for one in sets)),
    )


def extremes(one: SolvedSet) -> tuple[str, ...]:
    """The systems of a set; of more than three the best, the median and the last by mean success, then by name."""
    ranked = sorted(one.systems, key=lambda system: (-_mean_success(one.systems[system].values()), system))
    return tuple(ranked) if len(ranked) <= 3 else (ranked[0], ranked[len(ranked) // 2], ranked[-1])


def _mean_success(cells: Collection[Cell]) -> Fraction:
    return sum((Fraction(solved, tried) for tried, solved in cells), Fraction(0)) / len(cells)


def _trial_rows(one: SolvedSet, system: str, seed: int) -> list[Row]:
    cells = [cell for cell in one.systems[system].values() if cell[0] >= TRIAL_KS[-1]]
    stated = {figure.column: figure for figure in reported_figures(f"{one.dataset}.") if figure.row == system}
    rows: list[Row] = []
    for kind in KINDS:
        for k in TRIAL_KS:
            row = _mean_row(one, cells, k, kind, f"{kind}, {one.title}: {system}", seed)
            figure = stated.get(row.quantity)
            if figure is None:
                rows.append(row)
            else:
                rows += [published_row(figure, row.quantity, group=row.group), _compared(row, figure, cells, k, kind)]
    return rows


def _compared(row: Row, figure: Figure, cells: Sequence[Cell], k: int, kind: Kind) -> Row:
    """A row with the status of the figure that the set's page states."""
    chance = pass_at_k if kind == "pass@k" else pass_hat_k
    exact = 100 * sum((chance(n, c, k) for n, c in cells), Fraction(0)) / len(cells)
    if value_prints_as(exact, figure.digits):
        return structs.replace(row, status="reproduced")
    reason = f"The attempts give {float(exact):.2f}%, not {figure.digits}%."
    return structs.replace(row, status="differs", reason=reason)


def _trials_finding(rows: Sequence[Row]) -> str:
    if not rows:
        return _ABSENT
    by_group: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.evidence == "real":
            by_group.setdefault(row.group, {})[row.quantity] = row
    last = TRIAL_KS[-1]
    every = next(found for found in by_group.values() if f"pass^{last}" in found)
    first, all_of = every["pass^1"], every[f"pass^{last}"]
    judged = [row.status for row in rows if row.status is not None]
    stated = (
        f"; {judged.count('reproduced')} of {len(judged)} stated figures follow from the attempts" if judged else ""
    )
    return (
        f"{first.group.removeprefix('pass^k, ')} succeeds in {_with_interval(first)} of single trials, and in all of "
        f"{last} on {_with_interval(all_of)} of tasks{stated}."
    )


def _with_interval(row: Row) -> str:
    value, low, high = (number_text(number, "share") for number in (row.value, row.low, row.high))
    return f"{value} (95% interval {low} to {high})"


def of_kind(rows: Sequence[Row], kind: Kind) -> list[Row]:
    """The measured rows of one of the two kinds, for a figure."""
    return [row for row in rows if row.evidence == "real" and row.group.startswith(kind)]


def curve_places(ks: Sequence[int]) -> dict[str, float]:
    """Where on the axis of a figure of these tables each quantity stands: at its k."""
    return {kind.replace("k", str(k)): float(k) for kind in KINDS for k in ks}

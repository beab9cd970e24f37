"""The systems in the order of several judges of pairs, or of a judge and people, and how far the orders agree."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.pairs.preferences import POINTS, comparisons_of, ordering
from misstep.analysis.measures.judging.pairs.ranking import ALL_ALIKE
from misstep.analysis.measures.judging.rows import judging_table
from misstep.analysis.measures.judging.units import drawn_totals, resampled_estimate, units_of
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.ranking import kendall_tau_b
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import with_interval
from misstep.harness.verdict import Verdict

_RESAMPLES = 2_000
_ALIKE = 1e-6


class AgreedOrder(Struct, frozen=True):
    """Kendall's tau-b between two orders of systems by strength, and whether one system is first in both."""

    a: str
    b: str
    tau: Estimate
    same_first: bool


def agreed_orders(
    runs: Mapping[str, Sequence[Verdict]],
    systems: Mapping[str, tuple[str, str]],
    clusters: Mapping[str, str] | None = None,
    seed: int = 0,
) -> tuple[AgreedOrder, ...]:
    """Return how far the orders of every two of some judges agree, with intervals over resampled tasks."""
    decided = {
        name: [one for one in verdicts if one.label in POINTS and len(set(systems.get(one.item, ()))) == 2]
        for name, verdicts in runs.items()
    }
    items = sorted({one.item for verdicts in decided.values() for one in verdicts})
    names = sorted({name for item in items for name in systems[item]})
    if len(names) < 2:
        return ()
    units, place = units_of(items, clusters), {item: number for number, item in enumerate(items)}
    totals = np.zeros((units.count, len(runs), len(names), len(names)))
    for number, verdicts in enumerate(decided.values()):
        of_unit = units.of_item[[place[one.item] for one in verdicts]]
        compared = comparisons_of(verdicts, systems, names, of_unit)
        np.add.at(totals[:, number], (of_unit, compared.first, compared.second), compared.points)
        np.add.at(totals[:, number], (of_unit, compared.second, compared.first), 1 - compared.points)
    pairs = list(combinations(range(len(runs)), 2))

    def taus(sets: FloatArray) -> FloatArray:
        strengths = ordering(sets.reshape(-1, *totals.shape[2:])).reshape(len(sets), len(runs), -1)
        return np.column_stack([kendall_tau_b(strengths[:, a], strengths[:, b]) for a, b in pairs])

    flat = totals.reshape(units.count, -1)
    observed = ordering(totals.sum(axis=0))
    values = taus(flat.sum(axis=0)[None])[0]
    drawn = drawn_totals(taus, flat, _RESAMPLES, np.random.default_rng(seed))
    judges = list(runs)
    first = [set(np.flatnonzero(one > one.max() - _ALIKE)) for one in observed]
    return tuple(
        AgreedOrder(
            judges[a],
            judges[b],
            resampled_estimate(float(values[at]), drawn[:, at], len(items), units.name, ALL_ALIKE),
            bool(first[a] & first[b]),
        )
        for at, (a, b) in enumerate(pairs)
    )


@made_by_this
def agreed_orders_table(orders: Sequence[AgreedOrder], source: str) -> Table:
    """Return Kendall's tau-b between the orders of every two judges of pairs, and whether one system is first."""
    rows: list[Row] = []
    for one in orders:
        group = f"{one.a} / {one.b}"
        same = "yes" if one.same_first else "no"
        rows.append(estimate_row("Kendall's tau-b", one.tau, "coefficient", group, source))
        rows.append(Row("Same system first", same, source=source, unit="text", group=group))
    known = [one for one in orders if one.tau.value is not None]
    finding = "Kendall's tau-b is not defined for any two orders."
    if known:
        least = min(known, key=lambda one: one.tau.value or 0.0)
        firsts = "put one system first" if least.same_first else "put different systems first"
        which = "" if len(orders) == 1 else ", which agree least,"
        finding = f"{least.a} and {least.b}{which} {firsts}; tau-b is {with_interval(least.tau, 'coefficient')}."
    note = "Tau-b is 1 where two orders of the systems by strength are the same and -1 where one is turned round."
    return judging_table("agreed_orders", "Do the orders of systems agree?", finding, rows, (note,))

"""What an item costs to judge: seconds, tokens and dollars, what came from a cache apart."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.rows import judging_table
from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.measures.judging.units import BoolArray
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, Unit, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, with_interval

NOT_RECORDED = "no verdict says so"

_MEASURES: dict[str, tuple[str, Unit]] = {
    "seconds": ("Seconds", "seconds"),
    "input_tokens": ("Tokens in", "count"),
    "output_tokens": ("Tokens out", "count"),
    "cost_usd": ("Cost", "usd"),
}


class PerItem(Struct, frozen=True):
    """What one item takes: the mean with its interval over items or clusters, the median, the 95th percentile, the sum.

    `reported` is how many verdicts say so.
    """

    reported: int
    mean: Estimate
    median: float | None
    percentile_95: float | None
    total: float | None


class ItemCosts(Struct, frozen=True):
    """What judging took, an item: of the `asked` items whose answers were got now, and of the `cached` ones."""

    asked: int
    cached: int
    now: dict[str, PerItem]
    from_cache: dict[str, PerItem]


def item_costs(sample: JudgedSample) -> ItemCosts:
    """Return what each item took, whether it was answered or not."""
    cached = np.array([verdict.cached for verdict in sample.verdicts], dtype=np.bool_)
    now, from_cache = (
        {name: _per_item(sample, [getattr(verdict, name) for verdict in sample.verdicts], among) for name in _MEASURES}
        for among in (~cached, cached)
    )
    n_cached = int(np.count_nonzero(cached))
    return ItemCosts(len(cached) - n_cached, n_cached, now, from_cache)


def _per_item(sample: JudgedSample, reported: Sequence[float | None], among: BoolArray) -> PerItem:
    each = np.array(reported, dtype=np.float64)
    chosen = among & ~np.isnan(each)
    values = each[chosen]
    mean = sample.units.only(chosen).mean(values, NOT_RECORDED)
    if not len(values):
        return PerItem(0, mean, None, None, None)
    median, percentile_95 = np.quantile(values, [0.5, 0.95])
    return PerItem(len(values), mean, float(median), float(percentile_95), float(values.sum()))


@made_by_this
def costs_table(costs: ItemCosts, source: str) -> Table:
    """Return what an item takes in time, tokens and money, what came from a cache apart."""
    rows: list[Row] = []
    for suffix, measures in (("", costs.now), (", from the cache", costs.from_cache)):
        for name, one in measures.items():
            if one.reported:
                rows += _rows(one, _MEASURES[name][0] + suffix, _MEASURES[name][1], source)
    notes = (
        "n is how many verdicts say what was spent; an item that was not answered counts as well.",
        "What came from the cache was spent at its first time, not now." if costs.cached else "",
    )
    return judging_table("costs", "What an item takes", _finding(costs), rows, notes)


def _rows(one: PerItem, group: str, unit: Unit, source: str) -> list[Row]:
    others = (("Median", one.median), ("95th percentile", one.percentile_95), ("Total", one.total))
    return [
        estimate_row("Mean", one.mean, unit, group, source),
        *(Row(name, value, n=one.reported, unit=unit, group=group, source=source) for name, value in others),
    ]


def _finding(costs: ItemCosts) -> str:
    means = [
        with_interval(one.mean, _MEASURES[name][1], f"by {counted_text(one.reported, 'verdict')}")
        for name in ("cost_usd", "seconds")
        if (one := costs.now[name]).reported
    ]
    cached = f"; {costs.cached:,} of {costs.asked + costs.cached:,} came from the cache" if costs.cached else ""
    if not means:
        return f"No verdict says what it cost{cached}."
    return f"An item asked now takes {' and '.join(means)} in the mean{cached}."

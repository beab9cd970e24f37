"""What an item costs to judge: seconds, tokens and dollars, what came from a cache apart.

The cost of a cached answer is that of its first time; nothing was spent for it now. Not every server says what an
answer took, so each figure says how many verdicts do.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.measures.judging.units import BoolArray
from misstep.analysis.stats.estimate import Estimate

NOT_RECORDED = "no verdict says so"

_MEASURES = ("seconds", "input_tokens", "output_tokens", "cost_usd")


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
        {name: _per_item(sample, [getattr(verdict, name) for verdict in sample.verdicts], kept) for name in _MEASURES}
        for kept in (~cached, cached)
    )
    n_cached = int(np.count_nonzero(cached))
    return ItemCosts(len(cached) - n_cached, n_cached, now, from_cache)


def _per_item(sample: JudgedSample, said: Sequence[float | None], kept: BoolArray) -> PerItem:
    chosen = kept & np.array([value is not None for value in said], dtype=np.bool_)
    values = np.array([value for value, wanted in zip(said, chosen, strict=True) if wanted], dtype=np.float64)
    mean = sample.units.only(chosen).mean(values, NOT_RECORDED)
    if not len(values):
        return PerItem(0, mean, None, None, None)
    median, percentile_95 = np.quantile(values, [0.5, 0.95])
    return PerItem(len(values), mean, float(median), float(percentile_95), float(values.sum()))

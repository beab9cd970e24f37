"""How long a judge's answers took, from time bins: the edges between which a quantile lies."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from misstep.analysis.stats.binned_quantiles import binned_quantile
from misstep.harness.records.whole_counts import TIME_EDGES, TimeBin

SHARES = (0.5, 0.9, 0.99)
"""The quantiles that are shown."""


class TimeQuantile(Struct, frozen=True):
    """The seconds between which a quantile lies, and those between which its 95% interval lies.

    `None` stands for a bound that no edge gives: of times longer than the last edge.
    """

    share: float
    least: float
    below: float | None
    interval_least: float
    interval_below: float | None


class CountedTimes(Struct, frozen=True):
    """The answers of a judge whose time is known, and their quantiles."""

    judge: str
    n: int
    unknown: int
    quantiles: tuple[TimeQuantile, ...]


def counted_times(rows: Sequence[TimeBin]) -> tuple[CountedTimes, ...]:
    """Return the times of each judge, in the order of their names."""
    return tuple(
        _times(name, [kind for kind in rows if kind.judge == name]) for name in sorted({kind.judge for kind in rows})
    )


def _times(judge: str, rows: Sequence[TimeBin]) -> CountedTimes:
    bins = np.zeros(len(TIME_EDGES) + 1, dtype=np.int64)
    for kind in rows:
        if kind.bin is not None:
            bins[kind.bin] += kind.n
    n = int(bins.sum())
    unknown = sum(kind.n for kind in rows if kind.bin is None)
    found = [(share, binned_quantile(bins, share)) for share in SHARES] if n else []
    quantiles = [
        TimeQuantile(share, _edge(one.bin), _next(one.bin), _edge(one.first), _next(one.last)) for share, one in found
    ]
    return CountedTimes(judge, n, unknown, tuple(quantiles))


def _edge(place: int) -> float:
    """Return where a bin begins, in seconds."""
    return TIME_EDGES[place - 1] / 1e6 if place else 0.0


def _next(place: int) -> float | None:
    """Return where the next one begins."""
    return TIME_EDGES[place] / 1e6 if place < len(TIME_EDGES) else None

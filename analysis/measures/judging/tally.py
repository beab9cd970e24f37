"""Gold labels against answers as counted pairs, and the statistics of such counts with their intervals.

Labels are codes from 0. Items of one run are not independent: where any two are of one, shares carry the interval of
a clustered proportion, and what is resampled is runs, not items.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from analysis.measures.judging.units import drawn_totals, resampled_estimate, resamples_within
from analysis.stats.clustered_bounds import korn_graubard
from analysis.stats.estimate import Estimate
from analysis.stats.patterns import FloatArray, IntArray, distinct_rows
from analysis.stats.proportions import wilson
from analysis.stats.resampling import bootstrap
from analysis.tables.wording import counted_text

Statistic = Callable[[FloatArray], FloatArray]
"""Sets x pairs → sets x figures."""


class Tally(Struct, frozen=True):
    """How often each gold label met each answer.

    Parameters
    ----------
    gold, answers
        Pairs: the codes of the gold label and of the answer.
    items
        Pairs: how many items.
    by_cluster
        Clusters x pairs; `None` where every item stands for itself.
    """

    gold: IntArray
    answers: IntArray
    items: IntArray
    by_cluster: IntArray | None

    @property
    def n(self) -> int:
        """The number of items."""
        return int(self.items.sum())

    def count(self, pairs: npt.NDArray[np.bool_]) -> int:
        """How many items are of some of the pairs."""
        return int(self.items[pairs].sum())

    def only(self, pairs: npt.NDArray[np.bool_]) -> "Tally":
        """The items of some of the pairs; clusters that have none of them are left out."""
        clusters = self.by_cluster
        if clusters is not None:
            clusters = clusters[:, pairs]
            clusters = clusters[clusters.any(axis=1)]
        return Tally(self.gold[pairs], self.answers[pairs], self.items[pairs], clusters)

    def share(self, part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_], undefined: str) -> Estimate:
        """The items of some pairs as a share of those of others; `undefined` is the reason where there are none."""
        found, total = self.count(part & whole), self.count(whole)
        if total == 0:
            return Estimate(None, n=0, reason=undefined)
        if self.by_cluster is None:
            return wilson(found, total)
        counts = np.column_stack([self.by_cluster[:, part & whole].sum(axis=1), self.by_cluster[:, whole].sum(axis=1)])
        return korn_graubard(counts)

    def resampled(self, statistic: Statistic, reasons: Sequence[str], resamples: int, seed: int) -> list[Estimate]:
        """Figures of the counts with percentile intervals; `reasons` say why one is undefined."""
        if self.n == 0:
            return [Estimate(None, n=0, reason=reason) for reason in reasons]
        values = statistic(self.items[None, :].astype(np.float64))[0]
        drawn, units = self._draw(statistic, resamples, seed)
        return [
            resampled_estimate(float(value), column, self.n, units, reason)
            for value, column, reason in zip(values, drawn.T, reasons, strict=True)
        ]

    def _draw(self, statistic: Statistic, resamples: int, seed: int) -> tuple[FloatArray, str]:
        rng = np.random.default_rng(seed)
        if self.by_cluster is None:
            return bootstrap(statistic, self.items, resamples_within(resamples, len(self.items)), rng), "items"
        return drawn_totals(statistic, self.by_cluster, resamples, rng), counted_text(len(self.by_cluster), "cluster")


def tally(gold: Sequence[int], answers: Sequence[int], clusters: Sequence[str]) -> Tally:
    """The pairs of gold label and answer of some items, in the same order, with the cluster of each."""
    pairs = distinct_rows(np.column_stack([gold, answers]).astype(np.int64).reshape(-1, 2))
    places = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    by_cluster = None
    if len(places) < len(clusters):
        by_cluster = np.zeros((len(places), len(pairs.items)), dtype=np.int64)
        np.add.at(by_cluster, (np.array([places[name] for name in clusters]), pairs.of_item), 1)
    return Tally(pairs.rows[:, 0], pairs.rows[:, 1], pairs.items, by_cluster)

"""What a judge's figures are a sample of: items, or the runs and other clusters by which items hang together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from misstep_analysis.stats.estimate import Estimate, bounded
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray, Patterns
from misstep_analysis.stats.resampling import bootstrap, bootstrapped
from misstep_analysis.tables import Row, Table, made_by_this
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import UsageError


def p_rows(
    p_value: float | None, p_adjusted: float | None, test: str, group: str, source: str, reason: str = ""
) -> list[Row]:
    """Return a p-value and the same adjusted for the other tests of the table."""
    return [
        Row(name, value, unit="p", method=test, group=group, source=source, reason=reason)
        for name, value in (("p", p_value), ("p, adjusted after Holm", p_adjusted))
    ]


@made_by_this
def judging_table(
    name: str, title: str, finding: str, rows: Iterable[Row], notes: Iterable[str] = (), datasets: tuple[str, ...] = ()
) -> Table:
    """Return a table of the pages about judges; empty notes are left out."""
    return Table(name, "judging", title, finding, tuple(rows), tuple(filter(None, notes)), datasets)


BoolArray = npt.NDArray[np.bool_]

Statistic = Callable[[FloatArray], FloatArray]
"""Sets x totals → sets x figures."""

_MOST_DRAWS = 10_000_000
"""Units drawn for one bootstrap, about half a second; beyond that fewer resamples are taken."""

_FEWEST_RESAMPLES = 500

_CHUNK = 2_000_000

_CALLED = frozenset({"task", "run", "file", "project", "session"})


class JudgedUnits(Struct, frozen=True):
    """The units that items belong to, clusters or items; `of_item` has the number of each item's unit."""

    of_item: IntArray
    count: int
    clustered: bool
    noun: str = "cluster"

    @property
    def name(self) -> str:
        """Return what is resampled, as a method says it."""
        return counted_text(self.count, "cluster") if self.clustered else "items"

    def only(self, items: BoolArray) -> "JudgedUnits":
        """Return the units of some of the items, without those that have none of them."""
        units, of_item = np.unique(self.of_item[items], return_inverse=True)
        return JudgedUnits(of_item.astype(np.int64), len(units), self.clustered, self.noun)

    def totals(self, values: npt.ArrayLike) -> FloatArray:
        """Return the sums of the items' values in each unit: units x figures for items x figures, else units."""
        rows = np.asarray(values, dtype=np.float64)
        if rows.ndim == 1:
            return np.bincount(self.of_item, rows, minlength=self.count).astype(np.float64)
        columns = [np.bincount(self.of_item, column, minlength=self.count) for column in rows.T]
        return np.column_stack(columns) if columns else np.zeros((self.count, 0))

    def share(self, part: BoolArray, whole: BoolArray | None, undefined: str) -> Estimate:
        """The items of `part` as a share of `whole`, or of all items; `undefined` is the reason if these are none."""
        whole = np.ones(len(self.of_item), dtype=np.bool_) if whole is None else whole
        hits, total = int(np.count_nonzero(part & whole)), int(np.count_nonzero(whole))
        if total == 0:
            return Estimate(None, n=0, reason=undefined)
        if not self.clustered:
            return wilson(hits, total)
        from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard

        return self.bounded(korn_graubard(self.totals(np.column_stack([part & whole, whole])).astype(np.int64)), whole)

    def bounded(self, estimate: Estimate, whole: BoolArray | None = None) -> Estimate:
        """Return an estimate over the units of some items, or of all, with its interval if they are enough for one."""
        if not self.clustered:
            return estimate
        return bounded(estimate, self.count if whole is None else len(np.unique(self.of_item[whole])), self.noun)

    def mean(self, values: FloatArray, undefined: str) -> Estimate:
        """The mean of the items' values with the interval by Student's t; `undefined` is the reason without items."""
        if not len(values):
            return Estimate(None, n=0, reason=undefined)
        from misstep_analysis.stats.decisions.relative_change import ratio_of_sums

        estimate = ratio_of_sums(self.totals(values), self.totals(np.ones(len(values))))
        method = f"mean, t over {self.name}, 95%" if estimate.low is not None else ""
        return self.bounded(structs.replace(estimate, n=len(values), method=method))

    def resampled(
        self, statistic: Statistic, values: FloatArray, reasons: Sequence[str], resamples: int = 10_000, seed: int = 0
    ) -> list[Estimate]:
        """Figures that follow from sums over the items, with percentile intervals over resampled units."""
        return self._of_totals(statistic, self.totals(values), reasons, resamples, seed)

    def resampled_counts(
        self, statistic: Statistic, kinds: Patterns, reasons: Sequence[str], resamples: int = 10_000, seed: int = 0
    ) -> list[Estimate]:
        """As `resampled`, for figures that follow from how many items are of each kind."""
        if not self.clustered:
            return resampled_counts(statistic, kinds.items, reasons, resamples, seed)
        counts = np.zeros((self.count, len(kinds.items)), dtype=np.int64)
        np.add.at(counts, (self.of_item, kinds.of_item), 1)
        return self._of_totals(statistic, counts, reasons, resamples, seed)

    def _of_totals(
        self, statistic: Statistic, totals: npt.NDArray[Any], reasons: Sequence[str], resamples: int, seed: int
    ) -> list[Estimate]:
        def draw() -> FloatArray:
            return drawn_totals(statistic, totals, resamples, np.random.default_rng(seed))

        drawn = _estimates(statistic, totals.sum(axis=0), draw, reasons, len(self.of_item), self.name)
        return [self.bounded(one) for one in drawn]


def _estimates(
    statistic: Statistic,
    totals: npt.NDArray[Any],
    draw: Callable[[], FloatArray],
    reasons: Sequence[str],
    n: int,
    units: str,
) -> list[Estimate]:
    if not n:
        return [Estimate(None, n=0, reason=reason) for reason in reasons]
    values = statistic(totals[None, :].astype(np.float64))[0]
    return [
        resampled_estimate(float(value), column, n, units, reason)
        for value, column, reason in zip(values, draw().T, reasons, strict=True)
    ]


def cluster_names(items: Iterable[str], clusters: Mapping[str, str] | None) -> list[str]:
    """Return the cluster of each item; an item without one stands for itself."""
    return [(clusters or {}).get(item, f"item {item}") for item in items]


def units_of(items: Sequence[str], clusters: Mapping[str, str] | None = None) -> JudgedUnits:
    """Return the units of some items: their clusters where two of them share one, else the items themselves."""
    names = cluster_names(items, clusters)
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    of_item = np.array([places[name] for name in names], dtype=np.int64)
    return JudgedUnits(of_item, len(places), len(places) < len(names), _noun(names))


def _noun(names: Iterable[str]) -> str:
    """Return what clusters are called where the names of all begin with it, such as `task` or `run`."""
    words = {name.removeprefix("cluster ").partition(" ")[0] for name in names}
    return words.pop() if len(words) == 1 and words < _CALLED else "cluster"


def resampled_counts(
    statistic: Statistic, items: IntArray, reasons: Sequence[str], resamples: int = 10_000, seed: int = 0
) -> list[Estimate]:
    """Figures that follow from how many items are of each kind, with percentile intervals over resampled items."""

    def draw() -> FloatArray:
        return bootstrap(statistic, items, resamples_within(resamples, len(items)), np.random.default_rng(seed))

    return _estimates(statistic, items, draw, reasons, int(items.sum()), "items")


def resamples_within(resamples: int, cells: int) -> int:
    """Return how many resamples of so many cells are drawn: as many as asked for, fewer where that takes long."""
    return min(resamples, max(_FEWEST_RESAMPLES, _MOST_DRAWS // max(cells, 1)))


def drawn_totals(
    statistic: Statistic, totals: npt.NDArray[Any], resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return a statistic of each of many resamples of units: resamples x figures."""
    kinds, units = np.unique(totals, axis=0, return_counts=True)
    times = resamples_within(resamples, len(kinds))
    if 2 * len(kinds) < len(totals):
        return drawn_sets(lambda sets: statistic(sets @ kinds), units, times, rng)
    alone = np.ones(len(totals), dtype=np.int64)
    return drawn_sets(lambda sets: statistic(sets @ totals), alone, times, rng)


def drawn_sets(statistic: Statistic, units: IntArray, times: int, rng: np.random.Generator) -> FloatArray:
    """Return a statistic of each of so many resamples of units: resamples x figures."""
    count, kinds = int(units.sum()), len(units)
    if 2 * kinds < count:
        return bootstrap(statistic, units, times, rng)
    # Where hardly two units are alike, drawing them one by one takes a fraction of the multinomial's time.
    kind_of, chunk, parts = np.repeat(np.arange(kinds), units), max(1, _CHUNK // count), []
    for start in range(0, times, chunk):
        size = min(chunk, times - start)
        chosen = kind_of[rng.integers(count, size=(size, count))] + kinds * np.arange(size)[:, None]
        sets = np.bincount(chosen.ravel(), minlength=size * kinds).reshape(size, kinds)
        parts.append(statistic(sets.astype(np.float64)))
    return np.concatenate(parts)


def resampled_estimate(value: float, drawn: FloatArray, n: int, units: str, reason: str = "") -> Estimate:
    """Return an estimate with the percentile interval of its resamples."""
    estimate = bootstrapped(value, drawn, n, reason)
    # In how many resamples it is undefined differs from figure to figure: its reason says so, and the method is one.
    method = f"percentile bootstrap, {len(drawn):,} resamples of {units}" if estimate.method else ""
    return structs.replace(estimate, method=method)


def held_out_items(clusters: npt.NDArray[np.str_], seed: int) -> BoolArray:
    """Return which items are held out: whole clusters in random order, until they have half of the items.

    The clusters are drawn from in the order of their names, so that the order in which answers came changes nothing.
    """
    names, places, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    if len(names) < 2:
        problem = "one item alone has a gold label" if len(clusters) == 1 else "all items are of one run"
        raise UsageError(f"{problem}, which cannot be split", "Choosing and testing take different runs.")
    order = np.random.default_rng(seed).permutation(len(names))
    before = np.concatenate([[0], np.cumsum(sizes[order])[:-1]])
    half = before < len(clusters) / 2
    # Neither half may be empty, however uneven the clusters are.
    half[-1] = False
    held = np.zeros(len(names), dtype=np.bool_)
    held[order[half]] = True
    return np.asarray(held[places])

"""Shares that may have no whole: an estimate, or the reason why there is none."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson

Name = TypeVar("Name", bound=Hashable)


def share(count: int, n: int, undefined: str) -> Estimate:
    """Return a share with Wilson's interval; `undefined` is the reason where `n` is 0."""
    return wilson(count, n) if n else Estimate(None, n=0, reason=undefined)


def clustered_share(clusters: Sequence[tuple[int, int]], undefined: str) -> Estimate:
    """Return a share over clusters of (count, n) with Korn and Graubard's interval; empty clusters count nowhere."""
    sizes = [n for _, n in clusters if n]
    if not sizes:
        return Estimate(None, n=0, reason=undefined)
    from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard  # numpy takes a tenth of a second
    from misstep_analysis.stats.clusters.few import bounded

    share = korn_graubard(clusters)
    return bounded(share, len(sizes)) if len(sizes) < sum(sizes) else share


def summed(counts: Iterable[tuple[Name, int, int]]) -> dict[Name, tuple[int, int]]:
    """Return name → the sums of the counts and of the wholes of that name, in order of appearance."""
    sums: dict[Name, tuple[int, int]] = {}
    for name, count, n in counts:
        before = sums.get(name, (0, 0))
        sums[name] = before[0] + count, before[1] + n
    return sums

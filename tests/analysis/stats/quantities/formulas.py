"""Statistics that the reference cases have and no command, table or notebook shows, by their formulas.

They stand beside the cases so that every quantity of a file of references is computed. What Misstep shows is in
`analysis.stats`; a statistic that is to be shown moves there, with its intervals and with what it refuses.
"""

from collections.abc import Sequence
from math import asin, ceil, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep.analysis.stats.diagnostic import Confusion, recall, specificity
from misstep.analysis.stats.raters.coefficients import item_agreement

NORMAL = NormalDist()


def brennan_prediger(counts: npt.ArrayLike, items: npt.ArrayLike | None = None) -> tuple[float, float]:
    """Brennan and Prediger's coefficient (1981), whose chance agreement is 1/K, and Gwet's error of it (2014)."""
    rated = np.asarray(counts)
    repeats = np.ones(len(rated)) if items is None else np.asarray(items)
    pairable = rated.sum(axis=1) >= 2
    chance, n = 1 / rated.shape[1], repeats.sum()
    own = np.where(pairable, n / repeats[pairable].sum() * (item_agreement(rated) - chance) / (1 - chance), 0.0)
    value = float(repeats @ own / n)
    return value, sqrt(float(repeats @ (own - value) ** 2) / (n * (n - 1)))


def pabak(table: npt.ArrayLike) -> float:
    """Prevalence- and bias-adjusted kappa (Byrt 1993): Brennan and Prediger's coefficient of two raters."""
    cells = np.asarray(table)
    return float((np.trace(cells) / cells.sum() * len(cells) - 1) / (len(cells) - 1))


def specific_agreement(table: npt.ArrayLike) -> list[float | None]:
    """Agreement on each category, 2 n_kk / (n_k. + n_.k); `None` where neither rater used it."""
    cells = np.asarray(table)
    used = cells.sum(axis=0) + cells.sum(axis=1)
    return [2 * alike / total if total else None for alike, total in zip(np.diag(cells).tolist(), used, strict=True)]


def matthews(table: npt.ArrayLike) -> float | None:
    """The correlation of answers and gold labels (Gorodkin 2004, R_K); `None` where it is 0/0."""
    cells = np.asarray(table, dtype=float)
    n, truths, answers = cells.sum(), cells.sum(axis=1), cells.sum(axis=0)
    below = (n**2 - truths @ truths) * (n**2 - answers @ answers)
    return float((np.trace(cells) * n - truths @ answers) / sqrt(below)) if below else None


def balanced_accuracy(table: Confusion) -> float | None:
    """Mean of recall and specificity; `None` where a class is absent."""
    shares = recall(table).value, specificity(table).value
    return None if None in shares else sum(share for share in shares if share is not None) / 2


class OneWay(Struct, frozen=True):
    """The one-way analysis of variance of clusters (Donner 1986); `n0` stands for the size of unequal ones."""

    between: float
    within: float
    n0: float

    @property
    def icc(self) -> float | None:
        """The intraclass correlation; `None` if there is no variance."""
        below = self.between + (self.n0 - 1) * self.within
        return (self.between - self.within) / below if below else None


def one_way(clusters: Sequence[Sequence[float]]) -> OneWay:
    """The mean squares between clusters and within them."""
    groups = [np.asarray(cluster, dtype=float) for cluster in clusters if len(cluster)]
    if len(groups) < 2:
        raise ValueError("a correlation within clusters needs two")
    everything, sizes = np.concatenate(groups), np.array([len(group) for group in groups])
    n, k = len(everything), len(groups)
    between = sum(len(group) * (group.mean() - everything.mean()) ** 2 for group in groups) / (k - 1)
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (n - k)
    return OneWay(float(between), float(within), float(n - (sizes**2).sum() / n) / (k - 1))


def shrout_fleiss(ratings: npt.ArrayLike) -> dict[str, float]:
    """The six intraclass correlations of subjects x judges (Shrout and Fleiss 1979, Psychological Bulletin 86:420)."""
    table = np.asarray(ratings, dtype=float)
    n, k = table.shape
    subjects, judges = k * table.mean(axis=1).var(ddof=1), n * table.mean(axis=0).var(ddof=1)
    residuals = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    error = (residuals**2).sum() / ((n - 1) * (k - 1))
    within = table.var(axis=1, ddof=1).mean()
    singles = {
        "icc_1": (subjects - within) / (subjects + (k - 1) * within),
        "icc_2": (subjects - error) / (subjects + (k - 1) * error + k * (judges - error) / n),
        "icc_3": (subjects - error) / (subjects + (k - 1) * error),
    }
    of_means = {f"{name}_k": k * value / (1 + (k - 1) * value) for name, value in singles.items()}
    return {f"{name}_1": value for name, value in singles.items()} | of_means


def kish_effective_size(weights: Sequence[float]) -> float:
    """(sum of w)² over the sum of w² (Kish 1965, section 11.7)."""
    each = np.asarray(weights, dtype=float)
    if not (np.isfinite(each).all() and (each >= 0).all() and each.sum() > 0):
        raise ValueError("weights are finite, not negative, and not all 0")
    return float(each.sum() ** 2 / (each**2).sum())


def power_two_proportions(n_per_arm: int, p1: float, p2: float, alpha: float, sides: int) -> float:
    """The chance that the pooled z test finds a difference (Fleiss 1981, section 3.2), without the far tail."""
    pooled, separate = _spreads(p1, p2)
    critical = NORMAL.inv_cdf(1 - alpha / sides)
    return NORMAL.cdf((sqrt(n_per_arm) * abs(p1 - p2) - critical * pooled) / separate)


def sample_size_two_proportions(p1: float, p2: float, power: float, alpha: float, sides: int) -> tuple[float, int]:
    """The items an arm with which the pooled z test finds a difference: by the formula, and the whole number."""
    if p1 == p2:
        raise ValueError("no difference to detect: the sample size is infinite")
    pooled, separate = _spreads(p1, p2)
    exact = ((NORMAL.inv_cdf(1 - alpha / sides) * pooled + NORMAL.inv_cdf(power) * separate) / (p1 - p2)) ** 2
    return exact, ceil(exact)


def cohen_h(p1: float, p2: float) -> float:
    """The difference of two proportions on the arcsine scale (Cohen 1988, section 6.2)."""
    return 2 * asin(sqrt(p1)) - 2 * asin(sqrt(p2))


def _spreads(p1: float, p2: float) -> tuple[float, float]:
    """Root of the variance an item under equal proportions and under the given ones."""
    mean = (p1 + p2) / 2
    return sqrt(2 * mean * (1 - mean)), sqrt(p1 * (1 - p1) + p2 * (1 - p2))

"""One and two proportions and paired tables: all samples written out, so that the rates are exact."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import binom

from benchmarks.validity.rates import Rate, coverage, rejections
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_difference
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import fisher_exact, newcombe, pooled_z
from misstep_analysis.stats.proportions import clopper_pearson, wilson
from misstep_analysis.stats.significance import Significance

SHARES = np.arange(0.01, 0.995, 0.01)
ONE_SHARE: dict[str, Callable[[int, int], Estimate]] = {"Wilson": wilson, "Clopper-Pearson": clopper_pearson}
DIFFERENCES: dict[str, Callable[..., Estimate]] = {"Newcombe": newcombe}
TWO_SHARES: dict[str, Callable[..., Significance]] = {
    "two-proportion z, pooled": pooled_z,
    "Fisher's exact": fisher_exact,
}
PAIRED: dict[str, Callable[[PairedTable], Significance]] = {"McNemar, mid-p": mcnemar_mid_p}


def one_share(sizes: tuple[int, ...] = (5, 10, 20, 50, 200)) -> Iterator[Rate]:
    """Coverage of a share's intervals, on average over true shares of 1% to 99% and at the worst of them."""
    for n in sizes:
        counts = np.arange(n + 1)
        for method, interval in ONE_SHARE.items():
            intervals = [interval(x, n) for x in counts.tolist()]
            each = [coverage(method, "", share, intervals, binom.pmf(counts, n, share)) for share in SHARES]
            rates = [rate.rate for rate in each]
            worst = int(np.argmin(rates))
            widths = [rate.width or 0.0 for rate in each]
            mean = f"n = {n}, mean over true shares"
            yield Rate("coverage", method, mean, float(np.mean(rates)), width=float(np.mean(widths)))
            yield Rate(
                "coverage", method, f"n = {n}, worst true share {SHARES[worst]:.2f}", rates[worst], width=widths[worst]
            )


def difference(sizes: tuple[tuple[int, int], ...] = ((10, 10), (8, 30), (40, 40))) -> Iterator[Rate]:
    """Coverage of intervals of a difference of two shares."""
    for n1, n2 in sizes:
        tables = _tables(n1, n2)
        for method, interval in DIFFERENCES.items():
            intervals = [interval(x1, n1, x2, n2) for x1, x2 in tables]
            for p1, p2 in ((0.05, 0.05), (0.1, 0.4), (0.5, 0.5), (0.95, 0.2)):
                setting = f"n = {n1} and {n2}, shares {p1:g} and {p2:g}"
                yield coverage(method, setting, p1 - p2, intervals, _chances(n1, n2, p1, p2))


def equal_shares(sizes: tuple[tuple[int, int], ...] = ((10, 10), (8, 30), (40, 40))) -> Iterator[Rate]:
    """Type I error of tests of two shares."""
    for n1, n2 in sizes:
        tables = _tables(n1, n2)
        for method, test in TWO_SHARES.items():
            p_values = [test(x1, n1, x2, n2) for x1, x2 in tables]
            for share in (0.05, 0.2, 0.5):
                setting = f"n = {n1} and {n2}, both shares {share:g}"
                yield rejections(method, setting, p_values, _chances(n1, n2, share, share))


def pairs(sizes: tuple[int, ...] = (20, 60)) -> Iterator[Rate]:
    """Type I error of McNemar's tests, and coverage of the interval of the paired difference."""
    for n in sizes:
        counts = [(first, second) for first in range(n + 1) for second in range(n + 1 - first)]
        tables = [PairedTable(n - first - second, first, second, 0) for first, second in counts]
        p_values = {method: [test(table) for table in tables] for method, test in PAIRED.items()}
        intervals = [paired_difference(table) for table in tables]
        for discordant in (0.1, 0.4):
            # How many pairs are discordant, and how these split when neither system is better.
            chances = [
                binom.pmf(first + second, n, discordant) * binom.pmf(first, first + second, 0.5)
                for first, second in counts
            ]
            setting = f"n = {n} pairs, {discordant:.0%} discordant"
            for method, tests in p_values.items():
                yield rejections(method, setting, tests, chances)
            yield coverage("Wald for paired shares", setting, 0.0, intervals, chances)


def _tables(n1: int, n2: int) -> list[tuple[int, int]]:
    return [(x1, x2) for x1 in range(n1 + 1) for x2 in range(n2 + 1)]


def _chances(n1: int, n2: int, p1: float, p2: float) -> np.ndarray:
    return np.outer(binom.pmf(np.arange(n1 + 1), n1, p1), binom.pmf(np.arange(n2 + 1), n2, p2)).ravel()

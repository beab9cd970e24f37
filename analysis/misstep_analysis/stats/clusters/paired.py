"""Two systems on the same items: McNemar's tests, the difference of their shares and its intervals.

Only the items on which the two differ say which is better. A table of counts is::

                     second right   second wrong
    first right           59              6
    first wrong           16             80

where 6 and 16 are the discordant pairs. Of the tests, mid-p is the one to take: the exact one is too careful, and the
asymptotic one goes wrong with few discordant pairs (Fagerland, Lydersen and Laake 2013, BMC Medical Research
Methodology 13:91).
"""

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from misstep_analysis.stats.checked import counts
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import Significance
from misstep_harness.errors import UsageError

NO_DISCORDANT = "no discordant pairs"

_BESIDE = 1e-9


class PairedTable(Struct, frozen=True):
    """How many items both, only the first, only the second and neither of two systems got right."""

    both: int
    first_only: int
    second_only: int
    neither: int

    def __post_init__(self) -> None:
        """Refuse a table without items and counts below 0."""
        counts([self.both, self.first_only, self.second_only, self.neither])
        if self.n == 0:
            raise UsageError("a paired table needs items")

    @classmethod
    def of(cls, first_right: Sequence[bool], second_right: Sequence[bool]) -> "PairedTable":
        """Return the counts of two lists that say of the same items whether each system got them right."""
        from misstep_analysis.stats.diagnostic import count_confusion

        cells = count_confusion(first_right, second_right)
        return cls(cells.tp, cells.fn, cells.fp, cells.tn)

    @property
    def n(self) -> int:
        """Return how many items both systems were tried on."""
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def discordant(self) -> int:
        """Return how many items only one of the two got right."""
        return self.first_only + self.second_only


def mcnemar_mid_p(table: PairedTable) -> Significance:
    """McNemar's mid-p test: the exact one less the probability of the observed count (Fagerland and others 2013).

    Examples
    --------
    >>> round(mcnemar_mid_p(PairedTable(59, 6, 16, 80)).p_value, 4)
    0.0347
    """
    test = "McNemar, mid-p"
    if table.discordant == 0:
        return Significance(0.0, 1.0, table.n, test, NO_DISCORDANT)
    from scipy.special import bdtr

    least, tosses = min(table.first_only, table.second_only), table.discordant
    up_to = float(bdtr(least, tosses, 0.5))
    below = float(bdtr(least - 1, tosses, 0.5)) if least else 0.0
    # Where both counts are equal the tails meet, and half of that outcome is taken off the whole.
    p_value = 1 - (up_to - below) / 2 if table.first_only == table.second_only else up_to + below
    return Significance(float(least), p_value, table.n, test)


def paired_difference(table: PairedTable) -> Estimate:
    """Return the difference of two systems' shares on the same items, with the Wald interval of paired counts.

    Fleiss, Levin and Paik (2003, Statistical Methods for Rates and Proportions, section 13.1); cut at -1 and 1.

    Parameters
    ----------
    table
        The paired counts.

    Examples
    --------
    >>> table = PairedTable.of([True, True, False, True], [True, False, False, False])
    >>> paired_difference(table).value
    0.5
    """
    from scipy.special import ndtri

    value, error = (table.first_only - table.second_only) / table.n, paired_error(table)
    method = "Wald for paired shares, 95%"
    if error == 0:
        return Estimate(value, n=table.n, method=method, reason="all pairs differ alike: standard error 0")
    half = float(ndtri(0.975)) * error
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), table.n, method)


def paired_score_interval(table: PairedTable) -> Estimate:
    """Return the difference of two systems' shares on the same items, with Tango's score interval.

    Tango (1998), Statistics in Medicine 17:891-908: the differences that a score test does not reject, the share of
    items that only the second gets right being the most likely one under each. At 0 the test is McNemar's asymptotic
    one. It never leaves -1..1, and has width where no pair is discordant.

    Examples
    --------
    >>> found = paired_score_interval(PairedTable(59, 6, 16, 80))
    >>> round(found.low, 3), round(found.high, 3)
    (-0.124, -0.005)
    """
    from scipy.special import ndtri

    n, value = table.n, (table.first_only - table.second_only) / table.n
    squared = float(ndtri(0.975)) ** 2

    def outside(difference: float) -> float:
        return n * (value - difference) ** 2 - squared * _null_variance(table, difference)

    def end(furthest: float) -> float:
        # At the estimate itself both terms may be 0, which is not an end of the interval.
        beside = value + math.copysign(_BESIDE, furthest)
        return furthest if abs(beside) >= 1 and beside * furthest > 0 else _crossing(outside, beside, furthest)

    return Estimate(value, end(-1.0), end(1.0), n, "Tango, 95%")


def _crossing(of: Callable[[float], float], below: float, above: float) -> float:
    """Return where a function that is at most 0 at one end becomes greater: halved until no number is left between.

    Importing scipy's optimisers would take more memory than all else that a run of a judge is assessed with.
    """
    while (middle := (below + above) / 2) not in (below, above):
        below, above = (middle, above) if of(middle) <= 0 else (below, middle)
    return middle


def _null_variance(table: PairedTable, difference: float) -> float:
    """Return the variance of one pair's difference, were this the true one: Tango's most likely share put in."""
    n, first, second = table.n, table.first_only, table.second_only
    linear = (2 * n - first + second) * difference - first - second
    root = math.sqrt(max(0.0, linear**2 + 8 * n * second * difference * (1 - difference)))
    return max(0.0, (root - linear) / (2 * n) + difference * (1 - difference))


def paired_error(table: PairedTable) -> float:
    """The standard error of the difference of two systems' shares on the same items, also its ideal bootstrap error.

    Examples
    --------
    >>> round(paired_error(PairedTable(59, 6, 16, 80)), 4)
    0.0287
    """
    more = table.first_only - table.second_only
    return math.sqrt(max(0.0, table.discordant - more**2 / table.n)) / table.n

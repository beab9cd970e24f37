"""Two systems that were tried several times on each of the same tasks: the difference of their rates, and its test.

A system's rate is the mean over tasks of its share of solved attempts. With one attempt a task on either side that is
McNemar's mid-p test with Tango's interval; with more, a task goes either way as a whole: sign flips over the tasks'
differences, with Student's t.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from msgspec import Struct, structs

from misstep.analysis.stats.clusters.clustered_pairs import clustered_paired_difference, sign_flip_mcnemar
from misstep.analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.significance import Significance
from misstep.harness.errors import UsageError

PairedCounts = tuple[int, int, int, int]
"""Of one task: attempts of the first system and how many solved it, and the same of the second."""

_LARGEST_SUM = 2_000_000
"""Steps of all tasks together, at most: counting their sums takes a tenth of a second."""
_COARSEST, _FINEST = 100, 27_720
"""Steps in which differences are counted where numbers of attempts have no small common multiple."""


class PairedRates(Struct, frozen=True):
    """The rate of the first system less that of the second, its test, and on how many tasks which of them is ahead."""

    difference: Estimate
    test: Significance
    ahead: int
    behind: int
    level: int

    @property
    def reason(self) -> str:
        """Return what to beware of, of interval and test."""
        return "; ".join(dict.fromkeys(filter(None, (self.difference.reason, self.test.reason))))


def paired_rates(counts: Sequence[PairedCounts]) -> PairedRates:
    """Return the comparison of two systems on the same tasks; a task that was tried more often weighs no more.

    Parameters
    ----------
    counts
        One a task.

    Raises
    ------
    UsageError
        There are no tasks, or a system has no attempt at one.

    Examples
    --------
    >>> paired_rates([(3, 2, 3, 1), (3, 2, 3, 1), (3, 3, 3, 3)]).ahead
    2
    """
    if not counts or any(min(tried, others) < 1 for tried, _, others, _ in counts):
        raise UsageError("a task that one of the two systems did not attempt, or no task at all")
    differences = [Fraction(solved, tried) - Fraction(also, others) for tried, solved, others, also in counts]
    ahead, behind = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    scale = lcm(*{number for tried, _, others, _ in counts for number in (tried, others)})
    if scale == 1:
        table = PairedTable.of([count[1] == 1 for count in counts], [count[3] == 1 for count in counts])
        difference, test = paired_score_interval(table), mcnemar_mid_p(table)
        return PairedRates(difference, test, ahead, behind, len(counts) - ahead - behind)
    # On one scale differences are whole numbers whatever the numbers of attempts, so that their sums can be counted.
    finest = max(_COARSEST, min(_FINEST, _LARGEST_SUM // len(counts)))
    steps = min(scale, finest)
    leaning = [round(one * steps) for one in differences]
    difference, test = clustered_paired_difference(leaning, [steps] * len(counts)), sign_flip_mcnemar(leaning)
    difference = structs.replace(difference, n=len(counts))
    if steps < scale:
        rounded = f", differences of tasks rounded to 1/{steps:,}"
        difference = structs.replace(difference, method=difference.method + rounded)
        test = structs.replace(test, test=test.test + rounded)
    return PairedRates(difference, test, ahead, behind, len(counts) - ahead - behind)

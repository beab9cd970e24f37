"""Whether an experiment's arms came out as large as they were meant to: sample-ratio mismatch.

Where assignment was meant to be one to one and the arms differ by more than chance, something lost or doubled items in
one of them, and no difference between the arms can be trusted (Fabijan and others 2019, Diagnosing Sample Ratio
Mismatch in Online Controlled Experiments, KDD).
"""

from collections.abc import Sequence

import numpy as np

from analysis.stats.checked import counts as whole_counts
from analysis.stats.checked import finite
from analysis.stats.significance import Significance
from harness.errors import UsageError

_FEWEST_EXPECTED = 5


def sample_ratio_mismatch(counts: Sequence[int], shares: Sequence[float] | None = None) -> Significance:
    """The chi-squared test that the arms have the sizes that were meant; a small p-value is the alarm.

    A level of 0.001 is usual, since the test is made on every experiment.

    Parameters
    ----------
    counts
        Arms: the items that each got.
    shares
        Arms: the share that each was meant to get, in any unit; equal if not given.

    Raises
    ------
    UsageError
        Fewer than two arms, a negative count, no items, or shares that are not positive or of another length.
    """
    found = whole_counts(counts)
    meant = np.ones(len(found)) if shares is None else finite(shares, "a share")
    if len(found) < 2 or found.sum() == 0:
        raise UsageError("a sample ratio needs two arms with items")
    if meant.shape != found.shape or not (meant > 0).all():
        raise UsageError(f"{len(found)} arms and {meant.size} shares", "Give each arm a share above 0.")
    from scipy.stats import chisquare

    expected = meant / meant.sum() * found.sum()
    test = chisquare(found, expected)
    few = f"an arm expects fewer than {_FEWEST_EXPECTED} items: the p-value is approximate"
    return Significance(
        float(test.statistic),
        float(test.pvalue),
        int(found.sum()),
        f"chi-squared, {len(found) - 1} degrees of freedom",
        few if expected.min() < _FEWEST_EXPECTED else "",
    )

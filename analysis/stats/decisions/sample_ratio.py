"""Whether an experiment's arms are as large as their shares of the assignment say: the check before any other figure.

Arms that are larger or smaller than chance explains were not assigned as planned, or lost units on the way; what is
compared between them is then no effect of the treatment (Fabijan and others 2019, Diagnosing Sample Ratio Mismatch in
Online Controlled Experiments, KDD). Units are counted, as it is they that are assigned.
"""

from collections.abc import Sequence

import numpy as np

from misstep.analysis.stats.checked import counts, finite
from misstep.analysis.stats.significance import Significance
from misstep.harness.errors import UsageError

ALARM = 0.0005
"""Below this the arms do not fit their shares: the level that Fabijan and others use."""


def sample_ratio(units: Sequence[int], shares: Sequence[float]) -> Significance:
    """Return the test that units were assigned to the arms by their shares: exact for two arms, Pearson's for more.

    Parameters
    ----------
    units
        Arms: how many units each has.
    shares
        Arms: what part of all units each should have; their sum need not be 1.

    Raises
    ------
    UsageError
        There are fewer than two arms, lengths differ, or a share is not above 0.

    Examples
    --------
    >>> round(sample_ratio([821, 935], [1, 1]).p_value, 4)
    0.007
    """
    found, wanted = counts(list(units)), finite(list(shares), "a share")
    if len(found) < 2 or len(found) != len(wanted):
        raise UsageError(f"{len(found)} arms and {len(wanted)} shares", "Give two arms or more, and a share for each.")
    if (wanted <= 0).any():
        raise UsageError(f"a share of {wanted.min():g}", "Every arm has a share above 0.")
    total, wanted = int(found.sum()), wanted / wanted.sum()
    if total == 0:
        return Significance(None, None, 0, "sample ratio", "no unit was assigned")
    if len(found) == 2:
        from scipy.stats import binomtest

        exact = binomtest(int(found[0]), total, float(wanted[0]))
        return Significance(int(found[0]), float(exact.pvalue), total, "sample ratio, exact binomial")
    from scipy.stats import chisquare

    test = chisquare(found, np.asarray(wanted * total))
    return Significance(float(test.statistic), float(test.pvalue), total, "sample ratio, chi-squared")

"""How many items narrow an interval to a width: standard errors fall with the root of the number of items."""

from math import ceil

from misstep.analysis.stats.estimate import Estimate
from misstep.harness.errors import UsageError


def items_for_width(estimate: Estimate, width: float) -> int | None:
    """Return the number of items, like those available, with which the interval of an estimate is about so wide.

    An interval of n items that is w wide is w·sqrt(n/m) wide with m of them, so m = n·(w/width)². It is an
    approximation: bounds at 1, skewed resamples and the uncertainty of w itself are left aside.

    Parameters
    ----------
    estimate
        With its interval and its n.
    width
        From the lower to the upper bound, as it is wished for.

    Returns
    -------
    int or None
        `None` where the estimate has no interval.

    Raises
    ------
    UsageError
        The width is not above 0.

    Examples
    --------
    >>> items_for_width(Estimate(0.6, 0.4, 0.8, n=50), 0.2)
    200
    """
    if not width > 0:
        raise UsageError(f"an interval cannot be {width:g} wide", "Give a width above 0.")
    if estimate.low is None or estimate.high is None or not estimate.n:
        return None
    return ceil(round(estimate.n * ((estimate.high - estimate.low) / width) ** 2, 6))

"""An interval for a figure that is made of independent shares, from the interval of each.

The distances from each share to its own bounds are multiplied by the figure's slope, squared and added (method of
variance estimates recovery: Zou and Donner 2008, Statistics in Medicine 27:1693-1702; of a difference of two shares
with Wilson's bounds it is Newcombe's interval). It needs no resamples, and an error that was not seen leaves room for
one.
"""

from collections.abc import Callable, Sequence
from math import sqrt

from misstep_analysis.stats.estimate import Estimate

FIXED = "exact: nothing in it was estimated"
METHOD = "recovered from the intervals of its shares, 95%"


def combined(
    figure: Callable[[Sequence[float]], float], shares: Sequence[Estimate], n: int, reason: str = ""
) -> Estimate:
    """Return a figure of independent shares with its interval.

    Parameters
    ----------
    figure
        Shares → the figure, linear in each share if the others stay.
    shares
        The shares; one that is undefined may be there if the figure does not depend on it.
    n
        The items behind the figure.
    reason
        Why the figure is undefined where it depends on a share that is.

    Examples
    --------
    >>> from misstep_analysis.stats.proportions import wilson
    >>> found = combined(lambda shares: shares[0] - shares[1], [wilson(56, 70), wilson(48, 80)], 150)
    >>> round(found.value, 3), round(found.low, 4), round(found.high, 4)
    (0.2, 0.0524, 0.3339)
    """
    at = [0.5 if share.value is None else share.value for share in shares]
    ends = [[figure([*at[:place], end, *at[place + 1 :]]) for end in (0.0, 1.0)] for place in range(len(at))]
    slopes = [high - low for low, high in ends]
    needed = [(one, slope) for one, slope in zip(shares, slopes, strict=True) if slope]
    if any(one.value is None for one, _ in needed):
        return Estimate(None, n=n, reason=reason)
    value, down, up = figure(at), 0.0, 0.0
    if not needed:
        return Estimate(value, n=n, reason=FIXED)
    for one, slope in needed:
        if one.value is None or one.low is None or one.high is None:
            return Estimate(value, n=n, reason=one.reason)
        below, above = (one.value - one.low, one.high - one.value)[:: 1 if slope > 0 else -1]
        down, up = down + (slope * below) ** 2, up + (slope * above) ** 2
    return Estimate(value, value - sqrt(down), value + sqrt(up), n, METHOD)

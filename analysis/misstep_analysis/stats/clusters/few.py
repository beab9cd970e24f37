"""How many clusters an interval over clusters takes: the one rule for all figures that are shown with one.

The spread of two or three clusters leaves everything between hardly any and nearly all open, and an interval that says
so reads as if it had been measured.
"""

from msgspec import structs

from misstep_analysis.stats.estimate import Estimate

FEWEST_CLUSTERS = 5

TOO_FEW = "too few"


def bounded(estimate: Estimate, clusters: int, noun: str = "cluster") -> Estimate:
    """Return an estimate over so many clusters without the interval that fewer than five cannot give.

    Examples
    --------
    >>> bounded(Estimate(0.5, 0.001, 0.999, 7), 2, "task").reason
    '2 tasks are too few'
    """
    if estimate.value is None or clusters >= FEWEST_CLUSTERS:
        return estimate
    few = f"{clusters} {noun}{' is' if clusters == 1 else 's are'} {TOO_FEW}"
    return structs.replace(estimate, low=None, high=None, reason=few)

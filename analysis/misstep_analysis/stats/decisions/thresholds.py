"""A threshold of a judge's score that keeps its precision above a floor, with a guarantee.

Trying many thresholds and taking the lowest that looks good enough finds one by luck. Here the thresholds are tested
one after another in an order fixed beforehand, from strict to lenient, each by its Clopper-Pearson lower bound, and the
first that fails ends the sequence: then the chance that the chosen threshold is below the floor is at most
1 - confidence, however many there are (Maurer, Hothorn and Lehmacher 1995; Angelopoulos and others 2021, Learn then
Test, arXiv:2110.01052). Where the sequence begins decides how often it finds one; other items than those of the test
may choose that (`chance_of_floor`; split fixed-sequence testing, section 5 there).
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep_analysis.stats.checked import numbers, yes_or_no
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.estimate import Estimate
from misstep_harness.errors import UsageError

NOTHING_FLAGGED = "nothing flagged"


class ThresholdStep(Struct, frozen=True):
    """One threshold: its precision with the lower bound, whether that reaches the floor, and whether it was tested.

    What comes after the first failure is shown, but was not tested and cannot be chosen.
    """

    threshold: float
    flagged: int
    true_positives: int
    precision: Estimate
    passes: bool
    tested: bool


class PrecisionFloor(Struct, frozen=True):
    """The steps in the order tested and the last threshold that passed; `None` where the first one failed.

    `lowest_passing` is the lowest threshold that passes by itself, what one would choose without the guarantee.
    """

    steps: tuple[ThresholdStep, ...]
    selected: float | None
    lowest_passing: float | None


def precision_floor(
    scores: npt.ArrayLike,
    positives: npt.ArrayLike,
    thresholds: Sequence[float],
    floor: float,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> PrecisionFloor:
    """Test thresholds in order until one cannot be shown to keep the precision above a floor.

    Parameters
    ----------
    scores
        Items: the judge's scores; an item is flagged at a threshold that its score reaches.
    positives
        Items: whether the gold label is positive.
    thresholds
        In the order in which they are tested, fixed before looking at the items.
    floor
        The precision to keep, above 0 and below 1.
    confidence
        Of the one-sided bounds.
    clusters
        Items: which cluster each is of; by default every item stands for itself.

    Raises
    ------
    UsageError
        Scores, labels and clusters differ in length, a score is missing, there are no thresholds, or the floor is
        not a share.
    """
    values, gold = numbers(scores, "a score"), yes_or_no(positives, "a gold label")
    together = np.arange(values.size) if clusters is None else np.asarray(clusters)
    _check_floor(floor)
    if values.shape != gold.shape or values.ndim != 1:
        raise UsageError(f"{values.size} scores but {gold.size} labels")
    if together.shape != values.shape:
        raise UsageError(f"{values.size} scores but {together.size} clusters")
    if not thresholds:
        raise UsageError("no thresholds to test")
    steps: list[ThresholdStep] = []
    open_sequence, selected = True, None
    for threshold in thresholds:
        flagged = values >= threshold
        n, right = int(flagged.sum()), int((flagged & gold).sum())
        precision = flagged_precision(gold[flagged], together[flagged], confidence)
        passes = precision.low is not None and precision.low >= floor
        steps.append(ThresholdStep(threshold, n, right, precision, passes, open_sequence))
        open_sequence = open_sequence and passes
        if open_sequence:
            selected = threshold
    passing = [step.threshold for step in steps if step.passes]
    return PrecisionFloor(tuple(steps), selected, min(passing) if passing else None)


def flagged_precision(right: npt.ArrayLike, clusters: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Return the precision of flagged items with its one-sided lower bound.

    The bound is Clopper and Pearson's, or Korn and Graubard's where several of the items are of one cluster.

    Parameters
    ----------
    right, clusters
        Flagged items: whether the gold label is positive, and which cluster each is of.
    confidence
        Of the bound.
    """
    _, places = np.unique(np.asarray(clusters), return_inverse=True)
    if not len(places):
        return Estimate(None, n=0, reason=NOTHING_FLAGGED)
    hits = np.bincount(places, weights=np.asarray(right, dtype=np.float64)).astype(np.int64)
    return korn_graubard(np.column_stack([hits, np.bincount(places)]), confidence, "lower")


def chance_of_floor(right: float, wrong: float, flagged: int, floor: float, confidence: float = 0.95) -> float:
    """Return the chance that so many flagged items show a floor, if the precision has a beta distribution.

    The tail of the beta-binomial distribution from the fewest right items whose lower bound reaches the floor.

    Parameters
    ----------
    right, wrong
        The parameters of the beta distribution: items seen with those that stand for what was known before.
    flagged
        How many items will be flagged.
    confidence
        Of the one-sided bound.

    Raises
    ------
    UsageError
        The floor is not a share, or a parameter is not above 0.

    Examples
    --------
    >>> round(chance_of_floor(45, 5, 50, 0.8), 3)
    0.617
    """
    _check_floor(floor)
    if not (right > 0 and wrong > 0):
        raise UsageError(f"a beta distribution with {right:g} and {wrong:g}", "Both lie above 0.")
    from scipy.special import bdtrc, betaln, gammaln

    counts = np.arange(1, flagged + 1)
    shown = counts[bdtrc(counts - 1, flagged, floor) <= 1 - confidence]
    ways = gammaln(flagged + 1) - gammaln(shown + 1) - gammaln(flagged - shown + 1)
    chances = np.exp(ways + betaln(right + shown, wrong + flagged - shown) - betaln(right, wrong))
    return float(min(1.0, chances.sum()))


def smallest_flagged(floor: float, errors: int, confidence: float = 0.95) -> int:
    """Return the fewest flagged items with which a floor can be shown when so many of them are wrong.

    Parameters
    ----------
    errors
        How many of the flagged items are wrong.

    Raises
    ------
    UsageError
        The floor is not a share, or errors are negative.
    """
    _check_floor(floor)
    if errors < 0:
        raise UsageError(f"{errors} errors")
    from scipy.special import bdtrc

    return _first(lambda n: bool(bdtrc(n - errors - 1, n, floor) <= 1 - confidence), errors)


def flagged_for_power(floor: float, precision: float, confidence: float = 0.95, power: float = 0.8) -> int:
    """Return the fewest flagged items with which a floor is shown with a given chance, if the precision is what it is.

    Of the numbers of items at which one more error is allowed, the first whose chance of no more errors than allowed
    reaches the power. It grows with the number of items but for steps of a percent or two.

    Parameters
    ----------
    precision
        The true precision, above the floor.
    power
        The chance wanted, above 0 and below 1.

    Raises
    ------
    UsageError
        The floor or the power is not a share, or the precision is not above the floor.
    """
    _check_floor(floor)
    if not floor < precision <= 1:
        raise UsageError(f"a precision of {precision:g} against a floor of {floor:g}", "No number of items will do.")
    if not 0 < power < 1:
        raise UsageError(f"a power of {power:g}", "It lies between 0 and 1.")
    from scipy.special import bdtr

    def likely(errors: int) -> bool:
        return bool(bdtr(errors, smallest_flagged(floor, errors, confidence), 1 - precision) >= power)

    return smallest_flagged(floor, 0 if likely(0) else _first(likely, 0), confidence)


def _first(holds: Callable[[int], bool], low: int) -> int:
    """Return the first number above `low` that something holds for, which then holds for all further ones."""
    high = low + 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _check_floor(floor: float) -> None:
    if not 0 < floor < 1:
        raise UsageError(f"a precision floor of {floor:g}", "It lies between 0 and 1.")

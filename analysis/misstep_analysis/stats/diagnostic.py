"""How good a yes-or-no judge is against gold labels: precision, recall and what else a 2 x 2 table gives.

Every share carries a Wilson interval; what is 0/0 is undefined and says so, never 0.
"""

from collections.abc import Sequence

from msgspec import Struct

from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_harness.errors import UsageError

NO_PREDICTED_POSITIVE = "no predicted positive: 0/0"
NO_ACTUAL_POSITIVE = "no actual positive: 0/0"
NO_ACTUAL_NEGATIVE = "no actual negative: 0/0"


class Confusion(Struct, frozen=True):
    """Counts of a judge's answers against gold labels: true and false positives and negatives."""

    tp: int
    fp: int
    fn: int
    tn: int

    def __post_init__(self) -> None:
        """Refuse counts below 0."""
        if min(self.tp, self.fp, self.fn, self.tn) < 0:
            raise UsageError(f"a count of {min(self.tp, self.fp, self.fn, self.tn)} in a confusion matrix")

    @property
    def n(self) -> int:
        """Return how many items were judged."""
        return self.tp + self.fp + self.fn + self.tn


def count_confusion(gold: Sequence[bool], answers: Sequence[bool]) -> Confusion:
    """Return the 2 x 2 table of two lists of the same length, item by item.

    Parameters
    ----------
    gold, answers
        Items: yes or no.

    Raises
    ------
    ValueError
        The lists differ in length.

    Examples
    --------
    >>> count_confusion([True, False, True], [True, True, False])
    Confusion(tp=1, fp=1, fn=1, tn=0)
    """
    pairs = list(zip(gold, answers, strict=True))
    odd = [value for pair in pairs for value in pair if value not in (True, False)]
    if odd:
        raise UsageError(f"{odd[0]!r} where an answer is yes or no", "Leave out the items without an answer.")
    return Confusion(
        tp=pairs.count((True, True)),
        fp=pairs.count((False, True)),
        fn=pairs.count((True, False)),
        tn=pairs.count((False, False)),
    )


def precision(table: Confusion) -> Estimate:
    """Share of positive answers that are right.

    Examples
    --------
    >>> precision(Confusion(tp=8, fp=2, fn=4, tn=6)).value
    0.8
    """
    return _share(table.tp, table.tp + table.fp, NO_PREDICTED_POSITIVE)


def recall(table: Confusion) -> Estimate:
    """Share of positive items that are found.

    Examples
    --------
    >>> round(recall(Confusion(tp=8, fp=2, fn=4, tn=6)).value, 3)
    0.667
    """
    return _share(table.tp, table.tp + table.fn, NO_ACTUAL_POSITIVE)


def f1(table: Confusion) -> Estimate:
    """Harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN); without an interval.

    Examples
    --------
    >>> round(f1(Confusion(tp=8, fp=2, fn=4, tn=6)).value, 3)
    0.727
    """
    below = 2 * table.tp + table.fp + table.fn
    if below == 0:
        return Estimate(None, n=table.n, reason="no positive predicted or actual: 0/0")
    return Estimate(2 * table.tp / below, n=table.n)


def _share(count: int, total: int, undefined: str) -> Estimate:
    return wilson(count, total) if total else Estimate(None, n=0, reason=undefined)

"""The result of a test of a hypothesis, which every test returns, and the p-values of several tests adjusted.

Holm holds the chance of any false finding; Benjamini and Yekutieli the expected share of false findings, however the
tests depend on each other. A missing p-value stays missing and counts for no test. The steps are written out rather
than taken from statsmodels, which collects the garbage of the whole process with every call: with some ten thousand
verdicts in memory that takes longer than all the tests. A test compares the two.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from msgspec import Struct

from misstep_harness.errors import UsageError


class Significance(Struct, frozen=True):
    """A test statistic with its p-value, or the reason why there is none.

    `p_value` is two-sided unless `test` says otherwise; `n` is the number of units behind it; what is 0/0 is `None`,
    never 0 or 1, and `reason` says why. A p-value that is defined by convention has a reason, too.
    """

    statistic: float | None
    p_value: float | None
    n: int | None = None
    test: str = ""
    reason: str = ""


def normal_p_value(z: float) -> float:
    """Return the two-sided p-value of a normal statistic, exact to the last digits however small."""
    return math.erfc(abs(z) / math.sqrt(2))


class Adjusted(Struct, frozen=True):
    """Adjusted p-values in the given order, `None` where none was given, and how many tests were counted."""

    p_values: tuple[float | None, ...]
    tests: int
    method: str


def holm(p_values: Sequence[float | None]) -> Adjusted:
    """P-values adjusted step down (Holm 1979, Scandinavian Journal of Statistics 6:65-70).

    Parameters
    ----------
    p_values
        One a test; `None` or NaN where the test is undefined.

    Raises
    ------
    UsageError
        A p-value is outside 0 to 1.
    """
    return _adjusted(p_values, _step_down, "Holm")


def benjamini_yekutieli(p_values: Sequence[float | None]) -> Adjusted:
    """P-values adjusted under any dependence (Benjamini and Yekutieli 2001, Ann. Stat. 29:1165-1188); as for `holm`."""
    return _adjusted(p_values, _step_up, "Benjamini-Yekutieli")


def _adjusted(p_values: Sequence[float | None], adjust: Callable[[list[float]], list[float]], name: str) -> Adjusted:
    values = [None if p is None or math.isnan(p) else p for p in p_values]
    known = [p for p in values if p is not None]
    outside = [p for p in known if not 0 <= p <= 1]
    if outside:
        raise UsageError(f"a p-value outside 0 to 1: {outside[0]:g}")
    adjusted = iter(adjust(known))
    return Adjusted(tuple(None if p is None else next(adjusted) for p in values), len(known), name)


def _step_down(p_values: list[float]) -> list[float]:
    """Return the smallest times all tests, the next times one fewer, and so on; none below the one before it."""
    tests = len(p_values)
    order = sorted(range(tests), key=p_values.__getitem__)
    return _in_place(order, accumulate(((tests - rank) * p_values[test] for rank, test in enumerate(order)), max))


def _step_up(p_values: list[float]) -> list[float]:
    """The greatest times the factor, the next times that and tests over its rank, and so on; none above the one before.

    The factor, 1 + 1/2 + … + 1/tests, is what holds under any dependence.
    """
    tests = len(p_values)
    factor = sum(1 / rank for rank in range(1, tests + 1))
    order = sorted(range(tests), key=p_values.__getitem__, reverse=True)
    scaled = (factor * tests / (tests - place) * p_values[test] for place, test in enumerate(order))
    return _in_place(order, accumulate(scaled, min))


def _in_place(order: list[int], adjusted: Iterable[float]) -> list[float]:
    by_test = dict(zip(order, adjusted, strict=True))
    return [min(1.0, by_test[test]) for test in range(len(order))]

"""Several comparisons in one table: adjusted p-values.

Holm holds the chance of any false finding; Benjamini and Hochberg the expected share of false findings, as Benjamini and
Yekutieli do however the tests depend on each other. A missing p-value stays missing and is not counted among the tests.
"""

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from harness.errors import UsageError


class Adjusted(Struct, frozen=True):
    """Adjusted p-values in the given order, `None` where none was given, and how many tests were counted."""

    p_values: tuple[float | None, ...]
    tests: int
    method: str

    def rejected(self, alpha: float = 0.05) -> int:
        """How many are at or below a level."""
        return sum(p is not None and p <= alpha for p in self.p_values)


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
    return _adjusted(p_values, "holm", "Holm")


def benjamini_hochberg(p_values: Sequence[float | None]) -> Adjusted:
    """P-values adjusted step up (Benjamini and Hochberg 1995, J. R. Stat. Soc. B 57:289-300); as for `holm`."""
    return _adjusted(p_values, "fdr_bh", "Benjamini-Hochberg")


def benjamini_yekutieli(p_values: Sequence[float | None]) -> Adjusted:
    """P-values adjusted under any dependence (Benjamini and Yekutieli 2001, Ann. Stat. 29:1165-1188); as for `holm`."""
    return _adjusted(p_values, "fdr_by", "Benjamini-Yekutieli")


def _adjusted(p_values: Sequence[float | None], method: Literal["holm", "fdr_bh", "fdr_by"], name: str) -> Adjusted:
    given = [None if p is None or math.isnan(p) else p for p in p_values]
    known = [p for p in given if p is not None]
    outside = [p for p in known if not 0 <= p <= 1]
    if outside:
        raise UsageError(f"a p-value outside 0 to 1: {outside[0]:g}")
    if not known:
        return Adjusted(tuple(given), 0, name)
    from statsmodels.stats.multitest import multipletests

    adjusted = iter(multipletests(known, method=method)[1].tolist())
    return Adjusted(tuple(None if p is None else next(adjusted) for p in given), len(known), name)

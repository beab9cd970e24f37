"""Which 2 x 2 tables of a judge's answers print the figures that are in a paper.

A table of precision and recall seldom prints the counts. All whole-number tables inside the rounding of every printed
figure are found, both ends of the rounding included. None means that the figures contradict each other; one
means that the counts are known; several are all reported, never one of them. The search is bounded and says so where it
stopped early.
"""

from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep.analysis.stats.diagnostic import Confusion
from misstep.analysis.stats.printed.audit import decimals, rounding_interval
from misstep.analysis.stats.raters.patterns import IntArray
from misstep.harness.errors import UsageError

Measure = Literal["accuracy", "precision", "recall", "specificity", "npv", "f1", "kappa"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

LARGEST_N, MOST_DECIMALS = 20_000, 8
"""With so many items and printed digits a product still fits 64 bits."""

_MOST_TABLES = 200_000
"""How many tables are found at most: figures that so many print tell nothing."""


class Reconstruction(Struct, frozen=True):
    """All tables that print the figures, by number of positives and true positives, and how the search ended.

    Where `complete` is false the budget ran out after `examined` tables, and there may be more.
    """

    tables: tuple[Confusion, ...]
    complete: bool
    examined: int


def reconstruct(
    n: int, printed: Mapping[Measure, str], positives: int | None = None, budget: int = 50_000_000
) -> Reconstruction:
    """Return the 2 x 2 tables of `n` items that print all of the given figures.

    Parameters
    ----------
    n
        How many items were judged.
    printed
        Measure → its digits as printed, as a fraction ("0.286"), not in percent.
    positives
        How many items are truly positive, where that is printed.
    budget
        The most tables to look at.

    Raises
    ------
    UsageError
        There are no figures, a measure is unknown, a figure has too many digits, or there are
        more positives than items or too many items.
    """
    unknown = sorted(printed.keys() - set(MEASURES))
    if unknown or not printed:
        found_wrong = f"no such measure: {', '.join(unknown)}" if unknown else "no printed figure to search with"
        raise UsageError(found_wrong, f"Measures: {', '.join(MEASURES)}.")
    if any(decimals(digits) > MOST_DECIMALS for digits in printed.values()):
        raise UsageError(f"a figure with more than {MOST_DECIMALS} digits behind the point")
    if not 0 < n <= LARGEST_N:
        raise UsageError(f"{n} items: a table can be searched for 1 to {LARGEST_N}")
    if positives is not None and not 0 <= positives <= n:
        raise UsageError(f"{positives} positives out of {n} items")
    examined = 0
    tables: list[Confusion] = []
    for actual in range(n + 1) if positives is None else (positives,):
        if examined + (n + 1) > budget:
            return Reconstruction(tuple(tables), False, examined)
        tp = _true_positives(actual, printed)
        examined += actual + 1
        negatives = np.arange(n - actual + 1, dtype=np.int64)
        # Blocks of about a million tables keep memory the same for every n.
        rows = max(1, min(len(tp), 1_000_000 // len(negatives)))
        for start in range(0, len(tp), rows):
            hits, fp = (part.ravel() for part in np.meshgrid(tp[start : start + rows], negatives, indexing="ij"))
            if examined + hits.size > budget:
                return Reconstruction(tuple(tables), False, examined)
            examined += hits.size
            fits = _fit(printed, hits, fp, actual - hits, n - actual - fp)
            tables += [
                Confusion(tp=int(one), fp=int(other), fn=actual - int(one), tn=n - actual - int(other))
                for one, other in zip(hits[fits], fp[fits], strict=True)
            ]
            if len(tables) > _MOST_TABLES:
                return Reconstruction(tuple(tables[:_MOST_TABLES]), False, examined)
    return Reconstruction(tuple(tables), True, examined)


def _true_positives(actual: int, printed: Mapping[Measure, str]) -> IntArray:
    tp = np.arange(actual + 1, dtype=np.int64)
    return tp[_within(printed["recall"], tp, np.full_like(tp, actual))] if "recall" in printed else tp


def _fit(printed: Mapping[Measure, str], *cells: IntArray) -> npt.NDArray[np.bool_]:
    fits = np.ones(cells[0].shape, dtype=bool)
    for measure, digits in printed.items():
        fits &= _within(digits, *_quotient(measure, *cells))
    return fits


def _quotient(measure: Measure, tp: IntArray, fp: IntArray, fn: IntArray, tn: IntArray) -> tuple[IntArray, IntArray]:
    """A measure as numerator and denominator in whole numbers, so that no printed digit is lost to binary rounding."""
    match measure:
        case "accuracy":
            return tp + tn, tp + fp + fn + tn
        case "precision":
            return tp, tp + fp
        case "recall":
            return tp, tp + fn
        case "specificity":
            return tn, tn + fp
        case "npv":
            return tn, tn + fn
        case "f1":
            return 2 * tp, 2 * tp + fp + fn
        case "kappa":
            # (agreement - chance) / (1 - chance) with both multiplied by n²
            return 2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)


def _within(digits: str, above: IntArray, below: IntArray) -> npt.NDArray[np.bool_]:
    """Return where the quotient lies inside the rounding of the printed digits; 0/0 prints nothing."""
    low, high = rounding_interval(digits)
    # Products of whole numbers are compared: a quotient in binary may fall on the wrong side of a rounding border.
    return np.asarray(
        (below > 0)
        & (above * low.denominator >= below * low.numerator)
        & (above * high.denominator <= below * high.numerator)
    )

"""Precision and recall from the cells of a judge's table."""

from collections.abc import Mapping
from fractions import Fraction

from msgspec import structs

from analysis.audit.checked import Checked, compared, underdetermined
from analysis.audit.rounding_boxes import fits, is_exact_count, point, printed_value
from analysis.published import Figure
from analysis.stats.diagnostic import Confusion

_CELLS_MISSING = "The printed counts do not fix the cells that it needs."
_ROWS_SWAPPED = "the rows of the two classes are swapped: it is the {measure} of the other class"


def check_precision_recall(figure: Figure, counts: Mapping[str, Figure]) -> Checked:
    """Precision or recall, as the figure's column says, of the class whose cells are given.

    Parameters
    ----------
    counts
        `tp`, `fp`, `fn`, `tn`, `positives` (tp + fn), `negatives` (fp + tn); what follows from
        the others may be missing.
    """
    column = figure.column.lower()
    if ("precision" in column) == ("recall" in column):
        return underdetermined("precision_recall", f"Column {figure.column!r} is neither precision nor recall.")
    measure = "precision" if "precision" in column else "recall"
    if not all(is_exact_count(count) for count in counts.values()):
        return underdetermined("precision_recall", _CELLS_MISSING)
    known = {name: int(printed_value(count)) for name, count in counts.items()}
    tp, fn = _pair(known, "tp", "fn", "positives")
    tn, fp = _pair(known, "tn", "fp", "negatives")
    impossible = _contradiction({"tp": tp, "fp": fp, "fn": fn, "tn": tn}, known)
    if impossible:
        return Checked("precision_recall", "impossible", impossible)
    found, wrong = tp, fp if measure == "precision" else fn
    if found is None or wrong is None:
        return underdetermined("precision_recall", _CELLS_MISSING)
    if found + wrong == 0:
        return underdetermined("precision_recall", f"{measure.capitalize()} is 0/0.")
    checked = compared(
        "precision_recall", figure, f"{found:,} / {found + wrong:,}", point(Fraction(found, found + wrong))
    )
    if checked.status == "reproduced" or tn is None or fn is None or fp is None:
        return checked
    other = Confusion(tp=tn, fp=fn, fn=fp, tn=found)
    return _with_rows_swapped(checked, figure, measure, other)


def _pair(known: Mapping[str, int], first: str, second: str, total: str) -> tuple[int | None, int | None]:
    """Two cells of which one may follow from the other and their sum."""
    one, other, both = known.get(first), known.get(second), known.get(total)
    if one is None and other is not None and both is not None:
        one = both - other
    if other is None and one is not None and both is not None:
        other = both - one
    return one, other


def _contradiction(cells: Mapping[str, int | None], known: Mapping[str, int]) -> str:
    for total, (first, second) in {"positives": ("tp", "fn"), "negatives": ("fp", "tn")}.items():
        one, other = cells[first], cells[second]
        if one is None or other is None:
            continue
        if min(one, other) < 0:
            return f"{max(one, other):,} of {known[total]:,} {total} is more than there are."
        if known.get(total, one + other) != one + other:
            return f"{one:,} + {other:,} is {one + other:,}, not the {known[total]:,} {total} printed."
    return ""


def _with_rows_swapped(checked: Checked, figure: Figure, measure: str, other: Confusion) -> Checked:
    cases = other.tp + (other.fp if measure == "precision" else other.fn)
    if not cases or not fits(figure, point(Fraction(other.tp, cases))):
        return checked
    swapped = _ROWS_SWAPPED.format(measure=measure)
    return structs.replace(checked, suggestion=f"{swapped}, {other.tp:,} / {cases:,}")

"""Precision, recall, F1 and accuracy from the cells of a judge's table, or against every table of the classes' sizes.

Without cells, the figures of one judge have to come from one table of whole counts (`judge_tables`). If there is none,
the figures contradict each other.
"""

from collections.abc import Mapping
from fractions import Fraction

from msgspec import structs

from misstep_analysis.audit.checked import Checked, Repair, compared, first_of, underdetermined
from misstep_analysis.audit.judge_tables import CELLS, SWAPS, Measure, check_together, opening
from misstep_analysis.audit.rounding_boxes import fits, is_exact_count, point, printed_value
from misstep_analysis.published import Figure
from misstep_analysis.stats.diagnostic import Confusion

_NAMES: dict[Measure, tuple[str, ...]] = {
    "precision": ("precision",),
    "recall": ("recall",),
    "f1": ("f1", "f-1", "f₁"),
    "accuracy": ("accuracy",),
}

NEEDS: dict[str, frozenset[str]] = {
    "precision": frozenset({"tp", "fp"}),
    "recall": frozenset({"tp", "fn"}),
    "f1": frozenset({"tp", "fp", "fn"}),
    "accuracy": frozenset(CELLS),
}
_CLASSES = ("positives", "negatives")
SUMS = {"positives": ("tp", "fn"), "negatives": ("fp", "tn"), "n": ("positives", "negatives")}


def check_precision_recall(figure: Figure, inputs: Mapping[str, Figure]) -> Checked:
    """Check precision, recall, F1 or accuracy, as the figure's column says, of the class of the figure's row."""
    column = figure.column.lower()
    named = [measure for measure, words in _NAMES.items() if any(word in column for word in words)]
    if len(named) != 1 or "balanced" in column:
        return underdetermined("precision_recall", f"Column {figure.column!r} is not one of {', '.join(_NAMES)}.")
    measure = named[0]
    counted = {name: one for name, one in inputs.items() if name in (*CELLS, *SUMS)}
    if not all(is_exact_count(count) for count in counted.values()):
        return underdetermined("precision_recall", "A cell or a size of a class is not a whole count.")
    known = {name: int(printed_value(count)) for name, count in counted.items()}
    counts = completed(known)
    impossible = _contradiction(counts, known)
    if impossible:
        return Checked("precision_recall", "impossible", impossible)
    if not NEEDS[measure] <= counts.keys():
        return check_together(figure, measure, counts, inputs)
    above, below, working = quotient(measure, counts)
    if below == 0:
        return underdetermined("precision_recall", f"{opening(measure)} is 0/0.")
    checked = compared("precision_recall", figure, working, point(Fraction(above, below)))
    return checked if checked.status == "reproduced" else _with_swaps(checked, figure, measure, counts)


def completed(known: Mapping[str, int]) -> dict[str, int]:
    """Return the given counts, and those that follow from a sum and the others in it."""
    counts = dict(known)
    for _ in SUMS:
        for total, parts in SUMS.items():
            missing = [part for part in parts if part not in counts]
            if not missing and total not in counts:
                counts[total] = sum(counts[part] for part in parts)
            elif len(missing) == 1 and total in counts:
                counts[missing[0]] = counts[total] - sum(counts[part] for part in parts if part in counts)
    return counts


def _contradiction(counts: Mapping[str, int], known: Mapping[str, int]) -> str:
    most = max(known.values(), default=0)
    if "n" in known and most > known["n"]:
        return f"{most:,} is more than all {known['n']:,} items."
    least = {total: counts.get(total, sum(counts.get(part, 0) for part in SUMS[total])) for total in _CLASSES}
    if "n" in counts and sum(least.values()) > counts["n"]:
        cells = " + ".join(f"{known[cell]:,}" for cell in (*CELLS, *_CLASSES) if cell in known)
        return f"{cells} is more than all {counts['n']:,} items."
    for total, parts in SUMS.items():
        if total not in known or not set(parts) <= counts.keys():
            continue
        whole = [counts[part] for part in parts]
        if min(whole) < 0:
            return f"{max(whole):,} of {known[total]:,} {total} is more than there are."
        if sum(whole) != known[total]:
            shown = " + ".join(f"{count:,}" for count in whole)
            return f"{shown} is {sum(whole):,}, not the {known[total]:,} {total} printed."
    return ""


def quotient(measure: str, counts: Mapping[str, int]) -> tuple[int, int, str]:
    """Return a measure of some cells as a quotient, and in words."""
    table = _table(counts)
    above, beside = {
        "precision": (table.tp, table.fp),
        "recall": (table.tp, table.fn),
        "f1": (2 * table.tp, table.fp + table.fn),
    }.get(measure, (table.tp + table.tn, table.fp + table.fn))
    return above, above + beside, f"{above:,} / {above + beside:,}"


def _with_swaps(checked: Checked, figure: Figure, measure: Measure, counts: Mapping[str, int]) -> Checked:
    """Return the judgement with a suggestion if the figure is that of the other class or column."""
    mirrored = {cell: counts[other] for cell, other in _OTHER_CLASS.items() if other in counts}
    of_other = f"{measure} of the other class"
    swaps: list[tuple[Repair, Measure, Mapping[str, int], str]] = [("rows_swapped", measure, mirrored, of_other)]
    if measure in ("precision", "recall"):
        beside: Measure = "recall" if measure == "precision" else "precision"
        swaps.append(("columns_swapped", beside, counts, beside))
    repairs: dict[Repair, str] = {}
    for swapped, other, cells, called in swaps:
        above, below, working = quotient(other, cells)
        if NEEDS[other] <= cells.keys() and below and fits(figure, point(Fraction(above, below))):
            repairs[swapped] = f"{SWAPS[swapped]}: it is the {called}, {working}"
    if not repairs:
        return checked
    return structs.replace(checked, suggestion=first_of(*repairs.values()), repair=next(iter(repairs)))


def _table(counts: Mapping[str, int]) -> Confusion:
    """Return the cells that a measure needs; others may be missing and are 0."""
    return Confusion(**{cell: counts.get(cell, 0) for cell in CELLS})


_OTHER_CLASS = {"tp": "tn", "tn": "tp", "fp": "fn", "fn": "fp"}

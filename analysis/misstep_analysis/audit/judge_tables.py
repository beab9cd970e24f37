"""Precision, recall, F1 and accuracy of a judge: from its cells, or from every table that prints its figures.

Without cells, the figures of one judge have to come from one table of whole counts of two classes of known sizes. If no
such table exists, the figures contradict each other.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, get_args

from msgspec import structs

from misstep_analysis.audit.rounding_boxes import (
    Checked,
    Repair,
    compared,
    first_of,
    fits,
    input_box,
    is_exact_count,
    number,
    point,
    printed_value,
    underdetermined,
)
from misstep_analysis.audit.shares import check_percentage
from misstep_analysis.published import Figure
from misstep_analysis.stats.diagnostic import Confusion

Measure = Literal["accuracy", "precision", "recall", "specificity", "npv", "f1"]

_NAMES: dict[Measure, tuple[str, ...]] = {
    "precision": ("precision",),
    "recall": ("recall",),
    "f1": ("f1", "f-1", "f₁"),
    "accuracy": ("accuracy",),
}
CELLS = ("tp", "fp", "fn", "tn")

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
_MEASURES: tuple[Measure, ...] = get_args(Measure)

SWAPS: Mapping[Repair, str] = {
    "rows_swapped": "the rows of the two classes are swapped",
    "columns_swapped": "the columns are swapped",
}
"""Kind of swap → the opening of its suggestion."""

_OF_CLASS: Mapping[str, Measure] = {"other_precision": "npv", "other_recall": "specificity"}
"""A figure of the other class → the measure of this class that it is."""

_OTHER_NAMES: Mapping[Repair, Mapping[str, Measure]] = {
    "rows_swapped": {"precision": "npv", "npv": "precision", "recall": "specificity", "specificity": "recall"},
    "columns_swapped": {"precision": "recall", "recall": "precision", "npv": "specificity", "specificity": "npv"},
}
"""Kind of swap → measure → its name after the swap."""

_TITLES: Mapping[Measure, str] = {
    "npv": "precision of the other class",
    "specificity": "recall of the other class",
    "f1": "F1",
}
_MOST_TABLES = 100_000


def check_together(
    figure: Figure, measure: Measure, counts: Mapping[str, int], others: Mapping[str, Figure]
) -> Checked:
    """Check a figure and the others of the same judge against every table of two classes of known sizes."""
    beside = {_OF_CLASS.get(name, name): one for name, one in others.items()}
    every = {measure: figure, **beside}
    printed = {one: every[one] for one in _MEASURES if one in every and input_box(every[one]) is not None}
    if contradiction := _f1_outside(printed):
        return Checked("precision_recall", "impossible", contradiction)
    if not {"positives", "negatives"} <= counts.keys():
        if measure == "recall" and "positives" in others:
            checked = check_percentage(figure, None, others["positives"], None)
            return structs.replace(checked, check="precision_recall")
        return underdetermined("precision_recall", "How many items there were in each class is not printed.")
    tables = _tables(counts, printed) if measure in printed else None
    if tables is None:
        return underdetermined("precision_recall", f"Too many tables may print {figure.printed}.")
    each = [f"{_TITLES.get(one, one)} {printed[one].printed}" for one in printed]
    names = " and ".join(filter(None, [", ".join(each[:-1]), each[-1]]))
    sizes = f"{counts['positives']:,} positive and {counts['negatives']:,} negative items"
    if not tables:
        swaps = _swaps(counts, printed)
        repair: Repair = next(iter(swaps), "")
        sentence, suggestion = f"No table of {sizes} prints {names}.", first_of(*swaps.values())
        return Checked("precision_recall", "impossible", sentence, suggestion=suggestion, repair=repair)
    if len(tables) == 1:
        sentence = f"Of {sizes}, one table alone prints {names}: {_cells(tables[0])}."
        return Checked("precision_recall", "reproduced", sentence)
    sentence = f"{len(tables):,} tables of {sizes} print {names}, such as {_cells(tables[len(tables) // 2])}."
    return underdetermined("precision_recall", sentence)


def opening(measure: str) -> str:
    """Return a measure as it opens a sentence."""
    return measure.upper() if measure == "f1" else measure.capitalize()


def _tables(counts: Mapping[str, int], printed: Mapping[Measure, Figure]) -> list[Confusion] | None:
    """Return the tables of these classes that print all figures; `None` if too many would have to be looked at."""
    positives, negatives = counts["positives"], counts["negatives"]
    if max(positives, negatives) > _MOST_TABLES:
        return None
    hits = [tp for tp in range(positives + 1) if _prints(printed, "recall", Confusion(tp, 0, positives - tp, 0))]
    rejections = [
        tn for tn in range(negatives + 1) if _prints(printed, "specificity", Confusion(0, negatives - tn, 0, tn))
    ]
    if len(hits) * len(rejections) > _MOST_TABLES:
        return None
    tables = [Confusion(tp, negatives - tn, positives - tp, tn) for tp in hits for tn in rejections]
    return [
        table
        for table in tables
        if all(getattr(table, cell) == counts.get(cell, getattr(table, cell)) for cell in CELLS)
        and all(_prints(printed, measure, table) for measure in printed)
    ]


def _prints(printed: Mapping[Measure, Figure], measure: Measure, table: Confusion) -> bool:
    if measure not in printed:
        return True
    above, below = _quotient(measure, table)
    return below > 0 and fits(printed[measure], point(Fraction(above, below)))


def _quotient(measure: Measure, table: Confusion) -> tuple[int, int]:
    tp, fp, fn, tn = (getattr(table, cell) for cell in CELLS)
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


def _swaps(counts: Mapping[str, int], printed: Mapping[Measure, Figure]) -> dict[Repair, str]:
    swaps: dict[Repair, str] = {}
    for swapped, names in _OTHER_NAMES.items():
        if "f1" in printed and swapped == "rows_swapped":
            continue
        tables = _tables(counts, {names.get(measure, measure): one for measure, one in printed.items()})
        if tables:
            one = f", from {_cells(tables[0])}" if len(tables) == 1 else ""
            swaps[swapped] = f"{SWAPS[swapped]}: then all fit{one}"
    return swaps


def _f1_outside(printed: Mapping[Measure, Figure]) -> str:
    """Return that F1 is not between the values that precision and recall leave open, whatever the table; else empty."""
    boxes = {one: input_box(printed[one]) for one in ("precision", "recall", "f1") if one in printed}
    precision, recall, f1 = (boxes.get(one) for one in ("precision", "recall", "f1"))
    if precision is None or recall is None or f1 is None:
        return ""
    low = _harmonic_mean(max(precision.low, Fraction(0)), max(recall.low, Fraction(0)))
    high = _harmonic_mean(max(precision.high, Fraction(0)), max(recall.high, Fraction(0)))
    if f1.low <= high and low <= f1.high:
        return ""
    figure = printed["f1"]
    means = f"{number(low, figure)} to {number(high, figure)}"
    both = f"Precision {printed['precision'].printed} and recall {printed['recall'].printed}"
    return f"{both} make an F1 from {means}, not {figure.printed}."


def _harmonic_mean(one: Fraction, other: Fraction) -> Fraction:
    return 2 * one * other / (one + other) if one + other else Fraction(0)


def _cells(table: Confusion) -> str:
    return f"{table.tp:,} true and {table.fp:,} false positives, {table.fn:,} false and {table.tn:,} true negatives"

"""A judge's printed figures without the cells behind them: which tables of two classes of known sizes print them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, get_args

from msgspec import structs

from misstep_analysis.audit.checked import Checked, Repair, first_of, underdetermined
from misstep_analysis.audit.rounding_boxes import fits, input_box, number, point
from misstep_analysis.audit.shares import check_percentage
from misstep_analysis.published import Figure
from misstep_analysis.stats.diagnostic import Confusion

Measure = Literal["accuracy", "precision", "recall", "specificity", "npv", "f1"]
_MEASURES: tuple[Measure, ...] = get_args(Measure)
CELLS = ("tp", "fp", "fn", "tn")

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

_NAMES: Mapping[Measure, str] = {
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
    each = [f"{_NAMES.get(one, one)} {printed[one].printed}" for one in printed]
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

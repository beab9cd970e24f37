"""A judge's printed figures without the cells behind them: which tables of whole counts print them all."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec import structs

from misstep.analysis.audit.checked import Checked, Repair, underdetermined
from misstep.analysis.audit.repairs import first_of
from misstep.analysis.audit.rounding_boxes import as_fraction, counts_in, fraction_digits, limit
from misstep.analysis.audit.shares import check_percentage
from misstep.analysis.published import Figure
from misstep.analysis.stats.diagnostic import Confusion
from misstep.analysis.stats.printed.audit import decimals, rounding_interval
from misstep.analysis.stats.printed.reconstruction import LARGEST_N, MEASURES, MOST_DECIMALS, Measure, reconstruct

CELLS = ("tp", "fp", "fn", "tn")

SWAPS: Mapping[Repair, str] = {
    "rows_swapped": "the rows of the two classes are swapped",
    "columns_swapped": "the columns are swapped",
}
"""Kind of swap → the opening of its suggestion."""

_OF_CLASS: Mapping[str, Measure] = {"other_precision": "npv", "other_recall": "specificity"}
"""A figure of the other class → the measure of this one that it is."""

_OTHER_NAMES: Mapping[Repair, Mapping[str, str]] = {
    "rows_swapped": {"precision": "npv", "npv": "precision", "recall": "specificity", "specificity": "recall"},
    "columns_swapped": {"precision": "recall", "recall": "precision", "npv": "specificity", "specificity": "npv"},
}
"""Kind of swap → measure → its name after the swap."""

_BUDGET = 10_000_000
_MOST_OTHER_N = 500
"""Up to how many items another number of them is sought."""

_LARGEST_DENOMINATOR = 1_000


def check_together(
    figure: Figure,
    measure: Measure,
    counts: Mapping[str, int],
    others: Mapping[str, Figure],
    positives: Figure | None = None,
) -> Checked:
    """Return a figure and the others of the same judge against every table of so many items."""
    beside = {_OF_CLASS.get(name, name): one for name, one in others.items()}
    printed = _printed({measure: figure, **beside})
    if measure not in printed:
        return underdetermined("precision_recall", f"{figure.printed} is not a figure that a table could be found for.")
    contradiction = _f1_outside(printed)
    if contradiction:
        return Checked("precision_recall", "impossible", contradiction)
    if "n" not in counts:
        return _without_n(figure, measure, positives)
    if not 0 < counts["n"] <= LARGEST_N:
        return underdetermined("precision_recall", f"Tables of {counts['n']:,} items are not searched.")
    tables, complete = _tables(counts, printed)
    each = [_measure_text(one, printed) for one in printed]
    names = " and ".join(filter(None, [", ".join(each[:-1]), each[-1]]))
    if not tables and not complete:
        return underdetermined("precision_recall", f"The search for tables that print {names} gave up.")
    if not tables:
        sentence = f"No table of {_sizes(counts)} prints {names}."
        swaps = _swaps(counts, printed)
        repair = first_of(*swaps.values(), *_other_n(counts, printed))
        return Checked("precision_recall", "impossible", sentence, suggestion=repair, repair=next(iter(swaps), ""))
    if len(tables) == 1 and complete:
        sentence = f"Of {_sizes(counts)}, one table alone prints {names}: {_cells(tables[0])}."
        return Checked("precision_recall", "reproduced", sentence)
    many = f"{len(tables):,}" if complete else f"At least {len(tables):,}"
    sentence = f"{many} tables of {_sizes(counts)} print {names}, such as {_cells(tables[len(tables) // 2])}."
    return underdetermined("precision_recall", sentence)


def opening(measure: str) -> str:
    """Return a measure as it opens a sentence."""
    return measure.upper() if measure == "f1" else measure.capitalize()


def _printed(figures: Mapping[str, Figure]) -> dict[Measure, str]:
    """Return measure → the digits as a fraction; figures that are limits, about or in words say too little."""
    texts: dict[Measure, str] = {}
    for measure in (one for one in MEASURES if one in figures):
        figure = figures[measure]
        if figure.unit == "text" or figure.approximate or limit(figure) is not None:
            continue
        if fraction_digits(figure) <= MOST_DECIMALS:
            texts[measure] = as_fraction(figure)
    return texts


def _tables(counts: Mapping[str, int], printed: Mapping[Measure, str]) -> tuple[list[Confusion], bool]:
    search = reconstruct(counts["n"], printed, counts.get("positives"), _BUDGET)
    known = [cell for cell in CELLS if cell in counts]
    fitting = [table for table in search.tables if all(getattr(table, cell) == counts[cell] for cell in known)]
    return fitting, search.complete


def _swaps(counts: Mapping[str, int], printed: Mapping[Measure, str]) -> dict[Repair, str]:
    swaps: dict[Repair, str] = {}
    for swapped, names in _OTHER_NAMES.items():
        exchanged = {names.get(measure, measure): digits for measure, digits in printed.items()}
        if "f1" in printed and swapped == "rows_swapped":
            continue
        tables, complete = _tables(counts, exchanged)  # type: ignore[arg-type]
        if tables:
            one = f", from {_cells(tables[0])}" if len(tables) == 1 and complete else ""
            swaps[swapped] = f"{SWAPS[swapped]}: then all fit{one}"
    return swaps


def _other_n(counts: Mapping[str, int], printed: Mapping[Measure, str]) -> Iterator[str]:
    n = counts["n"]
    if "positives" in counts or n > _MOST_OTHER_N or any(cell in counts for cell in CELLS):
        return
    for distance in range(1, max(1, n // 100) + 1):
        for other in (n + distance, n - distance):
            if other > 0 and _tables({"n": other}, printed)[0]:
                yield f"with {other:,} items instead of {n:,} they would fit"
                return


def _f1_outside(printed: Mapping[Measure, str]) -> str:
    """Return that F1 is not between the values that precision and recall leave open, whatever the table; else empty."""
    if not {"precision", "recall", "f1"} <= printed.keys():
        return ""
    precision, recall, f1 = (rounding_interval(printed[measure]) for measure in ("precision", "recall", "f1"))
    low, high = (
        _harmonic_mean(max(one, Fraction(0)), max(other, Fraction(0)))
        for one, other in zip(precision, recall, strict=True)
    )
    if f1[0] <= high and low <= f1[1]:
        return ""
    behind = decimals(printed["f1"]) + 1
    means = f"{float(low):.{behind}f} to {float(high):.{behind}f}"
    sentence = f"Precision {printed['precision']} and {_measure_text('recall', printed)}"
    return f"{sentence} make an F1 from {means}, not {printed['f1']}."


def _harmonic_mean(one: Fraction, other: Fraction) -> Fraction:
    return 2 * one * other / (one + other) if one + other else Fraction(0)


def _without_n(figure: Figure, measure: Measure, positives: Figure | None) -> Checked:
    if measure == "recall" and positives is not None:
        return structs.replace(check_percentage(figure, None, positives, None), check="precision_recall")
    kind = {"precision": "positive answers", "recall": "positive items", "accuracy": "items"}.get(measure)
    unprinted = "How many items there were in each class is not printed."
    least = next((size for size in range(1, _LARGEST_DENOMINATOR) if counts_in(figure, size)), None)
    if kind is None or least is None:
        return underdetermined("precision_recall", unprinted)
    example = f"{figure.printed} needs at least {least:,} {kind}, as {counts_in(figure, least)[0]:,} / {least:,}"
    return underdetermined("precision_recall", f"{unprinted} {example}.")


def _sizes(counts: Mapping[str, int]) -> str:
    if "positives" in counts and "negatives" in counts:
        return f"{counts['positives']:,} positive and {counts['negatives']:,} negative items"
    return f"{counts['n']:,} items"


def _cells(table: Confusion) -> str:
    return f"{table.tp:,} true and {table.fp:,} false positives, {table.fn:,} false and {table.tn:,} true negatives"


def _measure_text(measure: Measure, printed: Mapping[Measure, str]) -> str:
    name = {"npv": "precision of the other class", "specificity": "recall of the other class", "f1": "F1"}
    return f"{name.get(measure, measure)} {printed[measure]}"

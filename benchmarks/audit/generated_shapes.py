"""Sound made-up tables of the shapes that papers print: shares, means, comparisons, amounts, judges, kappas, copies.

Each function whose name ends in `_of` builds a table from its truth; `generated_draws` draws the truth.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from msgspec import structs

from benchmarks.audit.generated_tables import Inputs, Letter, MadeTable, Quantity, Style, names, rounded_value, table
from misstep.analysis.published import Check, PrintedMatrix
from misstep.analysis.stats.printed.usual_tests import EXACT, FISHER, RARER, UNCONDITIONAL, USUAL, is_feasible
from misstep.analysis.tables import Unit

_MOST_PAIRS = 2_500
"""The most pairs of counts for which a made-up table has p-values of the slowest tests."""


def shares_of(style: Style, n: int, counts: Sequence[int], unit: Unit = "share") -> MadeTable:
    """Build counts of classes that exclude each other, their total, their shares, and the 100% below."""
    style = _for_shares(style, unit)
    counted, shared = names("count", len(counts)), names("share", len(counts))
    rows = [count_of("n", n, "sum", {"parts": counted})]
    for id_, share, count in zip(counted, shared, counts, strict=True):
        rows.append(count_of(id_, count))
        inputs: Inputs = {"count": id_, "n": "n"}
        rows.append(Quantity(share, Fraction(count, n), unit, check="percentage", inputs=inputs))
    rows.append(Quantity("all", Fraction(1), unit, check="sum", inputs={"parts": shared}))
    return table("counts and shares", n, style, rows)


def shares_alone_of(style: Style, n: int, counts: Sequence[int], repeats: int = 1, unit: Unit = "share") -> MadeTable:
    """Build shares of n cases, or of n cases run several times, without their counts."""
    style = _for_shares(style, unit)
    cases = n * repeats
    rows = [count_of("n", n)]
    inputs: Inputs = {"n": "n"}
    if repeats > 1:
        rows.append(count_of("repeats", repeats))
        inputs = {"n": "n", "repeats": "repeats"}
    rows += [
        Quantity(id_, Fraction(count, cases), unit, check="percentage", inputs=inputs, steps=Fraction(cases))
        for id_, count in zip(names("share", len(counts)), counts, strict=True)
    ]
    return table("shares alone", n, style, rows)


def means_of(style: Style, n: int, step: Fraction, totals: Sequence[int]) -> MadeTable:
    """Build means of n answers that go in steps; each total is a number of steps."""
    rows = [count_of("n", n)]
    inputs: Inputs = {"n": "n"}
    if step != 1:
        rows.append(Quantity("step", step, "number", len(f"{float(step):g}".partition(".")[2])))
        inputs = {"n": "n", "step": "step"}
    rows += [
        Quantity(id_, total * step / n, "number", check="mean", inputs=inputs, steps=n / step)
        for id_, total in zip(names("mean", len(totals)), totals, strict=True)
    ]
    return table("means", n, style, rows)


def comparison_of(
    style: Style, first: tuple[int, int], second: tuple[int, int], test: int = 0, p_digits: int = 3
) -> MadeTable:
    """Build two arms, each a count of a number: their shares, the difference, the relative change, the p-value."""
    one, two = Fraction(*first), Fraction(*second)
    shown1, shown2 = (rounded_value(100 * share, style.digits, style.rule) / 100 for share in (one, two))
    rows = []
    for arm, (x, n) in {"1": first, "2": second}.items():
        inputs: Inputs = {"count": f"x{arm}", "n": f"n{arm}"}
        rows += [count_of(f"x{arm}", x), count_of(f"n{arm}", n)]
        rows.append(Quantity(f"share{arm}", Fraction(x, n), "share", check="percentage", inputs=inputs))
    points = Quantity("difference", two - one, "difference", check="difference", inputs={"a": "share2", "b": "share1"})
    rows.append(structs.replace(points, others=(shown2 - shown1,)))
    if one and shown1:
        ends: Inputs = {"from": "share1", "to": "share2"}
        change = Quantity("change", two / one - 1, "share", signed=True, check="relative_change", inputs=ends)
        rows.append(structs.replace(change, others=(shown2 / shown1 - 1,)))
    p_values = usual_p_values(*first, *second)
    if p_values:
        cells: Inputs = {name: name for name in ("x1", "n1", "x2", "n2")}
        p_value = Quantity("p", p_values[test % len(p_values)], "p", p_digits, check="two_proportion_p", inputs=cells)
        rows.append(structs.replace(p_value, others=p_values))
    return table("comparison", first[1] + second[1], style, rows)


def usual_p_values(x1: int, n1: int, x2: int, n2: int) -> tuple[Fraction, ...]:
    """Return the two-sided p-values of the usual tests, the pooled z test first; none where no share varies."""
    if x1 + x2 in (0, n1 + n2):
        return ()
    return tuple(map(Fraction, two_sided_p_values(x1, n1, x2, n2, _MOST_PAIRS)))


def amounts_of(style: Style, amounts: Sequence[Fraction], letter: Letter = "") -> MadeTable:
    """Build measured amounts, their total, difference, quotient and change of the first two, the first as a share."""
    ids = names("amount", len(amounts))
    total, (first, second) = sum(amounts, Fraction(0)), amounts[:2]
    pair: Inputs = {"part": ids[0], "whole": ids[1]}
    ends: Inputs = {"from": ids[0], "to": ids[1]}
    less: Inputs = {"a": ids[0], "b": ids[1]}
    rows = [Quantity(id_, amount, "number", letter=letter) for id_, amount in zip(ids, amounts, strict=True)]
    rows += [
        Quantity("total", total, "number", letter=letter, check="sum", inputs={"parts": ids}),
        Quantity("less", first - second, "number", letter=letter, check="difference", inputs=less),
        Quantity("quotient", first / second, "number", check="share_of", inputs=pair),
        Quantity("change", second / first - 1, "share", signed=True, check="relative_change", inputs=ends),
        Quantity("part", first / total, "share", check="share_of", inputs={"part": ids[0], "whole": "total"}),
    ]
    return table("amounts", len(amounts), style, rows)


def judge_of(style: Style, tp: int, fp: int, fn: int, tn: int) -> MadeTable:
    """Return a judge's cells, and precision and recall of both classes."""
    cells = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    rows = [count_of(name, count) for name, count in cells.items()]
    rows.append(count_of("positives", tp + fn, "sum", {"parts": ("tp", "fn")}))
    rows.append(count_of("negatives", fp + tn, "sum", {"parts": ("fp", "tn")}))
    for label, hit, wrong, missed, rest in (("yes", "tp", "fp", "fn", "tn"), ("no", "tn", "fn", "fp", "tp")):
        own, other = ("positives", "negatives") if label == "yes" else ("negatives", "positives")
        inputs: Inputs = {"tp": hit, "fp": wrong, "fn": missed, "tn": rest, "positives": own, "negatives": other}
        for measure, beside in (("Precision", wrong), ("Recall", missed)):
            if cells[hit] + cells[beside]:
                value = Fraction(cells[hit], cells[hit] + cells[beside])
                id_ = f"{label}.{measure.lower()}"
                digits = max(1, style.digits)
                figure = Quantity(id_, value, "coefficient", digits, measure, "precision_recall", inputs)
                rows.append(figure)
    return table("judge", sum(cells.values()), style, rows)


def kappa_of(style: Style, cells: Sequence[Sequence[int]], *, shown: bool = True) -> MadeTable:
    """Return two raters: how often they agree, kappa, and their matrix where it is shown."""
    n, agree = sum(map(sum, cells)), sum(row[place] for place, row in enumerate(cells))
    chance = sum(sum(row) * sum(column) for row, column in zip(cells, zip(*cells, strict=True), strict=True))
    kappa = (Fraction(agree, n) - Fraction(chance, n * n)) / (1 - Fraction(chance, n * n))
    labels = names("label", len(cells))
    ids = tuple(tuple(f"{one}.{other}" for other in labels) for one in labels)
    flat = tuple(id_ for row in ids for id_ in row)
    agreed = Quantity(
        "agreement", Fraction(agree, n), "share", check="percentage", inputs={"n": "n"}, steps=Fraction(n)
    )
    figure = Quantity("kappa", kappa, "coefficient", max(2, style.digits), check="kappa")
    if not shown:
        figure = structs.replace(figure, inputs={"n": "n", "agreement": "agreement"})
        return table("kappa without its matrix", n, style, [count_of("n", n), agreed, figure])
    rows = [count_of("n", n, "sum", {"parts": flat})]
    rows += [count_of(id_, count) for id_, count in zip(flat, (count for row in cells for count in row), strict=True)]
    rows += [structs.replace(agreed, steps=None), structs.replace(figure, inputs={"matrix": "matrix"})]
    return table(
        "kappa with its matrix", n, style, rows, (PrintedMatrix("matrix", "A made-up table", labels, labels, ids),)
    )


def copies_of(style: Style, n: int, count: int, coarse: int, letter: Letter) -> MadeTable:
    """Return a number of cases and a share in a table, both again in the text, there with fewer digits or a letter."""
    share = Fraction(count, n)
    text_digits = min(coarse, style.digits)
    rows = [
        count_of("n", n),
        Quantity("n.text", Fraction(n), "count", 1 if letter else 0, "Value", "same", {"other": "n"}, letter=letter),
        count_of("caption", n, "same", {"other": "n"}),
        count_of("count", count),
        Quantity("share", share, "share", check="percentage", inputs={"count": "count", "n": "n"}),
        Quantity("share.text", share, "share", text_digits, check="same", inputs={"other": "share"}),
    ]
    return table("copies", n, style, rows)


def count_of(id_: str, count: int, check: Check | None = None, inputs: Inputs | None = None) -> Quantity:
    """Return a whole count, printed in full."""
    return Quantity(id_, Fraction(count), "count", 0, check=check, inputs=inputs or {})


def _for_shares(style: Style, unit: Unit) -> Style:
    return style if unit == "share" else structs.replace(style, digits=style.digits + 2)


def two_sided_p_values(x1: int, n1: int, x2: int, n2: int, most_pairs: int) -> Iterator[float]:
    """Return the two-sided p-value of every test that is defined for these counts, the most usual first."""
    for quick in (*USUAL.values(), *RARER.values()):
        p_value = float(quick(x1, n1, x2, n2))
        if not np.isnan(p_value):
            yield p_value
    for name, exact in {**FISHER, **EXACT, **UNCONDITIONAL}.items():
        exact_p = exact(x1, n1, x2, n2) if is_feasible(name, x1, n1, x2, n2, most_pairs) else None
        if exact_p is not None:
            yield exact_p

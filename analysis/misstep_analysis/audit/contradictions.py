"""Inputs of one figure that cannot be together, whatever is printed beside them: no figure follows from them.

A figure that happens to fit one of two inputs that contradict each other is not reproduced.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from misstep_analysis.audit.judge_tables import CELLS
from misstep_analysis.audit.judges import NEEDS, SUMS, completed, quotient
from misstep_analysis.audit.rounding_boxes import fits, is_exact_count, limit, point, printed_value
from misstep_analysis.published import Figure
from misstep_analysis.stats.printed.kappa_tables import kappa_of

Inputs = Mapping[str, Figure]
Lists = Mapping[str, Sequence[Figure]]
LEVELS = ("one", "two", "three", "four")


def contradiction(check: str, inputs: Inputs, lists: Lists, matrix: Sequence[Sequence[Figure]]) -> str:
    """Return why some inputs cannot be together; empty where they can."""
    rules = {
        "two_proportion_p": _counts_and_shares(inputs),
        "stars": _legend(inputs),
        "kappa": _matrix(inputs, lists, matrix),
        "rater_agreement": _raters(inputs, lists),
        "precision_recall": _judge(inputs),
    }
    return next(rules.get(check, iter(())), "")


def _counts_and_shares(inputs: Inputs) -> Iterator[str]:
    for arm in ("1", "2"):
        count, size, share = (inputs.get(f"{key}{arm}") for key in ("x", "n", "share"))
        if count is None or size is None or share is None or not (is_exact_count(count) and is_exact_count(size)):
            continue
        if printed_value(size) > 0 and not fits(share, point(printed_value(count) / printed_value(size))):
            yield f"{count.printed} of {size.printed} is not {share.printed}."


def _legend(inputs: Inputs) -> Iterator[str]:
    named = [inputs[key] for key in ("p", *LEVELS) if key in inputs]
    for one in named:
        if one.unit != "text" and not 0 <= printed_value(one) <= 1:
            yield f"{one.printed} is not a probability."
    levels = [inputs[key] for key in LEVELS if key in inputs]
    for fewer, more in pairwise(levels):
        if printed_value(more) >= printed_value(fewer):
            yield f"More stars are for p below {more.printed}, which is not less than {fewer.printed}."


def _matrix(inputs: Inputs, lists: Lists, matrix: Sequence[Sequence[Figure]]) -> Iterator[str]:
    if not matrix or not all(is_exact_count(cell) for row in matrix for cell in row):
        return
    rows = [[int(printed_value(cell)) for cell in row] for row in matrix]
    sums = [list(map(sum, rows)), list(map(sum, zip(*rows, strict=False)))]
    margins = lists.get("margins", ())
    square = all(len(row) == len(rows) for row in rows)
    if square and margins and all(map(is_exact_count, margins)):
        given = sorted(int(printed_value(one)) for one in margins)
        if given not in [sorted(of) for of in sums]:
            yield f"The labels' counts {' '.join(one.printed for one in margins)} are not those of the matrix."
    labels = inputs.get("labels")
    if square and labels is not None and is_exact_count(labels):
        used = sum(any(of[place] for of in sums) for place in range(len(rows)))
        if used > printed_value(labels):
            yield f"The matrix uses {used} labels, more than {labels.printed}."


def _raters(inputs: Inputs, lists: Lists) -> Iterator[str]:
    for kappa in lists.get("kappas", ()):
        if kappa.unit != "text" and limit(kappa) is None and not -1 <= printed_value(kappa) <= 1:
            yield f"No kappa is {kappa.printed}."
    labels = inputs.get("labels")
    if labels is not None and is_exact_count(labels) and printed_value(labels) < 2:
        differing = [
            one.printed for one in lists.get("agreements", ()) if one.unit != "count" and printed_value(one) < 1
        ]
        if differing:
            yield f"Raters with {labels.printed} label agree on every item, not on {differing[0]}."


def _judge(inputs: Inputs) -> Iterator[str]:
    counted = {key: one for key, one in inputs.items() if key in (*CELLS, *SUMS)}
    if not all(map(is_exact_count, counted.values())):
        return
    counts = completed({key: int(printed_value(one)) for key, one in counted.items()})
    if min(counts.values(), default=0) < 0:
        cells = ", ".join(f"{key} = {one.printed}" for key, one in counted.items())
        yield f"No table has {cells}: a cell would be below 0."
        return
    for key, one in inputs.items():
        least = -1 if key == "kappa" else 0
        if key in counted or one.derivations or one.unit == "text" or limit(one) is not None:
            continue  # what is checked itself is told by its own check
        if not least <= printed_value(one) <= 1:
            yield f"No {key} is {one.printed}."
        elif key in NEEDS and counts.keys() >= NEEDS[key]:
            above, below, working = quotient(key, counts)
            if below and not fits(one, point(Fraction(above, below))):
                yield f"The {key} of these cells is {working}, not {one.printed}."
        elif key == "kappa" and counts.keys() >= set(CELLS):
            tp, fp, fn, tn = (counts[cell] for cell in ("tp", "fp", "fn", "tn"))
            total, chance = tp + fp + fn + tn, (tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)
            if chance != total**2 and not fits(one, point(kappa_of(total, tp + tn, chance))):
                yield f"The kappa of these cells is {float(kappa_of(total, tp + tn, chance)):.4g}, not {one.printed}."

"""Percentages and means of whole counts: with the count a division, without it the question which counts print so.

A percentage alone says something only where the counts are fewer than the percentages that could be printed: out of
123 most one-digit percentages cannot come, out of 226 every whole percentage can. The second is no check, and
comes out as underdetermined. After Brown and Heathers' GRIM test.
"""

from fractions import Fraction

from analysis.audit.checked import CUT_OFF, Checked, compared, underdetermined
from analysis.audit.rounding_boxes import input_box, is_cut_off, is_exact_count, limit, number, point, printed_value
from analysis.published import Figure
from analysis.stats.audit import counts_that_print, decimals, totals_that_print

_NEIGHBOURS = 0.01
"""How far another number of cases may lie off to be suggested, as a share of the printed one."""


def check_percentage(figure: Figure, count: Figure | None, n: Figure | None, repeats: Figure | None) -> Checked:
    """100 count / (n x repeats); without a count, whether any whole count prints so."""
    if n is None or input_box(n) is None or (repeats is not None and not is_exact_count(repeats)):
        return underdetermined("percentage", "How many cases there were is not printed as a number.")
    if not is_exact_count(n):
        return _quotient(figure, count, n)
    cases = int(printed_value(n)) * (1 if repeats is None else int(printed_value(repeats)))
    if cases <= 0:
        return underdetermined("percentage", f"A percentage of {cases} cases says nothing.")
    if count is None:
        return _without_count(figure, cases)
    return (
        _with_count(figure, int(printed_value(count)), cases) if is_exact_count(count) else _quotient(figure, count, n)
    )


def check_mean(figure: Figure, n: Figure | None, step: Figure | None, repeats: Figure | None) -> Checked:
    """Whether whole answers, or answers that go in steps, can have the printed mean."""
    if n is None or any(given is not None and not is_exact_count(given) for given in (n, repeats)):
        return underdetermined("mean", "How many answers there were is not printed as a number.")
    unit = Fraction(1) if step is None else printed_value(step)
    answers = int(printed_value(n)) * (1 if repeats is None else int(printed_value(repeats)))
    if unit <= 0 or unit.numerator != 1 or answers <= 0 or limit(figure) is not None or figure.approximate:
        return underdetermined("mean", f"A mean of {answers:,} answers printed as {figure.printed} cannot be checked.")
    if answers * unit.denominator >= 10 ** decimals(figure.digits):
        return underdetermined("mean", f"Every mean with so many digits can come from {answers:,} answers.")
    totals = totals_that_print(figure.digits, answers, unit.denominator)
    if totals:
        total = totals[len(totals) // 2]
        return compared("mean", figure, f"{_plain(total)} / {answers:,}", point(total / answers))
    return Checked("mean", "impossible", f"No total of {answers:,} answers has a mean that prints as {figure.printed}.")


def _with_count(figure: Figure, count: int, cases: int) -> Checked:
    working = f"{count:,} / {cases:,}"
    if not 0 <= count <= cases:
        return Checked("percentage", "impossible", f"{working} is no part of a whole.", count / cases)
    checked = compared(
        "percentage", figure, working, point(Fraction(count, cases)), suggestion=_other_cases(figure, cases, count)
    )
    if checked.status != "differs" or limit(figure) is not None or figure.approximate:
        return checked
    if _counts(figure, cases):
        return checked
    sentence = checked.sentence.removesuffix(".") + f", and no whole count of {cases:,} prints so."
    return Checked("percentage", "impossible", sentence, checked.value, suggestion=checked.suggestion)


def _without_count(figure: Figure, cases: int) -> Checked:
    if not 0 <= printed_value(figure) <= 1:
        return Checked("percentage", "impossible", f"{figure.printed} is no share of a whole.")
    if limit(figure) is not None or figure.approximate:
        return underdetermined("percentage", f"The count that {figure.printed} of {cases:,} stands for is not printed.")
    if cases >= 100 * 10 ** decimals(figure.digits):
        reason = f"The count is not printed, and out of {cases:,} every percentage with so many digits can come."
        return underdetermined("percentage", reason)
    counts = _counts(figure, cases)
    if counts:
        return compared("percentage", figure, f"{counts[0]:,} / {cases:,}", point(Fraction(counts[0], cases)))
    below = int(printed_value(figure) * cases)
    near = " and ".join(
        f"{count:,} / {cases:,} is {number(Fraction(count, cases), figure)}" for count in (below, below + 1)
    )
    cut_off = next((c for c in (below, below + 1) if is_cut_off(figure, point(Fraction(c, cases)))), None)
    return Checked(
        "percentage",
        "impossible",
        f"No whole count of {cases:,} prints as {figure.printed}: {near}.",
        suggestion=_other_cases(figure, cases, None) if cut_off is None else f"{cut_off:,} / {cases:,}, and {CUT_OFF}",
    )


def _quotient(figure: Figure, count: Figure | None, n: Figure) -> Checked:
    part, whole = None if count is None else input_box(count), input_box(n)
    if count is None or part is None or whole is None or whole.holds_zero:
        return underdetermined("percentage", "The count behind the percentage is not printed.")
    at_printed = point(printed_value(count) / printed_value(n))
    return compared("percentage", figure, f"{count.printed} / {n.printed}", part / whole, at_printed)


def _counts(figure: Figure, cases: int) -> tuple[int, ...]:
    return counts_that_print(figure.digits, cases) if 0 <= printed_value(figure) <= 1 else ()


def _other_cases(figure: Figure, cases: int, count: int | None) -> str:
    """The nearest other number of cases with which the figure would fit, in words; empty where none is near."""
    reach = max(1, int(cases * _NEIGHBOURS))
    for distance in range(1, reach + 1):
        for other in (cases + distance, cases - distance):
            found = _counts(figure, other) if other > 0 else ()
            fitting = found[:1] if count is None else tuple(one for one in found if one == count)
            if fitting:
                return f"{fitting[0]:,} / {other:,} would print as {figure.printed}"
    return ""


def _plain(total: Fraction) -> str:
    return f"{float(total):,.10g}"

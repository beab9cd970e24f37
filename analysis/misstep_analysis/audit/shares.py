"""Percentages and means of whole counts: a division with the count, without it a search for counts that print so.

A share alone says something only if the counts are fewer than the shares that could be printed: out of 123 most
one-digit percentages cannot come, out of 226 every whole percentage can. The second is underdetermined. After Brown
and Heathers' GRIM test.
"""

from collections.abc import Sequence
from fractions import Fraction

from msgspec import structs

from misstep_analysis.audit.rounding_boxes import (
    CUT_OFF,
    Checked,
    compared,
    counts_in,
    input_box,
    is_cut_off,
    is_exact_count,
    limit,
    number,
    point,
    printed_value,
    scale,
    underdetermined,
)
from misstep_analysis.published import Figure
from misstep_analysis.stats.printed.audit import decimals, steps_that_print

_MOST_SIZES = 20_000


def check_percentage(figure: Figure, count: Figure | None, n: Figure | None, repeats: Figure | None) -> Checked:
    """Check 100 count / (n x repeats); without a count, whether any whole count prints so."""
    if n is None or input_box(n) is None or (repeats is not None and not is_exact_count(repeats)):
        return underdetermined("percentage", "How many cases there were is not printed as a number.")
    runs = 1 if repeats is None else int(printed_value(repeats))
    if not is_exact_count(n) or (count is not None and not is_exact_count(count)):
        return _quotient(figure, count, n, runs)
    cases = int(printed_value(n)) * runs
    if cases <= 0:
        return underdetermined("percentage", f"A percentage of {cases} cases says nothing.")
    return _with_count(figure, count, cases) if count is not None else _without_count(figure, cases)


def check_share_beside(figure: Figure, beside: Sequence[Figure], most: Figure | None) -> Checked:
    """Check whether some number of items, the same for all and not printed, has whole counts of all these shares."""
    largest = 0 if most is None or not is_exact_count(most) else int(printed_value(most))
    shares = [figure, *beside]
    are_exact = all(limit(share) is None and not share.approximate for share in shares)
    if not beside or not are_exact or not 0 < largest <= _MOST_SIZES:
        return underdetermined(
            "percentage", f"No number of items up to which {figure.printed} can be checked is printed."
        )
    sizes = [size for size in range(1, largest + 1) if all(counts_in(share, size) for share in beside)]
    fitting = [size for size in sizes if counts_in(figure, size)]
    if fitting:
        return underdetermined(
            "percentage",
            f"The number of items is not printed; {_few(fitting)} {'fits' if len(fitting) == 1 else 'fit'}.",
        )
    others = f"the {len(beside)} shares beside {figure.printed}" if len(beside) > 1 else beside[0].printed
    if not sizes:
        return Checked("percentage", "impossible", f"No number up to {largest:,} has whole counts of {others}.")
    value = printed_value(figure)
    near = [Fraction(count, size) for size in sizes for count in (int(value * size), int(value * size) + 1)]
    nearest = min((share for share in near if share <= 1), key=lambda share: abs(share - value))
    only = "this has" if len(sizes) == 1 else "these have"
    sentence = (
        f"No whole count of {_few(sizes)} prints as {figure.printed}, and of the numbers up to {largest:,} only {only} "
        f"whole counts of {others}: the nearest is {number(nearest, figure)}."
    )
    return Checked("percentage", "impossible", sentence)


def check_mean(figure: Figure, n: Figure | None, step: Figure | None, repeats: Figure | None) -> Checked:
    """Check whether whole answers, or answers that go in steps, can have the printed mean."""
    if n is None or any(one is not None and not is_exact_count(one) for one in (n, repeats)):
        return underdetermined("mean", "How many answers there were is not printed as a number.")
    unit = Fraction(1) if step is None else printed_value(step)
    answers = int(printed_value(n)) * (1 if repeats is None else int(printed_value(repeats)))
    if unit <= 0 or answers <= 0 or limit(figure) is not None or figure.approximate:
        return underdetermined("mean", f"A mean of {answers:,} answers printed as {figure.printed} cannot be checked.")
    apart = unit / answers
    if apart * scale(figure) * 10 ** decimals(figure.digits) <= 1:
        reason = f"Every mean with so many digits can come from {answers:,} answers."
        return underdetermined("mean", reason, "the total of many answers")
    steps = steps_that_print(figure.digits, apart * scale(figure), times=scale(figure))
    if steps:
        total = steps[len(steps) // 2] * unit
        return compared("mean", figure, f"{_plain(total)} / {answers:,}", point(total / answers))
    return _impossible_mean(figure, answers, unit)


def _impossible_mean(figure: Figure, answers: int, unit: Fraction) -> Checked:
    below = printed_value(figure) * answers // unit
    totals = [below * unit, (below + 1) * unit]
    near = " and ".join(f"{_plain(total)} / {answers:,} is {number(total / answers, figure)}" for total in totals)
    cut = next((total for total in totals if is_cut_off(figure, point(total / answers))), None)
    sentence = f"No total of {answers:,} answers has a mean that prints as {figure.printed}: {near}."
    repair = "" if cut is None else f"{_plain(cut)} / {answers:,}, and {CUT_OFF}"
    return Checked("mean", "impossible", sentence, suggestion=repair)


def _with_count(figure: Figure, count: Figure, cases: int) -> Checked:
    exact = int(printed_value(count))
    working, share = f"{exact:,} / {cases:,}", Fraction(exact, cases)
    if not 0 <= exact <= cases:
        sentence = f"{working} is not part of a whole."
        return Checked("percentage", "impossible", sentence, float(share))
    checked = compared("percentage", figure, working, point(share))
    if checked.status != "differs" or limit(figure) is not None or figure.approximate:
        return checked
    if counts_in(figure, cases):
        return checked
    sentence = checked.sentence.removesuffix(".") + f", and no whole count of {cases:,} prints so."
    return structs.replace(checked, status="impossible", sentence=sentence)


def _without_count(figure: Figure, cases: int) -> Checked:
    if not 0 <= printed_value(figure) <= 1:
        return Checked("percentage", "impossible", f"{figure.printed} is not a share of a whole.")
    if limit(figure) is not None or figure.approximate:
        return underdetermined("percentage", f"The count behind {figure.printed} of {cases:,} is not printed.")
    if cases >= scale(figure) * 10 ** decimals(figure.digits):
        reason = f"The count is not printed, and out of {cases:,} every percentage with so many digits can come."
        return underdetermined("percentage", reason, "the count out of many cases")
    counts = counts_in(figure, cases)
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
        suggestion="" if cut_off is None else f"{cut_off:,} / {cases:,}, and {CUT_OFF}",
        repair="" if cut_off is None else "cut_off",
    )


def _quotient(figure: Figure, count: Figure | None, n: Figure, runs: int) -> Checked:
    part, whole = None if count is None else input_box(count), input_box(n)
    if count is None or part is None or whole is None or whole.holds_zero or runs <= 0:
        return underdetermined("percentage", "The count behind the percentage is not printed.")
    at_printed = point(printed_value(count) / (printed_value(n) * runs))
    working = f"{count.printed} / {n.printed}" if runs == 1 else f"{count.printed} / ({n.printed} x {runs:,})"
    return compared("percentage", figure, working, part / whole.times(runs), at_printed)


def _few(sizes: Sequence[int]) -> str:
    shown = [f"{size:,}" for size in sizes[:3]] + ([f"{len(sizes) - 3:,} more"] if len(sizes) > 3 else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _plain(total: Fraction) -> str:
    return f"{float(total):,.10g}"

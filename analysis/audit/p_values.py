"""P-values of two proportions, worked out again from counts, or from the counts that the printed shares allow.

The pooled z test comes first; where another usual two-sided test gives the printed digits, the sentence names it,
since papers seldom say which they used.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from analysis.audit.checked import Checked, compared, underdetermined
from analysis.audit.rounding_boxes import fits, input_box, is_exact_count, limit, point, printed_value
from analysis.published import Figure
from analysis.stats.audit import counts_that_print
from analysis.stats.significance import Significance
from analysis.stats.two_proportions import chi_squared, fisher_exact, pooled_z, unpooled_z

_TESTS: tuple[Callable[[int, int, int, int], Significance], ...] = (pooled_z, unpooled_z, fisher_exact)
_MOST_PAIRS = 400
"""How many pairs of counts are tried where only shares are printed."""


def check_two_proportion_p(
    figure: Figure,
    counts: tuple[Figure | None, ...],
    sizes: tuple[Figure | None, ...],
    shares: tuple[Figure | None, ...],
) -> Checked:
    """The p-value of two counts, or of two shares of known size.

    Parameters
    ----------
    figure
        The printed p-value.
    counts, sizes, shares
        Of the first and of the second sample; `None` where it is not printed.
    """
    known = [size for size in sizes if size is not None and is_exact_count(size)]
    if len(known) < 2:
        return underdetermined("two_proportion_p", "How many cases either share is of is not printed.")
    first, second = int(printed_value(known[0])), int(printed_value(known[1]))
    if min(first, second) <= 0:
        return underdetermined("two_proportion_p", "A sample is empty.")
    allowed = [_allowed(count, share, size) for count, share, size in zip(counts, shares, (first, second), strict=True)]
    if any(options is None for options in allowed):
        return underdetermined("two_proportion_p", "Neither counts nor shares of both samples are printed as numbers.")
    for options, share, size in zip(allowed, shares, (first, second), strict=True):
        if not options:
            said = "The count" if share is None else share.printed
            return Checked("two_proportion_p", "impossible", f"{said} is no share of {size:,} cases.")
    pairs = list(product(*(options or () for options in allowed)))
    if len(pairs) > _MOST_PAIRS:
        return underdetermined("two_proportion_p", f"The shares allow {len(pairs):,} pairs of counts.")
    return _judged(figure, pairs, first, second)


def _allowed(count: Figure | None, share: Figure | None, size: int) -> tuple[int, ...] | None:
    if count is not None:
        found = int(printed_value(count))
        return None if not is_exact_count(count) else (found,) if 0 <= found <= size else ()
    if share is None or input_box(share) is None or share.approximate or limit(share) is not None:
        return None
    percentage = format(float(printed_value(share) * 100), f".{_decimals(share)}f")
    return counts_that_print(percentage, size) if 0 <= printed_value(share) <= 1 else ()


def _decimals(share: Figure) -> int:
    behind = len(share.digits.partition(".")[2])
    return behind if share.unit == "share" else max(0, behind - 2)


def _judged(figure: Figure, pairs: list[tuple[int, ...]], first: int, second: int) -> Checked:
    for test in (*_TESTS, _corrected):
        for x1, x2 in pairs:
            found = test(x1, first, x2, second)
            if found.p_value is not None and fits(figure, point(Fraction(found.p_value))):
                return _said(figure, found, (x1, first, x2, second))
    x1, x2 = pairs[len(pairs) // 2]
    found = pooled_z(x1, first, x2, second)
    if found.p_value is None:
        return underdetermined("two_proportion_p", f"There is no p-value: {found.reason}.")
    return _said(figure, found, (x1, first, x2, second))


def _corrected(x1: int, n1: int, x2: int, n2: int) -> Significance:
    if x1 + x2 in (0, n1 + n2):
        return Significance(None, None)
    return chi_squared(x1, n1, x2, n2, yates=True)


def _said(figure: Figure, found: Significance, cells: tuple[int, int, int, int]) -> Checked:
    x1, n1, x2, n2 = cells
    working = f"{x1:,} / {n1:,} against {x2:,} / {n2:,} ({found.test}): p"
    return compared("two_proportion_p", figure, working, point(Fraction(found.p_value or 0)))

"""The values that print like a figure, as exact fractions, and the judgement of a figure against them.

"28.5%" is anything from 28.45% to 28.55%, and so is each figure computed from it. A count is exact, unless
it is abbreviated ("5.14M") or given as about. Every check works with these boxes, so that rounding alone is never
called an error. Shares are fractions here, not percent.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from msgspec import Struct

from misstep_analysis.published import Check, Figure
from misstep_analysis.stats.printed.audit import decimals, steps_that_print, value_prints_as
from misstep_analysis.tables import Status

Repair = Literal["", "cut_off", "rows_swapped", "columns_swapped"]
"""Kind of a suggestion, if something else depends on it."""

CUT_OFF = "the further digits are cut off instead of rounded"


class Checked(Struct, frozen=True):
    """The result of computing a figure again.

    `value` is at the printed inputs, `low` and `high` are the ends that their rounding leaves open (`None` if they are
    exact or nothing can be computed); `sentence` is the arithmetic; `suggestion` a small repair that would make
    the figures fit, and `repair` its kind. `wanting` names the missing figure in the same words for all that want it.
    """

    check: Check
    status: Status
    sentence: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    suggestion: str = ""
    repair: Repair = ""
    wanting: str = ""

    @property
    def explanation(self) -> str:
        """Return the sentence, and the suggestion marked as one."""
        return f"{self.sentence} Suggestion: {self.suggestion}." if self.suggestion else self.sentence


def underdetermined(check: Check, reason: str, wanting: str = "") -> Checked:
    """Return a figure whose inputs do not say enough; `wanting` is given if the reason differs by figure."""
    return Checked(check, "underdetermined", reason, wanting=wanting)


class Box(Struct, frozen=True):
    """All values from `low` to `high`, both ends included; one value where they are equal."""

    low: Fraction
    high: Fraction

    @property
    def exact(self) -> bool:
        """Return whether it is one value."""
        return self.low == self.high

    @property
    def middle(self) -> Fraction:
        """Halfway between the ends."""
        return (self.low + self.high) / 2

    def __add__(self, other: "Box") -> "Box":
        return Box(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Box") -> "Box":
        return Box(self.low - other.high, self.high - other.low)

    def __truediv__(self, other: "Box") -> "Box":
        whole = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Box(min(whole), max(whole))

    def times(self, factor: Fraction | int) -> "Box":
        """Return all values times a number that is not negative."""
        return Box(self.low * factor, self.high * factor)

    @property
    def reversed(self) -> "Box":
        """Return all values with the opposite sign."""
        return Box(-self.high, -self.low)

    @property
    def holds_zero(self) -> bool:
        """Return whether nothing may be divided by it."""
        return self.low <= 0 <= self.high


def compared(check: Check, figure: Figure, working: str, computed: Box, at_printed: Box | None = None) -> Checked:
    """Compare a figure with the values that its inputs allow."""
    value = (at_printed or point(computed.middle)).low
    fit = fits(figure, computed)
    cut_off = not fit and is_cut_off(figure, computed)
    return Checked(
        check,
        "reproduced" if fit else "differs",
        opened(_sentence(figure, working, computed, value, fit)),
        float(value),
        None if computed.exact else float(computed.low),
        None if computed.exact else float(computed.high),
        CUT_OFF if cut_off else "",
        "cut_off" if cut_off else "",
    )


def first_of(*repairs: str, most: int = 2) -> str:
    """Join the first repairs that are not empty."""
    return ", or ".join([repair for repair in repairs if repair][:most])


def opened(sentence: str) -> str:
    """Return a sentence with a capital if it opens with a word; a sign or a name, as p or pass@10, stays as it is."""
    word = sentence.partition(" ")[0]
    return f"{sentence[0].upper()}{sentence[1:]}" if len(word) > 1 and word.isalpha() else sentence


def _sentence(figure: Figure, working: str, computed: Box, value: Fraction, fit: bool) -> str:
    exactly = f"{working} is {number(value, figure)}"
    rounding = (
        ""
        if computed.exact
        else f" (from {number(computed.low, figure)} to {number(computed.high, figure)} by the rounding of the inputs)"
    )
    if not fit:
        return f"{exactly}{rounding}, not {figure.printed}."
    how = "printed as" if fits(figure, point(value)) else "which the rounding of the inputs lets print as"
    return f"{exactly}{rounding}, {how} {figure.printed}."


_ABBREVIATED = re.compile(r"(?<![\d.,])([\d.,]+) ?([kKMB])\b")
_THOUSANDS = {"k": 1_000, "K": 1_000, "M": 1_000_000, "B": 1_000_000_000}


def point(value: Fraction | int) -> Box:
    """Return a box of one value."""
    return Box(Fraction(value), Fraction(value))


def scale(figure: Figure) -> int:
    """Return the factor from a fraction to its print: 100 for percent."""
    return 100 if figure.unit in ("share", "difference") else 1


def limit(figure: Figure) -> str | None:
    """Return the kind of limit that a figure is: "above", "below", or `None`."""
    if figure.bound is not None:
        return figure.bound
    if figure.printed.startswith(("<", "≤")):
        return "below"
    return "above" if figure.printed.startswith((">", "≥")) or figure.printed.endswith("+") else None


def printed_value(figure: Figure) -> Fraction:
    """Return the number as printed, exactly; a share as a fraction."""
    return Fraction(figure.digits) / scale(figure)


def rounding_box(figure: Figure) -> Box:
    """Return the values that round to the figure; wider ones if the paper says "about"."""
    value, fine, coarse = printed_value(figure), _last_digit(figure), _carried_digit(figure)
    if figure.approximate:
        return Box(value - coarse / 2, value + max(coarse / 2, fine))
    return Box(value - coarse / 2, value + coarse / 2)


def input_box(figure: Figure) -> Box | None:
    """Return the values that an input may have: a count is exact; `None` for words and for limits."""
    if figure.unit == "text" or limit(figure) is not None:
        return None
    return point(printed_value(figure)) if is_exact_count(figure) else rounding_box(figure)


def is_exact_count(figure: Figure) -> bool:
    """Return whether it is a whole count printed in full."""
    whole = figure.unit == "count" and "." not in figure.digits
    return whole and not figure.approximate and limit(figure) is None and _abbreviation(figure) is None


def whole_counts(figure: Figure, n: int) -> Sequence[int]:
    """Return the whole counts of n that print as a share, or as a count."""
    if is_exact_count(figure):
        count = int(printed_value(figure))
        return (count,) if 0 <= count <= n else ()
    return counts_in(figure, n)


def fits(figure: Figure, computed: Box) -> bool:
    """Return whether some value of the box prints like the figure, or keeps the limit."""
    value, bound = printed_value(figure), limit(figure)
    if bound == "above" and not figure.approximate:
        return computed.high >= value
    if bound == "below" and not figure.approximate:
        return computed.low <= value
    allowed = rounding_box(figure)
    if bound is not None:
        allowed = Box(value, allowed.high) if bound == "above" else Box(allowed.low, value)
    elif computed.exact and not figure.approximate and _abbreviation(figure) is None:
        return value_prints_as(computed.low * scale(figure), figure.digits, times=scale(figure))
    return computed.low <= allowed.high and allowed.low <= computed.high


def counts_in(figure: Figure, cases: int) -> range:
    """Return the whole counts of so many cases that print as this share, in percent or as a fraction."""
    steps = steps_that_print(figure.digits, Fraction(scale(figure), cases), times=scale(figure))
    return steps[max(0, -steps.start) : max(0, cases + 1 - steps.start)]


def is_cut_off(figure: Figure, computed: Box) -> bool:
    """Return whether some value of the box gives the printed digits if further digits are dropped, not rounded."""
    if limit(figure) is not None:
        return False
    value, step = printed_value(figure), _last_digit(figure)
    low, high = (value, value + step) if value >= 0 else (value - step, value)
    inside = computed.low < high if value >= 0 else computed.low <= high
    return inside and (computed.high >= low if value >= 0 else computed.high > low)


def same_quantity(first: Figure, second: Figure) -> bool:
    """Return whether one value can print as either figure; two neighbours whose boxes only touch are told apart."""
    for one, other in ((first, second), (second, first)):
        exact = input_box(other)
        if exact is not None and exact.exact and fits(one, exact):
            return True
    if limit(first) is not None or limit(second) is not None:
        return printed_value(first) == printed_value(second) or _limits_meet(first, second)
    one_box, other_box = rounding_box(first), rounding_box(second)
    both_counts = is_exact_count(first) and is_exact_count(second)
    return not both_counts and one_box.low < other_box.high and other_box.low < one_box.high


def number(value: Fraction, figure: Figure) -> str:
    """Return a value written like a figure, with one more digit unless it has none."""
    shown = value * scale(figure)
    behind = decimals(figure.digits)
    behind += 0 if (shown * 10**behind).denominator == 1 else 1
    return f"{float(shown):,.{behind}f}{_sign(figure)}".replace("-", "\N{MINUS SIGN}")


def _sign(figure: Figure) -> str:
    return {"share": "%", "difference": " points"}.get(figure.unit, "")


def _limits_meet(first: Figure, second: Figure) -> bool:
    if limit(first) is not None and limit(second) is not None:
        return limit(first) != limit(second) and fits(first, point(printed_value(second)))
    bounded, other = (first, second) if limit(first) is not None else (second, first)
    return fits(bounded, rounding_box(other))


def _last_digit(figure: Figure) -> Fraction:
    return Fraction(1, 10 ** decimals(figure.digits)) / scale(figure)


def _carried_digit(figure: Figure) -> Fraction:
    abbreviation = _abbreviation(figure)
    if abbreviation is not None:
        return abbreviation
    step = _last_digit(figure)
    if figure.approximate and "." not in figure.digits:
        step *= 10 ** (len(figure.digits) - len(figure.digits.rstrip("0")))
    return step


def _abbreviation(figure: Figure) -> Fraction | None:
    """Return the last digit's worth if thousands or millions are printed as a letter, and it was read as such."""
    match = _ABBREVIATED.search(figure.printed)
    if figure.value is None or match is None:
        return None
    digits, unit = match[1].replace(",", ""), _THOUSANDS[match[2]]
    if Fraction(digits) * unit != Fraction(figure.digits):
        return None
    return Fraction(unit, 10 ** decimals(digits))

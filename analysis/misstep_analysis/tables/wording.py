"""Figures as people read them: how a number of each unit is written for page, terminal and plot."""

import math
import re
from collections.abc import Sequence

from misstep_analysis.stats.estimate import TOO_FEW, Estimate
from misstep_analysis.tables import Row, Unit

MISSING = "—"
"""The mark of an undefined or missing value; the reason is beside it."""

_DECIMALS: dict[Unit, int] = {"share": 1, "coefficient": 3}
"""How many digits are behind the point of numbers with a fixed number of them."""

_LEAST_PERCENT = 0.01
"""Smaller percentages are written as below it: their digits say nothing to a reader."""

_MINUS = "\N{MINUS SIGN}"
_BARE = re.compile(r"\d+(?:\.\d+)?")


def in_words(name: str) -> str:
    """Return a name as people read it: blanks for underscores."""
    return name.replace("_", " ")


def place_text(file: str, line: int | None) -> str:
    """Return a place in a file, with its line if it has one."""
    return file if line is None else f"{file}:{line}"


def number_text(value: float | int | str | None, unit: Unit = "number", decimals: int | None = None) -> str:
    """Return one number of a unit, as written on a page; `MISSING` for `None` and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if isinstance(value, str):
        return value
    if math.isinf(value):
        return f"{_MINUS if value < 0 else ''}∞"
    if decimals is not None and decimals > _DECIMALS.get(unit, decimals):
        number = f"{100 * value:.{decimals}f}%" if unit == "share" else f"{value:.{decimals}f}"
        return number.replace("-", _MINUS)
    return _in_unit(value, unit).replace("-", _MINUS)


def value_text(row: Row) -> str:
    """Return the figure of a row: the paper's own digits if they are printed, else its value in its unit.

    A percentage whose sign the paper prints at the head of the column has it at its digits, as all others do.
    """
    if row.printed is None:
        return number_text(row.value, row.unit)
    if row.unit != "share" or not isinstance(row.value, float) or not _BARE.fullmatch(row.printed):
        return row.printed
    is_percent = math.isclose(float(row.printed), 100 * row.value, rel_tol=1e-9, abs_tol=1e-9)
    return f"{row.printed}%" if is_percent else row.printed


def interval_text(row: Row) -> str:
    """Return the interval of a row without brackets, "9.8–14.1%"; empty if there is none."""
    low, high = row.low, row.high
    if low is None and high is None:
        return ""
    if low is None:
        return f"at most {number_text(high, row.unit)}"
    if high is None:
        return f"at least {number_text(low, row.unit)}"
    first, last = number_text(low, row.unit), number_text(high, row.unit)
    suffix = _SUFFIXES.get(row.unit, "")
    if suffix and first.endswith(suffix):
        first = first.removesuffix(suffix)
    joint = " to " if low < 0 or high < 0 or row.unit == "difference" else "–"
    return f"{first}{joint}{last}"


def with_interval(estimate: Estimate, unit: Unit, whose: str = "") -> str:
    """Return an estimate with its 95% interval, or why clusters give none, and its owner, if named."""
    interval = interval_words(estimate.low, estimate.high, unit)
    if estimate.low is None and estimate.reason.endswith(TOO_FEW):
        interval = f"{interval}: {estimate.reason}"
    return f"{number_text(estimate.value, unit)} ({'; '.join(filter(None, (whose, interval)))})"


FEWEST_UNITS = 10
"""The fewest units whose rate a sentence gives with an interval."""


def rate_text(estimate: Estimate, noun: str) -> str:
    """Return a share with its count and 95% interval: "86.0% of 200 items (81.0% to 90.0%)"; of few the count alone."""
    n = estimate.n or 0
    if estimate.value is None:
        return f"an unknown share of {counted_text(n, noun)}"
    if n < FEWEST_UNITS:
        return f"{round(estimate.value * n):,} of {counted_text(n, noun)}"
    interval = f"{number_text(estimate.low, 'share')} to {number_text(estimate.high, 'share')}"
    if estimate.low is None or estimate.high is None:
        interval = f"no interval: {estimate.reason}"
    return f"{number_text(estimate.value, 'share')} of {counted_text(n, noun)} ({interval})"


def interval_words(low: float | None, high: float | None, unit: Unit) -> str:
    """Return the 95% interval in words, or that there is none."""
    if low is None or high is None:
        return "no 95% interval"
    return f"95% interval {number_text(low, unit)} to {number_text(high, unit)}"


def p_text(p_value: float | None, p_adjusted: float | None) -> str:
    """Return a p-value, and the adjusted one if it differs."""
    text = f"p {number_text(p_value, 'p')}"
    return text if p_adjusted == p_value else f"{text}, adjusted {number_text(p_adjusted, 'p')}"


def points_text(difference: float) -> str:
    """Return how far two shares are apart, in points."""
    return f"{number_text(abs(difference), 'share').removesuffix('%')} points"


def count_text(count: int | None) -> str:
    """Return a number of units with thousands separated; empty for `None`."""
    return "" if count is None else f"{count:,}"


def counted_text(count: int, noun: str) -> str:
    """Return a count and what it counts, in the plural if there is not exactly one: "1 item", "2,071 items"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed_text(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: "a, b and c"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


_PLURALS = {
    "infinite_loop": "loops",
    "tool_call_failure": "failing calls",
    "unrequested_changes": "unrequested changes",
    "did_not_follow_instructions": "broken instructions",
}


def problems_text(category: str) -> str:
    """Return a category as a sentence names its cases."""
    return _PLURALS.get(category, f"cases of {in_words(category)}")


def problems_list(categories: Sequence[str]) -> str:
    """Return categories as a sentence lists their cases."""
    return listed_text([problems_text(category) for category in categories])


def _share(value: float) -> str:
    """Return a share as a percentage: one decimal, more where one would turn something into nothing or into all."""
    percent = 100 * value
    rounded = f"{percent:.{_DECIMALS['share']}f}"
    if value != 0 and rounded in ("0.0", "-0.0"):
        return f"{percent:.2g}%" if abs(percent) >= _LEAST_PERCENT else f"{'-' if value < 0 else ''}<{_LEAST_PERCENT}%"
    if value < 1 and rounded == "100.0":
        return f"{percent:.2f}%" if percent < 99.995 else ">99.99%"
    return f"{rounded}%"


def _p_value(value: float) -> str:
    if value < 0.0001:
        return "<0.0001"
    return "1.000" if value >= 0.9995 else f"{value:.{max(3, 2 - math.floor(math.log10(value)))}f}"


def _in_unit(value: float, unit: Unit) -> str:
    match unit:
        case "share":
            return _share(value)
        case "p":
            return _p_value(value)
        case "count":
            return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
        case "coefficient":
            return f"{value:.{_DECIMALS['coefficient']}f}"
        case "difference":
            # 0 is added because the other side of a difference of 0 is a 0 with a minus.
            return f"{100 * value + 0.0:+.1f} pp"
        case "usd":
            sign, amount = ("-" if value < 0 else ""), abs(value)
            return f"{sign}${amount:,.2f}" if amount == 0 or amount >= 0.01 else f"{sign}${amount:.2g}"
        case "seconds":
            return f"{value:,.0f} s" if abs(value) >= 100 else f"{value:.3g} s"
        case "number":
            return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 1000 else f"{value:.4g}"
        case "text":
            return str(value)


_SUFFIXES: dict[Unit, str] = {"share": "%", "difference": " pp", "seconds": " s"}

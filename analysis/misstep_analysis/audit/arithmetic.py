"""Check sums, differences, quotients, relative changes, and one quantity printed in two places."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from msgspec import structs

from misstep_analysis.audit.checked import Checked, compared, first_of, opened, underdetermined
from misstep_analysis.audit.rounding_boxes import (
    Box,
    fits,
    input_box,
    is_cut_off,
    is_exact_count,
    limit,
    point,
    printed_value,
    rounding_box,
    same_quantity,
)
from misstep_analysis.published import Check, Figure
from misstep_analysis.stats.printed.audit import decimals

_MOST_SHOWN = 12
_NO_NUMBER = "An input is printed in words or as a limit only."
_NO_INPUT = "Not every input is printed."
_NOTHING = "An input may be 0, and nothing can be divided by it."
_MEANS = ("average", "avg", "avg.")
_MEDIANS = ("med", "med.")
_SAY_NOTHING = frozenset({"a", "an", "the", "all", "of", "with", "in", "for", "that", "which", "total", "number"})
_LONG_ENOUGH_FOR_A_PLURAL = 4


def check_sum(figure: Figure, parts: Sequence[Figure]) -> Checked:
    """Check the figure as the sum of its parts."""
    boxes = [box for box in map(input_box, parts) if box is not None]
    if not parts or len(boxes) < len(parts):
        return underdetermined("sum", _NO_NUMBER if parts else _NO_INPUT)
    at_printed = point(sum((printed_value(part) for part in parts), Fraction(0)))
    working = " + ".join(part.printed for part in parts[:_MOST_SHOWN])
    working += f" + … ({len(parts):,} parts)" if len(parts) > _MOST_SHOWN else ""
    computed = sum(boxes, point(0))
    return compared("sum", figure, working, computed, at_printed)


def check_difference(figure: Figure, a: Figure | None, b: Figure | None) -> Checked:
    """Check the figure as a less b."""
    checked = _of_two("difference", figure, (a, b), "{} less {}", lambda first, second: first - second)
    first, second = _boxes(checked, a, b)
    if first is None or second is None:
        return checked
    apart = first - second
    relative = None if second.holds_zero else _change(second, first)
    repair = first_of(
        "with the opposite sign it would fit" if fits(figure, apart.reversed) else "",
        _if_fits(figure, relative, "it is the relative change, not the difference"),
    )
    return structs.replace(checked, suggestion=repair)


def check_share_of(figure: Figure, part: Figure | None, whole: Figure | None) -> Checked:
    """Check the figure as part / whole."""
    return _of_two("share_of", figure, (part, whole), "{} / {}", lambda first, second: first / second)


def check_relative_change(figure: Figure, start: Figure | None, end: Figure | None) -> Checked:
    """Check the figure as (end - start) / start."""
    checked = _of_two("relative_change", figure, (start, end), "The change from {} to {}", _change)
    first, last = _boxes(checked, start, end)
    if first is None or last is None:
        return checked
    change = _change(first, last)
    of_end = None if last.holds_zero else point(1) - first / last
    repair = first_of(
        _fewer_digits(figure, Fraction(checked.value or 0)),
        "with the opposite sign it would fit" if fits(figure, change.reversed) else "",
        _if_fits(figure, last - first, "it is the difference in points, not the relative change"),
        _if_fits(figure, of_end, "it is the change as a share of the second figure, not of the first"),
    )
    return structs.replace(checked, suggestion=repair)


def check_same(figure: Figure, other: Figure | None) -> Checked:
    """Check the figure against another print of it."""
    if other is None:
        return underdetermined("same", _NO_INPUT)
    if "text" in (figure.unit, other.unit):
        if figure.printed == other.printed:
            return Checked("same", "reproduced", f"{other.place} says {other.printed}, too.")
        return underdetermined("same", opened(f"{figure.printed} and, in {other.place}, {other.printed} are words."))
    value = float(printed_value(other))
    if same_quantity(figure, other):
        unlike = _unlike_names(figure, other)
        if unlike:
            return Checked("same", "differs", opened(f"{figure.printed} {unlike}."), value)
        sentence = opened(f"{figure.printed} here, {other.printed} in {other.place}.")
        return Checked("same", "reproduced", sentence, value)
    if limit(figure) is not None and limit(figure) == limit(other):
        return underdetermined(
            "same", opened(f"{figure.printed} and, in {other.place}, {other.printed} are both limits.")
        )
    sentence = opened(f"{figure.printed} here is not {other.printed}, printed for the same in {other.place}.")
    return Checked("same", "differs", sentence, value, suggestion=_one_cut_off(figure, other))


def _unlike_names(figure: Figure, other: Figure) -> str:
    """Return the different names of one number in two places; empty if they agree or one place has none.

    A statistic that is named in less detail ("kappa" beside "Fleiss' kappa") is the same one; another whole of a share
    is not.
    """
    statistic, others = _words(figure.statistic), _words(other.statistic)
    if statistic and others and not (statistic <= others or others <= statistic):
        return f"is called {figure.statistic} here and {other.statistic} in {other.place}"
    if figure.of and other.of and _words(figure.of) != _words(other.of):
        return f"is a share of {figure.of} here and of {other.of} in {other.place}"
    return ""


def _words(name: str) -> frozenset[str]:
    words = (word.strip(",;:()") for word in name.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    return frozenset(_one_form(word) for word in words if word and word not in _SAY_NOTHING)


def _one_form(word: str) -> str:
    """Return a word as it is compared: its usual short forms written out, without the s of a plural."""
    if word in _MEANS or word in _MEDIANS:
        return "mean" if word in _MEANS else "median"
    plural = len(word) >= _LONG_ENOUGH_FOR_A_PLURAL and word.endswith("s") and not word.endswith(("ss", "'s"))
    return word[:-1] if plural else word


def _one_cut_off(figure: Figure, other: Figure) -> str:
    if is_exact_count(figure) or is_exact_count(other) or decimals(figure.digits) == decimals(other.digits):
        return ""
    cut_off = is_cut_off(figure, rounding_box(other)) or is_cut_off(other, rounding_box(figure))
    return "one of the two is cut off, not rounded" if cut_off else ""


def _of_two(
    check: Check,
    figure: Figure,
    inputs: tuple[Figure | None, Figure | None],
    working: str,
    compute: Callable[[Box, Box], Box],
) -> Checked:
    first, second = inputs
    if first is None or second is None:
        return underdetermined(check, _NO_INPUT)
    one, other = input_box(first), input_box(second)
    if one is None or other is None:
        return underdetermined(check, _NO_NUMBER)
    divisor = {"share_of": other, "relative_change": one}.get(check)
    if divisor is not None and divisor.holds_zero:
        return underdetermined(check, _NOTHING)
    at_printed = compute(point(printed_value(first)), point(printed_value(second)))
    return compared(check, figure, working.format(first.printed, second.printed), compute(one, other), at_printed)


def _boxes(checked: Checked, *inputs: Figure | None) -> tuple[Box | None, ...]:
    is_open = checked.status == "differs" and not checked.suggestion
    return tuple(input_box(one) if one is not None and is_open else None for one in inputs)


def _if_fits(figure: Figure, computed: Box | None, repair: str) -> str:
    return repair if computed is not None and fits(figure, computed) else ""


def _change(start: Box, end: Box) -> Box:
    """Return the change as a share of its start; both ends share the one start."""
    return end / start - point(1)


def _fewer_digits(figure: Figure, value: Fraction) -> str:
    """Return that the figure fits if its last zeros carry no information."""
    zeros = len(figure.digits) - len(figure.digits.rstrip("0"))
    if "." in figure.digits or not zeros:
        return ""
    step = Fraction(10**zeros, 100 if figure.unit in ("share", "difference") else 1)
    near = abs(value - printed_value(figure)) <= step / 2
    return f"rounded to {10**zeros:,}s it would print as {figure.printed}" if near else ""

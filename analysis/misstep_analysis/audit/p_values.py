"""P-values of two proportions, computed again from counts, or from the counts that the printed shares allow.

Papers seldom name their test, so each usual two-sided test may give the printed digits, and the sentence names
those that do; rarer ones are tried only if no usual one does. A one-sided test, which halves the p-value, is a
suggestion, unless the figure is named one-sided. Stars beside a figure are compared with its p-value by the paper's own
legend ("** p < 0.01, * p < 0.05").
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from statistics import NormalDist
from typing import Final

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.audit.rounding_boxes import (
    Box,
    Checked,
    compared,
    fits,
    input_box,
    is_exact_count,
    limit,
    point,
    printed_value,
    rounding_box,
    underdetermined,
)
from misstep_analysis.published import Figure
from misstep_analysis.stats.printed.audit import counts_that_print
from misstep_analysis.stats.printed.usual_tests import (
    EXACT,
    FISHER,
    ONE_SIDED,
    POOLED,
    RARER,
    UNCONDITIONAL,
    USUAL,
    YATES,
    ExactTest,
    is_feasible,
)
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray

_CHECK: Final = "two_proportion_p"
_MOST_PAIRS = 40_000
"""How many pairs of counts are tried if only shares are printed; above it, the corners bound them all."""
_MOST_EXACT, _MOST_UNCONDITIONAL = 200, 3
"""How many pairs exact tests compute, which take a millisecond or a third of a second each: the likeliest."""
_MOST_NAMED = 3
_DIGITS = 12
"""Significant digits of a p-value that a computation can be held to."""
_STARS = ("no star", "one star", "two stars", "three stars", "four stars")
_JUST_BELOW = Fraction(999_999, 1_000_000)
LEGEND = ("one", "two", "three", "four")
_ONE_SIDED = ("one-sided", "one sided", "one-tailed", "one tailed")


class _Pairs(Struct, frozen=True):
    """The pairs of counts that the printed figures allow, and the sizes of both samples.

    Unless `complete`, they are the corners, between which every p-value lies, since the tests' statistics grow as two
    shares move apart.
    """

    x1: IntArray
    n1: int
    x2: IntArray
    n2: int
    nearest: int
    complete: bool

    def named(self, place: int) -> str:
        """Return one pair in words."""
        return f"{self.x1[place]:,} / {self.n1:,} against {self.x2[place]:,} / {self.n2:,}"


def check_two_proportion_p(
    figure: Figure,
    counts: tuple[Figure | None, ...],
    sizes: tuple[Figure | None, ...],
    shares: tuple[Figure | None, ...],
) -> Checked:
    """Check the p-value of two counts, or of two shares of known size."""
    if not 0 <= printed_value(figure) <= 1:
        return Checked(_CHECK, "impossible", f"{figure.printed} is not a probability.")
    known = [int(printed_value(size)) for size in sizes if size is not None and is_exact_count(size)]
    if len(known) < 2:
        wanting = f"the sizes behind {'a p-value' if limit(figure) is None else 'a limit of p'}"
        return underdetermined(_CHECK, _without_sizes(figure, shares), wanting)
    if min(known) <= 0:
        return underdetermined(_CHECK, "A sample is empty.")
    allowed = [_allowed(count, share, size) for count, share, size in zip(counts, shares, known, strict=True)]
    first, second = allowed
    if first is None or second is None:
        return underdetermined(_CHECK, "Neither counts nor shares of both samples are printed as numbers.")
    for options, share, size in zip(allowed, shares, known, strict=True):
        if not options:
            count_text = "The count" if share is None else share.printed
            return Checked(_CHECK, "impossible", f"{count_text} is not a share of {size:,} cases.")
    return _judged(figure, _pairs(first, second, known[0], known[1]))


def _without_sizes(figure: Figure, shares: Sequence[Figure | None]) -> str:
    reason = "How many cases either share is of is not printed"
    size = implied_arm_size(figure, shares)
    if size is None:
        return f"{reason}."
    p_value = f"p {figure.printed}" if limit(figure) is not None else f"p = {figure.printed}"
    return f"{reason}; with equal arms, {p_value} by the pooled z test needs {size.words} cases in each."


def _allowed(count: Figure | None, share: Figure | None, size: int) -> Sequence[int] | None:
    if count is not None:
        exact = int(printed_value(count))
        return None if not is_exact_count(count) else (exact,) if 0 <= exact <= size else ()
    if share is None or input_box(share) is None or share.approximate or limit(share) is not None:
        return None
    percentage = format(float(printed_value(share) * 100), f".{_decimals(share)}f")
    return counts_that_print(percentage, size) if 0 <= printed_value(share) <= 1 else ()


def _decimals(share: Figure) -> int:
    behind = len(share.digits.partition(".")[2])
    return behind if share.unit == "share" else max(0, behind - 2)


def _pairs(first: Sequence[int], second: Sequence[int], n1: int, n2: int) -> _Pairs:
    complete = len(first) * len(second) <= _MOST_PAIRS
    ones, others = (
        np.asarray(options if complete else (options[0], options[len(options) // 2], options[-1]))
        for options in (first, second)
    )
    x1, x2 = (grid.ravel() for grid in np.meshgrid(ones, others, indexing="ij"))
    return _Pairs(x1, n1, x2, n2, len(ones) // 2 * len(others) + len(others) // 2, complete)


def _judged(figure: Figure, pairs: _Pairs) -> Checked:
    usual, rarer = (
        {name: test(pairs.x1, pairs.n1, pairs.x2, pairs.n2) for name, test in tests.items()} for tests in (USUAL, RARER)
    )
    if np.isnan(usual[POOLED]).all():
        return underdetermined(_CHECK, "There is no p-value: no variation in the pooled sample, standard error 0.")
    said_one_sided = any(word in f"{figure.row} {figure.column} {figure.note}".lower() for word in _ONE_SIDED)
    factor = Fraction(1, 2) if said_one_sided else Fraction(1)
    # The slowest tests are asked last.
    reproduced = (
        _by_usual(figure, pairs, usual, factor)
        or _by_quick(figure, pairs, rarer, factor)
        or _by_exact(figure, pairs, usual[YATES], factor, EXACT, _MOST_EXACT)
        or _by_exact(figure, pairs, usual[YATES], factor, UNCONDITIONAL, _MOST_UNCONDITIONAL)
    )
    if reproduced is not None:
        return reproduced
    if not pairs.complete and _between_corners(figure, usual | rarer, factor):
        return underdetermined(_CHECK, f"{pairs.named(pairs.nearest)} and other counts that print so leave p open.")
    p_value = usual[POOLED][pairs.nearest] * float(factor)
    working = f"{pairs.named(pairs.nearest)} ({POOLED}{', one-sided' * said_one_sided}): p"
    if np.isnan(p_value):
        return underdetermined(_CHECK, "The counts that the shares allow leave it open whether there is a p-value.")
    other = _by_usual(figure, pairs, usual, Fraction(3, 2) - factor)
    suggestion = "" if other is None else f"a {'two' if said_one_sided else 'one'}-sided test gives {figure.printed}"
    checked = compared(_CHECK, figure, working, point(_exactly(float(p_value))))
    return structs.replace(checked, suggestion=suggestion, repair="") if suggestion else checked


def _by_usual(figure: Figure, pairs: _Pairs, by_test: dict[str, FloatArray], factor: Fraction) -> Checked | None:
    exact = FISHER if factor == 1 else {**FISHER, **ONE_SIDED}
    return _by_quick(figure, pairs, by_test, factor) or _by_exact(
        figure, pairs, by_test[YATES], factor, exact, _MOST_EXACT
    )


def _by_quick(figure: Figure, pairs: _Pairs, by_test: dict[str, FloatArray], factor: Fraction) -> Checked | None:
    fitting = {
        name: place for name, values in by_test.items() if (place := _fitting(figure, values, pairs, factor)) >= 0
    }
    if not fitting:
        return None
    name, place = next(iter(fitting.items()))
    others = [other for other in fitting if other != name and fits(figure, _box(by_test[other][place], factor))]
    return _as_checked(figure, pairs, place, (name, *others), float(by_test[name][place]), factor)


def _by_exact(
    figure: Figure, pairs: _Pairs, by_yates: FloatArray, factor: Fraction, tests: Mapping[str, ExactTest], most: int
) -> Checked | None:
    """Return the first pair that prints the figure by an exact test, as far as it can be computed, or `None`."""
    distance = np.nan_to_num(abs(by_yates - float(printed_value(figure))), nan=2.0)
    for place in np.argsort(distance, kind="stable")[:most].tolist():  # the likeliest first
        counts = (int(pairs.x1[place]), pairs.n1, int(pairs.x2[place]), pairs.n2)
        fitting: dict[str, tuple[float, Fraction]] = {}
        for name, test in tests.items():
            own = Fraction(1) if name in ONE_SIDED else factor
            p_value = test(*counts) if is_feasible(name, *counts) else None
            if p_value is not None and fits(figure, _box(p_value, own)):
                fitting[name] = p_value, own
        if fitting:
            return _as_checked(figure, pairs, place, tuple(fitting), *next(iter(fitting.values())))
    return None


def _fitting(figure: Figure, values: FloatArray, pairs: _Pairs, factor: Fraction) -> int:
    """Return the pair nearest to the middle whose p-value prints as the figure; -1 if there is none."""
    near = np.argsort(abs(np.arange(len(values)) - pairs.nearest), kind="stable")
    inside = near[_prints(figure, values[near] * float(factor))]
    return next((int(place) for place in inside if fits(figure, _box(values[place], factor))), -1)


def _prints(figure: Figure, values: FloatArray) -> np.typing.NDArray[np.bool_]:
    """Return whether p-values may print as the figure: a quick sieve, a little too wide."""
    value, half_step = float(printed_value(figure)), 10.0 ** -len(figure.digits.partition(".")[2])
    bound = limit(figure)
    low = -1.0 if bound == "below" else value - half_step
    high = 2.0 if bound == "above" else value + half_step
    return (values >= low) & (values <= high)


def _between_corners(figure: Figure, by_test: dict[str, FloatArray], factor: Fraction) -> bool:
    """Return whether the figure lies between the p-values at the corners of what the shares allow."""
    values = np.concatenate(list(by_test.values()))
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return fits(figure, Box(_exactly(low) * factor, _exactly(high) * factor))


def _box(p_value: float, factor: Fraction) -> Box:
    return point(_exactly(float(p_value)) * factor)


def _exactly(p_value: float) -> Fraction:
    """Return a p-value without the noise of its last digits, so that 0.125 prints as it does by hand."""
    return Fraction(f"{p_value:.{_DIGITS}g}") if not np.isnan(p_value) else Fraction(-1)


def _as_checked(
    figure: Figure, pairs: _Pairs, place: int, tests: Sequence[str], p_value: float, factor: Fraction
) -> Checked:
    one_sided = ", one-sided" if factor != 1 else ""
    further = len(tests) - _MOST_NAMED
    others = " and ".join([*tests[1:_MOST_NAMED], *([f"{further:,} more"] if further > 0 else [])])
    others = f"; so does {others}" if others else ""
    checked = compared(_CHECK, figure, f"{pairs.named(place)} ({tests[0]}{one_sided}): p", _box(p_value, factor))
    return structs.replace(checked, sentence=f"{checked.sentence.removesuffix('.')}{others}.")


def check_stars(figure: Figure, p_value: Figure | None, levels: Mapping[str, Figure]) -> Checked:
    """Check whether a figure has the stars that its p-value earns."""
    legend = {stars: printed_value(levels[name]) for stars, name in enumerate(LEGEND, 1) if name in levels}
    if p_value is None or not legend:
        return underdetermined("stars", "Its p-value, or what the stars mean, is not printed.")
    printed, box = figure.printed.count("*"), rounding_box(p_value)
    least, most = box.low, box.high
    if limit(p_value) == "below":
        least, most = Fraction(0), printed_value(p_value) * _JUST_BELOW
    elif limit(p_value) == "above":
        least, most = printed_value(p_value), Fraction(1)
    earned = {
        max((stars for stars, level in legend.items() if p < level), default=0)
        for p in (least, printed_value(p_value), most)
    }
    fewest, greatest = min(earned), max(earned)
    stars_text = _STARS[greatest] if fewest == greatest else f"{_STARS[fewest]} to {_STARS[greatest]}"
    sentence = f"p {'' if limit(p_value) else '= '}{p_value.printed} earns {stars_text} by the paper's legend"
    if fewest <= printed <= greatest:
        return Checked("stars", "reproduced", f"{sentence}, as printed.")
    return Checked("stars", "differs", f"{sentence}; {figure.printed} has {_in_words(printed)}.")


def _in_words(stars: int) -> str:
    return _STARS[stars] if stars < len(_STARS) else f"{stars} stars"


_NORMAL = NormalDist()


class ArmSize(Struct, frozen=True):
    """The size of either of two equal arms at the figures as printed, and the range that their rounding leaves open.

    `at_printed` is `None` if the p-value is printed as a limit or the shares as equal; `high` may be infinite.
    """

    at_printed: float | None
    low: float
    high: float

    @property
    def words(self) -> str:
        """Return the range in words: "5,300 to 6,100", "at least 700"."""
        low = max(1, math.ceil(self.low))
        if math.isinf(self.high):
            return f"at least {low:,}"
        high = math.floor(self.high)
        return f"{low:,} to {high:,}" if low < high else f"about {high:,}"


def implied_arm_size(p_value: Figure, shares: Sequence[Figure | None]) -> ArmSize | None:
    """Return the size of equal arms at which a pooled two-sided z test of two shares gives a printed p-value.

    `None` if a share is not printed as a number, or is not one, or if the shares may be equal.
    """
    boxes = [None if share is None else input_box(share) for share in shares]
    first, second = boxes
    if first is None or second is None or (first.low <= second.high and second.low <= first.high):
        return None
    if any(box.high < 0 or box.low > 1 for box in (first, second)):
        return None
    ends = [(max(Fraction(0), box.low), min(Fraction(1), box.high)) for box in (first, second)]
    least, most = _p_values(p_value)
    # For one p-value the size falls as the shares move apart, and for one pair of shares as the p-value grows.
    sizes = [_size(float(a), float(b), p) for a, b in product(*ends) for p in (least, most)]
    exact = limit(p_value) is None and 0 < printed_value(p_value) < 1
    at_printed = _size(float(first.middle), float(second.middle), float(printed_value(p_value))) if exact else None
    return ArmSize(at_printed, min(sizes), max(sizes))


def _p_values(figure: Figure) -> tuple[float, float]:
    value, box = float(printed_value(figure)), rounding_box(figure)
    match limit(figure):
        case "below":
            return 0.0, value
        case "above":
            return value, 1.0
        case _:
            return max(0.0, float(box.low)), min(1.0, float(box.high))


def _size(first: float, second: float, p_value: float) -> float:
    if p_value <= 0:
        return math.inf
    mean = (first + second) / 2
    z = _NORMAL.inv_cdf(p_value / 2)
    return 2 * mean * (1 - mean) * z**2 / (first - second) ** 2

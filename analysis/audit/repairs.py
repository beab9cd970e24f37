"""Small repairs that would make a printed figure fit: exchanged digits, another number of cases, repeated runs.

Each function returns a repair in words, or an empty text. A repair is only a suggestion.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor

from msgspec import structs

from misstep.analysis.audit.checked import Checked
from misstep.analysis.audit.rounding_boxes import (
    Box,
    counts_in,
    fits,
    is_exact_count,
    limit,
    point,
    printed_value,
    rounding_box,
)
from misstep.analysis.published import Derivation, Figure, Paper
from misstep.analysis.tables import FAILED

Result = tuple[Figure, Derivation, Checked]
_Share = tuple[Figure, Figure | None]
_NEIGHBOURS = 0.01
"""How far another number of cases may lie off to be suggested, as a share of the printed one."""

_FARTHEST = 5_000
_MOST_REPEATS = 10
_MOST_BY_CHANCE = Fraction(1, 2)
"""How many tried numbers of runs may be expected to fit any printed share, for one that fits to be named."""

_HARDLY_BY_CHANCE = Fraction(1, 20)
"""The same of exchanged digits, which are rarer than repeated runs."""

_MOST_NUMBERS = 3
"""How many other numbers of cases at most are named that all percentages fit."""


def first_of(*repairs: str, most: int = 2) -> str:
    """Join the first repairs that are not empty."""
    return ", or ".join([repair for repair in repairs if repair][:most])


def exchanged_digits(figure: Figure) -> Iterator[Figure]:
    """Return the figure with two neighbouring digits exchanged, in every way."""
    text = figure.printed
    for one, other in pairwise(_digit_places(figure)):
        if text[one] != text[other]:
            exchanged = f"{text[:one]}{text[other]}{text[one + 1 : other]}{text[one]}{text[other + 1 :]}"
            yield structs.replace(figure, printed=exchanged)


def changed_digits(figure: Figure) -> Iterator[Figure]:
    """Return the figure with one digit changed, in every way."""
    text = figure.printed
    for place, digit in product(_digit_places(figure), "0123456789"):
        if digit != text[place]:
            yield structs.replace(figure, printed=f"{text[:place]}{digit}{text[place + 1 :]}")


def _digit_places(figure: Figure) -> list[int]:
    if figure.value is not None or figure.unit == "text":
        return []
    return [place for place, character in enumerate(figure.printed) if character.isdigit()]


def own_digits_exchanged(figure: Figure, computed: Box) -> str:
    """Return whether the figure would fit with two of its digits exchanged."""
    for typed in exchanged_digits(figure):
        if fits(typed, computed):
            return f"with two digits exchanged, {typed.printed}, it would fit"
    return ""


def share_mistyped(figure: Figure, cases: int) -> str:
    """Return whether some count prints as the share with two digits exchanged, unless by chance."""
    box = rounding_box(figure)
    typed = [one for one in exchanged_digits(figure) if printed_value(one) <= 1]
    fitting = [one for one in typed if counts_in(one, cases)]
    if not fitting or len(typed) * cases * (box.high - box.low) > _HARDLY_BY_CHANCE:
        return ""
    return f"with two digits exchanged, {fitting[0].printed}, {counts_in(fitting[0], cases)[0]:,} / {cases:,} would fit"


def count_mistyped(figure: Figure, count: Figure, cases: int) -> str:
    """Return whether a share fits with two digits of its count exchanged, or with just one digit changed in one way."""
    fitting = counts_in(figure, cases)
    exchanged = [typed for typed in map(_whole, exchanged_digits(count)) if typed in fitting]
    changed = [typed for typed in map(_whole, changed_digits(count)) if typed in fitting]
    repairs = exchanged[:1] or (changed if len(changed) == 1 else [])
    return f"with {repairs[0]:,} instead of {count.printed} it would fit" if repairs else ""


def other_cases(figure: Figure, cases: int, count: int | None) -> str:
    """Return the nearest other number of cases of which the share would print so."""
    fitting = next(iter(_fitting_cases(figure, cases, count)), None)
    if fitting is None:
        return ""
    part = counts_in(figure, fitting)[0] if count is None else count
    return f"{part:,} / {fitting:,} would print as {figure.printed}"


def repeated_cases(figure: Figure, cases: int) -> str:
    """Return the smallest number of runs of every case of which the share would print so, unless by chance."""
    box, by_chance = rounding_box(figure), Fraction(0)
    for repeats in range(2, _MOST_REPEATS + 1):
        by_chance += cases * repeats * (box.high - box.low)
        counts = counts_in(figure, cases * repeats) if by_chance <= _MOST_BY_CHANCE else range(0)
        if counts:
            return f"with {repeats} runs of each of the {cases:,} cases, {counts[0]:,} / {cases * repeats:,} would fit"
    return ""


def with_common_cases(paper: Paper, results: Sequence[Result]) -> list[Result]:
    """Return the same results; percentages of one number that all fit another number near by say so.

    One percentage alone fits many numbers; only a number that all of a table fit, and few others, is worth a look. If
    not all do, those that do not fit the printed number are looked at alone. A percentage printed in several places
    is one.
    """
    groups: dict[tuple[str, int], list[int]] = {}
    for place, (_, derivation, _) in enumerate(results):
        group = _cases_of(paper, derivation)
        if group is not None:
            groups.setdefault(group, []).append(place)
    repaired = list(results)
    for (n, repeats), places in groups.items():
        failed = [place for place in places if results[place][2].status in FAILED]
        every, wrong = (_told_once(paper, [results[place] for place in these]) for these in (places, failed))
        repair = ""
        for shares, wording in ((every, "all {} percentages of {}"), (wrong, "the {} percentages that do not fit {}")):
            fitting = _common(shares, paper[n], repeats) if len(wrong) > 1 else ""
            if fitting and not repair:
                repair = f"{wording.format(len(shares), paper[n].printed)} fit {fitting} instead"
        for place in failed if repair else ():
            figure, derivation, checked = results[place]
            own = checked.suggestion if checked.repair == "cut_off" else ""
            repaired[place] = (figure, derivation, structs.replace(checked, suggestion=first_of(own, repair)))
    return repaired


def with_common_count(paper: Paper, results: Sequence[Result]) -> list[Result]:
    """Return the same results; a sum and a share that both fit with another count of a part say so."""
    repaired = list(results)
    shares_of: dict[str, list[int]] = {}
    for place, (_, derivation, checked) in enumerate(results):
        count = derivation.inputs.get("count")
        if isinstance(count, str) and checked.status in FAILED and _cases_of(paper, derivation) is not None:
            shares_of.setdefault(count, []).append(place)
    for place, (total, derivation, checked) in enumerate(results):
        parts = derivation.inputs.get("parts", ())
        if derivation.check != "sum" or checked.status not in FAILED or isinstance(parts, str):
            continue
        figures = [paper[part] for part in parts]
        if not all(map(is_exact_count, (total, *figures))):
            continue
        missing = _whole(total) - sum(map(_whole, figures))
        for part in figures:
            shares = shares_of.get(part.id, [])
            if shares and _all_fit(paper, [results[at] for at in shares], _whole(part) + missing):
                repair = f"with {_whole(part) + missing:,} instead of {part.printed} the sum and the share both fit"
                for at in (place, *shares):
                    figure, way, result = repaired[at]
                    repaired[at] = (figure, way, structs.replace(result, suggestion=repair))
                break
    return repaired


def _all_fit(paper: Paper, shares: Sequence[Result], count: int) -> bool:
    cases = [(figure, _cases_of(paper, derivation)) for figure, derivation, _ in shares]
    return all(n is not None and count in counts_in(figure, _whole(paper[n[0]]) * n[1]) for figure, n in cases)


def _whole(figure: Figure) -> int:
    return int(printed_value(figure))


def _cases_of(paper: Paper, derivation: Derivation) -> tuple[str, int] | None:
    n, repeats = derivation.inputs.get("n"), derivation.inputs.get("repeats")
    named = [paper[id_] for id_ in (n, repeats) if isinstance(id_, str)]
    if derivation.check != "percentage" or not isinstance(n, str):
        return None
    if not all(is_exact_count(figure) and printed_value(figure) > 0 for figure in named):
        return None
    return n, _whole(paper[repeats]) if isinstance(repeats, str) else 1


def _told_once(paper: Paper, results: Sequence[Result]) -> list[_Share]:
    """Return the percentages without those that print one again: of the same count, or of the same row and column."""
    distinct: dict[tuple[str, str, str], _Share] = {}
    for figure, derivation, _ in results:
        id_ = derivation.inputs.get("count")
        count = paper[id_] if isinstance(id_, str) else None
        named = (figure.row, figure.column) if count is None else (count.id, "")
        distinct.setdefault((*named, figure.digits), (figure, count))
    return list(distinct.values())


def _common(shares: Sequence[_Share], n: Figure, repeats: int) -> str:
    """Return the other numbers of cases that all the shares fit, in words; empty if there are none or many."""
    plain = [figure for figure, _ in shares if limit(figure) is None and not figure.approximate]
    if len(plain) < len(shares) or any(count is not None and not is_exact_count(count) for _, count in shares):
        return ""
    counts = [None if count is None else printed_value(count) for _, count in shares]
    known = int(printed_value(n))
    reach = _reach(known)
    low, high = Fraction(max(1, known - reach)), Fraction(known + reach)
    for (figure, _), count in zip(shares, counts, strict=True):
        if count is not None:
            lowest, highest = _range_of_cases(figure, count)
            low, high = max(low, lowest / repeats), high if highest is None else min(high, highest / repeats)
    fitting = []
    for other in range(ceil(low), floor(high) + 1):
        cases = other * repeats
        if all(
            counts_in(figure, cases) if count is None else fits(figure, point(count / cases))
            for (figure, _), count in zip(shares, counts, strict=True)
        ):
            fitting.append(other)
    if not fitting or known in fitting:
        return ""
    if len(fitting) > _MOST_NUMBERS:
        if None in counts:
            return ""
        return f"some numbers of cases from {fitting[0]:,} to {fitting[-1]:,}"
    return " or ".join(f"{other:,}" for other in fitting)


def _fitting_cases(figure: Figure, cases: int, count: int | None) -> Iterator[int]:
    reach = _reach(cases)
    if count is not None:
        lowest, highest = _range_of_cases(figure, Fraction(count))
        nearest = [ceil(lowest), ceil(lowest) + 1]
        nearest += [] if highest is None else [floor(highest), floor(highest) - 1]
        for other in sorted(nearest, key=lambda near: (abs(near - cases), near)):
            if other > 0 and 0 < abs(other - cases) <= reach and fits(figure, point(Fraction(count, other))):
                yield other
        return
    for distance in range(1, reach + 1):
        for other in (cases + distance, cases - distance):
            if other > 0 and counts_in(figure, other):
                yield other


def _reach(cases: int) -> int:
    return min(_FARTHEST, max(1, int(cases * _NEIGHBOURS)))


def _range_of_cases(figure: Figure, count: Fraction) -> tuple[Fraction, Fraction | None]:
    """Return the numbers of cases of which a count can print as the share; without an end if the share may be 0."""
    box = rounding_box(figure)
    return count / box.high if box.high > 0 else Fraction(0), count / box.low if box.low > 0 else None

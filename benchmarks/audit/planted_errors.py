"""Made-up tables with one planted error each, of the kinds that are found in papers.

An error counts as undetectable if some sound table prints exactly like the broken one: no check of printed figures can
tell them apart.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from random import Random

from msgspec import Struct, structs

from benchmarks.audit.generated_draws import (
    SMALLEST,
    draw_amounts,
    draw_arms,
    draw_comparison,
    draw_copies,
    draw_for,
    draw_judge,
    draw_kappa,
    draw_kappa_alone,
    draw_means,
    draw_shares,
    draw_shares_alone,
    draw_size,
    draw_style,
    parts_of,
)
from benchmarks.audit.generated_shapes import comparison_of, shares_alone_of, shares_of
from benchmarks.audit.generated_tables import MadeTable, Quantity, differing, rounded_value
from misstep.analysis.stats.printed.usual_tests import HOW_MANY

_NEAR = 0.01
"""How far off the number of cases of percentages lies, as a share of the printed one."""


class Planted(Struct, frozen=True):
    """A table with one error.

    `undetectable` says whether a sound table prints the same, `None` if that is not known; `repair` has the words
    of which a suggestion has to hold one to name the planted repair: none if the sentence itself gives the right
    value.
    """

    table: MadeTable
    undetectable: bool | None
    repair: tuple[str, ...]


def planted_error(seed: int, kind: str, place: int) -> Planted:
    """Return a table with an error of a kind in `KINDS`; the same for the same seed and place."""
    draw = draw_for(seed, kind, place)
    while True:
        planted = KINDS[kind](draw)
        if planted is not None:
            return planted


def wrong_digit(draw: Random, text: str, *, last: bool = False) -> str:
    """Return a print with one digit changed for another; the first digit of several never for 0."""
    places = [place for place, sign in enumerate(text) if sign.isdigit()]
    place = places[-1] if last else draw.choice(places)
    leading = place == places[0] and len(places) > 1 and text[place + 1 : place + 2] != "."
    digit = draw.choice([one for one in "0123456789"[leading:] if one != text[place]])
    return text[:place] + digit + text[place + 1 :]


def exchanged_digits(draw: Random, text: str) -> str | None:
    """Return a print with two neighbouring digits exchanged; `None` where no two differ."""
    places = [place for place, sign in enumerate(text) if sign.isdigit()]
    pairs = [(a, b) for a, b in pairwise(places) if text[a] != text[b]]
    # A number does not begin with 0 unless the point follows.
    pairs = [(a, b) for a, b in pairs if a != places[0] or text[b] != "0" or not text[a + 1 : a + 2].isdigit()]
    if not pairs:
        return None
    a, b = draw.choice(pairs)
    return f"{text[:a]}{text[b]}{text[a + 1 : b]}{text[a]}{text[b + 1 :]}"


def _retyped(table: MadeTable, id_: str, text: str | None, *, named: bool = False) -> Planted | None:
    """Return a table in which one quantity is typed otherwise; `named` where a suggestion can name the right print."""
    if text is None:
        return None
    broken = table.changed(structs.replace(table[id_], typed=text))
    return Planted(broken, not differing(broken, table), (table.printed(id_),) if named else ())


def _revalued(table: MadeTable, values: dict[str, Fraction], repair: tuple[str, ...]) -> Planted:
    broken = table.changed(*(structs.replace(table[id_], value=value) for id_, value in values.items()))
    return Planted(broken, not differing(broken, table), repair)


def _some(draw: Random, table: MadeTable, prefix: str) -> Quantity:
    return draw.choice([one for one in table.quantities if one.id.rstrip("0123456789") == prefix])


def _count_with_total(draw: Random) -> Planted | None:
    table = draw_shares(draw)
    count = _some(draw, table, "count")
    planted = _retyped(table, count.id, wrong_digit(draw, table.printed(count.id)), named=True)
    # No table of these classes with the printed total has that count beside the others.
    return planted and structs.replace(planted, undetectable=False)


def _count_without_total(draw: Random) -> Planted | None:
    style, first, second = draw_style(draw), *draw_arms(draw)
    table = comparison_of(style, first, second, draw.randrange(HOW_MANY))
    typed = wrong_digit(draw, table.printed("x1"))
    broken = table.changed(structs.replace(table["x1"], typed=typed))
    count = int(typed.replace(",", ""))
    repair = (table.printed("x1"),)
    if count > first[1]:
        return Planted(broken, False, repair)
    other = comparison_of(style, (count, first[1]), second)
    same_rows = {one.id for one in other.quantities} == {one.id for one in table.quantities}
    return Planted(broken, same_rows and not differing(broken, other), repair)


def _total_off_by_one(draw: Random) -> Planted | None:
    table = draw_shares(draw)
    total = table.n + draw.choice((-1, 1))
    planted = _revalued(table, {"n": Fraction(total)}, (table.printed("n"),))
    return structs.replace(planted, undetectable=False)


def _total_of_rounded_parts(draw: Random) -> Planted | None:
    table = draw_amounts(draw)
    # The share of the total would tell more than the parts do.
    table = structs.replace(table, quantities=tuple(one for one in table.quantities if one.id != "part"))
    digits = table.style.digits - (3 if table["total"].letter else 0)
    step = Fraction(1, 10**digits) if digits >= 0 else Fraction(10**-digits)
    parts = [one.value for one in table.quantities if one.id.startswith("amount")]
    shown = sum((rounded_value(part / step, 0, table.style.rule) for part in parts), Fraction(0))
    total = rounded_value(table["total"].value / step, 0, table.style.rule) + draw.choice((-1, 1))
    planted = _revalued(table, {"total": total * step}, ())
    # Each part may be half a step off, and so may the total; exactly so where every one is a tie.
    return structs.replace(planted, undetectable=abs(total - shown) <= Fraction(len(parts) + 1, 2))


def _near(draw: Random, n: int) -> int:
    reach = max(1, int(n * _NEAR))
    return max(2, n + draw.choice((-1, 1)) * draw.randint(1, reach))


def _of_another_n_with_counts(draw: Random) -> Planted | None:
    n = draw_size(draw)
    other, counts = _near(draw, n), parts_of(draw, n, draw.randint(2, 8))
    if max(counts) > other:
        return None
    table = shares_of(draw_style(draw), n, counts)
    shares = {f"share{place}": Fraction(count, other) for place, count in enumerate(counts, 1)}
    return _revalued(table, shares, (f"{other:,}",))


def _of_another_n(draw: Random) -> Planted | None:
    n, how_many = draw_size(draw), draw.randint(1, 7)
    other = _near(draw, n)
    shares = {f"share{place}": Fraction(draw.randint(0, other), other) for place in range(1, how_many + 1)}
    return _revalued(shares_alone_of(draw_style(draw), n, [0] * how_many), shares, (f"{other:,}",))


def _cut_off(draw: Random) -> Planted | None:
    table = draw_shares(draw)
    cut = [structs.replace(one, rule="cut_off") for one in table.quantities if one.id.startswith("share")]
    broken = table.changed(*cut)
    return Planted(broken, not differing(broken, table), ("cut off",))


def _one_cut_off_alone(draw: Random) -> Planted | None:
    table = draw_shares_alone(draw)
    broken = table.changed(structs.replace(_some(draw, table, "share"), rule="cut_off"))
    return Planted(broken, not differing(broken, table), ("cut off",))


def _exchanged(draw: Random, pairs: tuple[tuple[str, str], ...], repair: tuple[str, ...]) -> Planted | None:
    table = draw_judge(draw)
    known = {one.id for one in table.quantities}
    if any(id_ not in known for pair in pairs for id_ in pair):
        return None
    values = {one: table[other].value for pair in pairs for one, other in (pair, pair[::-1])}
    return _revalued(table, values, repair)


def _swapped_rows(draw: Random) -> Planted | None:
    pairs = (("yes.precision", "no.precision"), ("yes.recall", "no.recall"))
    return _exchanged(draw, pairs, ("swapped", "other class"))


def _swapped_columns(draw: Random) -> Planted | None:
    pairs = (("yes.precision", "yes.recall"), ("no.precision", "no.recall"))
    return _exchanged(draw, pairs, ("columns", "it is the recall", "it is the precision"))


def _share_with_exchanged_digits(draw: Random) -> Planted | None:
    table = draw_shares(draw)
    id_ = _some(draw, table, "share").id
    return _retyped(table, id_, exchanged_digits(draw, table.printed(id_)), named=True)


def _share_alone_with_exchanged_digits(draw: Random) -> Planted | None:
    table = draw_shares_alone(draw)
    id_ = _some(draw, table, "share").id
    return _retyped(table, id_, exchanged_digits(draw, table.printed(id_)), named=True)


def _compared(draw: Random) -> tuple[MadeTable, int]:
    """Return a comparison with a p-value, and the digits of that; the test is the pooled z test."""
    digits = draw.randint(2, 4)
    while True:
        table = comparison_of(draw_style(draw), *draw_arms(draw), 0, digits)
        if table.quantities[-1].id == "p":
            return table, digits


def _one_sided(draw: Random) -> Planted | None:
    table, _ = _compared(draw)
    return _revalued(table, {"p": table["p"].value / 2}, ("one-sided",))


def _p_of_another_row(draw: Random) -> Planted | None:
    table, _ = _compared(draw)
    return _revalued(table, {"p": _compared(draw)[0]["p"].value}, ())


def _p_typo(draw: Random) -> Planted | None:
    table, _ = _compared(draw)
    text = table.printed("p")
    return None if text.startswith("<") else _retyped(table, "p", wrong_digit(draw, text, last=draw.random() < 0.5))


def _wrong_sign(draw: Random) -> Planted | None:
    table = draw_comparison(draw)
    return _revalued(table, {"difference": -table["difference"].value}, ("sign",))


def _relative_for_absolute(draw: Random) -> Planted | None:
    table = draw_comparison(draw)
    if table["share1"].value == 0:
        return None
    relative = table["share2"].value / table["share1"].value - 1
    return _revalued(table, {"difference": relative}, ("relative change",))


def _absolute_for_relative(draw: Random) -> Planted | None:
    table = draw_comparison(draw)
    if "change" not in {one.id for one in table.quantities}:
        return None
    return _revalued(table, {"change": table["share2"].value - table["share1"].value}, ("difference",))


def _mean_typo(draw: Random) -> Planted | None:
    table = draw_means(draw)
    id_ = _some(draw, table, "mean").id
    return _retyped(table, id_, wrong_digit(draw, table.printed(id_), last=True))


def _stale_copy(draw: Random) -> Planted | None:
    table = draw_copies(draw)
    id_ = draw.choice(("n.text", "share.text"))
    stale = table[id_].value * Fraction(draw.choice((draw.randint(90, 99), draw.randint(101, 110))), 100)
    if id_ == "n.text" and not table[id_].letter:
        stale = Fraction(max(SMALLEST - 1, int(stale)))
    return _revalued(table, {id_: stale}, ())


def _caption(draw: Random) -> Planted | None:
    table = draw_copies(draw)
    return _retyped(table, "caption", wrong_digit(draw, table.printed("caption")))


def _kappa_typo(draw: Random) -> Planted | None:
    table = draw_kappa(draw)
    return _retyped(table, "kappa", wrong_digit(draw, table.printed("kappa"), last=draw.random() < 0.5))


def _kappa_typo_alone(draw: Random) -> Planted | None:
    table = draw_kappa_alone(draw)
    planted = _retyped(table, "kappa", wrong_digit(draw, table.printed("kappa"), last=draw.random() < 0.5))
    # Whether another matrix prints the wrong kappa is what the audit itself has to search.
    return planted and structs.replace(planted, undetectable=None)


KINDS: dict[str, Callable[[Random], Planted | None]] = {
    "one digit of a count, total printed": _count_with_total,
    "one digit of a count, no total": _count_without_total,
    "total of counts off by one": _total_off_by_one,
    "total of rounded parts off by one in the last digit": _total_of_rounded_parts,
    "percentages of another n, counts printed": _of_another_n_with_counts,
    "percentages of another n, no counts": _of_another_n,
    "percentages cut off, counts printed": _cut_off,
    "one percentage cut off, no counts": _one_cut_off_alone,
    "two digits of a percentage exchanged, count printed": _share_with_exchanged_digits,
    "two digits of a percentage exchanged, no count": _share_alone_with_exchanged_digits,
    "mean with a wrong last digit": _mean_typo,
    "rows of precision and recall swapped": _swapped_rows,
    "columns of precision and recall swapped": _swapped_columns,
    "one-sided p-value": _one_sided,
    "p-value of another row": _p_of_another_row,
    "one digit of a p-value": _p_typo,
    "sign of a difference": _wrong_sign,
    "relative change for a difference in points": _relative_for_absolute,
    "difference in points for a relative change": _absolute_for_relative,
    "stale figure in a second place": _stale_copy,
    "n of the caption": _caption,
    "one digit of kappa, matrix printed": _kappa_typo,
    "one digit of kappa, no matrix": _kappa_typo_alone,
}
"""Kind of error → its planter, which returns `None` if a drawn table does not admit it.

"""

"""One row of a user's file as a printed figure with the figures that it is computed from.

Numbers are read as people type them: "49.0%", "< .001", "42,807", "−3.5 pp", "~14.3k". A comma, an apostrophe or a
narrow space groups thousands, a point is before the decimals, and the letters k and M abbreviate thousands and
millions. The meaning of a number follows from its key: n, count and the cells of a table are whole counts; agreement, a
precision or a kappa is a fraction of 1 unless it is in percent, and an agreement may be a count of n; parts and their
total are in one unit.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import ceil, floor
from typing import Literal

from msgspec import Struct, structs

from misstep_analysis.audit.judge_tables import CELLS, NEEDS, SUMS, completed
from misstep_analysis.audit.paired import Named
from misstep_analysis.published import LISTS, Check, Derivation, Figure, Paper, PrintedMatrix, too_many_digits
from misstep_analysis.tables import Unit
from misstep_harness.escaping import one_line

_MOST_CHARACTERS = 60
_NARROW_SPACES = re.compile("(?<=[0-9])[\u00a0\u2009\u202f'’](?=[0-9]{3})")
_MINUS = re.compile("^([^0-9]*)[\u2212\u2013\ufe63\uff0d]")
_POWER = re.compile(r" ?[×x*·] ?10 ?\^? ?\{?([+-]?[0-9]{1,3})\}?$")
_NUMBER = re.compile(
    r"""(?:p(?:[ -]?value)?\ ?)?                                  # p = 0.03
    (?P<bound><=|>=|[<>≤≥]|=|~|≈|about\ |roughly\ |approx\.?\ |ca\.?\ )?\ ?
    (?P<sign>[+-]?)\ ?[$€£]?
    (?P<whole>[0-9]{1,3}(?:[, ][0-9]{3})+|[0-9]*)(?P<behind>\.[0-9]*)?
    (?:e(?P<exponent>[+-]?[0-9]{1,3}))?
    \ ?(?P<letter>(?-i:[kM])(?![a-z]))?(?P<more>\+)?
    \ ?(?P<unit>%|percentage\ points?|percent|points?|pp|p\.p\.)?
    \ ?[*†‡]*""",
    re.VERBOSE | re.IGNORECASE,
)
_PLACES = {"k": 3, "M": 6}
_BOUNDS: dict[str, Literal["above", "below"]] = {
    "<": "below",
    "<=": "below",
    "≤": "below",
    ">": "above",
    ">=": "above",
    "≥": "above",
}
_ABOUT = ("~", "≈", "about", "roughly", "approx", "ca")

Sign = Literal["", "%", "points"]


class Typed(Struct, frozen=True):
    """One number as typed: `digits` are its own, without the characters around them.

    `sign` is the percent sign or the word "points" behind it, in whatever spelling; `approximate` and `bound` are as
    in `analysis.published.Figure`; `out_of` is the whole of a count, if both are given, as in "9/12".
    """

    text: str
    digits: str
    sign: Sign = ""
    approximate: bool = False
    bound: Literal["above", "below"] | None = None
    out_of: Decimal | None = None

    @property
    def number(self) -> Decimal:
        """Return the number itself, a percentage in percent."""
        return Decimal(self.digits)

    @property
    def is_whole(self) -> bool:
        """Return whether no decimals are printed."""
        return "." not in self.digits

    def figure(self, id: str, place: str, row: str, column: str, unit: Unit) -> Figure:  # noqa: A002 (as in Figure)
        """Return the number as a printed figure."""
        return Figure(
            id=id,
            place=place,
            row=row,
            column=column,
            printed=self.text,
            value=self.digits,
            unit=unit,
            approximate=self.approximate,
            bound=self.bound,
        )


def typed_part(text: str) -> Typed:
    """Return a number, or a count with what it is part of: "9/12"."""
    above, stroke, below = text.partition("/")
    if not stroke:
        return typed(text)
    part, whole = typed(above), typed(below)
    plain = all(not one.sign and one.is_whole and one.bound is None and not one.approximate for one in (part, whole))
    if not plain or not 0 <= part.number <= whole.number:
        raise ValueError(f"{one_line(text)!r} is not part of a whole")
    return structs.replace(part, text=f"{part.text}/{whole.text}", out_of=whole.number)


def typed(text: str) -> Typed:
    """Return a number as someone typed it."""
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"a text of {len(text):,} characters is not a number")
    shown = one_line(_NARROW_SPACES.sub(",", text.strip()))
    plain = _POWER.sub(r"e\1", _MINUS.sub(r"\1-", shown))
    match = _NUMBER.fullmatch(plain)
    if match is None or not (match["whole"] + (match["behind"] or "").strip(".")):
        raise ValueError(f"{shown!r} is not a number")
    word = (match["bound"] or "").strip(" .").lower()
    bound = "above" if match["more"] else _BOUNDS.get(word)
    digits = _digits(match)
    if too_many_digits(digits, is_limit=bound is not None):
        raise ValueError(f"{shown!r} has too many digits to compare")
    unit = (match["unit"] or "").lower()
    sign: Sign = "" if not unit else "%" if unit in ("%", "percent") else "points"
    return Typed(shown, digits, sign, word in _ABOUT, bound)


def _digits(match: re.Match[str]) -> str:
    whole, behind = re.sub("[, ]", "", match["whole"]) or "0", (match["behind"] or "").removeprefix(".")
    sign = "-" if match["sign"] == "-" else ""
    shift = int(match["exponent"] or 0) + _PLACES.get(match["letter"] or "", 0)
    number = Decimal(f"{sign}{whole}.{behind}" if behind else f"{sign}{whole}").scaleb(shift)
    return f"{number:f}"


MEASURES = tuple(NEEDS)
Meaning = Literal["count", "fraction", "percent", "p", "number"]
"""Kind of the numbers behind a key; of a number that may be anything a whole one is a count."""

Numbers = Mapping[str, tuple[tuple[Typed, ...], ...]]
_COUNTS = frozenset({"count", "n", "repeats", "x1", "n1", "x2", "n2", "labels", "margins", "most", "matrix"})
_COUNTS |= {"tp", "fp", "fn", "tn", "positives", "negatives"}
_RATIOS = frozenset({"agreement", "agreements", "kappa", "kappas", "share1", "share2", *MEASURES})
_RATIOS |= {"other_precision", "other_recall"}
PARTS_OF_N = frozenset({"agreement", "agreements"})
"""Ratios that may be given as a count of n, as in 9/12."""

_NEEDED: Mapping[Check, tuple[tuple[str, ...], ...]] = {
    "percentage": (("n",), ("beside", "most")),
    "mean": (("n",),),
    "two_proportion_p": tuple(("n1", "n2", first, second) for first in ("x1", "share1") for second in ("x2", "share2")),
    "stars": (("p", "one"),),
    "kappa": (("matrix",), ("n", "agreement")),
    "rater_agreement": (("n", "agreements"), ("n", "agreements", "kappas")),
    "sum": (("parts",),),
    "difference": (("a", "b"),),
    "relative_change": (("from", "to"),),
    "same": (("other",),),
    "share_of": (("part", "whole"),),
}
"""Check → the keys that it needs, in each way to give them."""

_PLACE_NAMES: Mapping[str, str] = {"other": "the other place"}
"""Key → the name of its place in a sentence, if it is not the key."""


class RowCells(Struct, frozen=True):
    """The content of a row: its printed figures, each with its measure, and its inputs."""

    id: str
    check: Check
    printed: tuple[tuple[str, Typed], ...]
    numbers: Numbers
    measure: str = ""


class UserRow(Struct, frozen=True):
    """One row as a paper of its own: each figure with a check has to hold, or, if `any_of`, one of them."""

    id: str
    check: Check
    printed: str
    paper: Paper
    any_of: bool = False


def user_row(cells: RowCells, printed: str) -> UserRow:
    """Return the row as figures with their derivations."""
    _check_needed(cells)
    inputs, matrices, named = _inputs(cells)
    measures = _measures(cells)
    beside = {} if len(cells.printed) == 1 else {measure: _name(cells.id, measure) for measure, _ in measures}
    shown = [
        structs.replace(
            number.figure(_name(cells.id, measure), cells.id, cells.id, measure or cells.check, unit),
            check=cells.check,
            inputs={other: name for other, name in beside.items() if other != measure} | named,
        )
        for (measure, number), unit in zip(measures, _printed_units(cells, [one for _, one in measures]), strict=True)
    ]
    if "total" in cells.numbers:
        same = Derivation("same", {"other": _name(cells.id, "total")})
        shown = [structs.replace(figure, inputs={"parts": named["parts"]}, also=(same,)) for figure in shown]
    paper = Paper(cells.id, cells.id, "", (*shown, *_with_matrix(cells, inputs)), matrices)
    return UserRow(cells.id, cells.check, printed, paper, len(measures) > len(cells.printed))


def with_agreements(rows: Sequence[RowCells]) -> list[RowCells]:
    """Return the rows; a kappa without an agreement and a matrix takes the agreement of the row that belongs to it."""
    shares = [row for row in rows if row.check == "percentage" and "n" in row.numbers]
    kappas = [row for row in rows if row.check == "kappa"]
    names = [_named(row) for row in shares], [_named(row) for row in kappas]
    agreements: list[RowCells] = []
    for row in rows:
        if row.check == "kappa" and not {"agreement", "matrix"} & row.numbers.keys():
            place = _named(row).agreement(*names)
            if place is not None:
                share = structs.replace(shares[place].printed[0][1], sign="%")
                numbers = {"n": shares[place].numbers["n"], **row.numbers, "agreement": ((share,),)}
                row = structs.replace(row, numbers=numbers)
        agreements.append(row)
    return agreements


def _named(cells: RowCells) -> Named:
    return Named(cells.id, cells.numbers["n"][0][0].number if "n" in cells.numbers else None)


def _check_needed(cells: RowCells) -> None:
    ways = _NEEDED.get(cells.check, ())
    if ways and not any(set(way) <= cells.numbers.keys() for way in ways):
        nearest = min(ways, key=lambda way: (len(set(way) - cells.numbers.keys()), -len(way)))
        least = [key for key in nearest if key not in cells.numbers]
        raise ValueError(f"{' and '.join(least)} {'is' if len(least) == 1 else 'are'} missing")


def _inputs(cells: RowCells) -> tuple[list[Figure], tuple[PrintedMatrix, ...], dict[str, str | tuple[str, ...]]]:
    figures: list[Figure] = []
    named: dict[str, str | tuple[str, ...]] = {}
    matrices: tuple[PrintedMatrix, ...] = ()
    for key, rows in cells.numbers.items():
        meaning = _meaning(cells, key)
        ids = [[_name(cells.id, key, *place) for place in _places(at, row, rows, key)] for at, row in enumerate(rows)]
        for names, row in zip(ids, rows, strict=True):
            for name, number in zip(names, row, strict=True):
                if key in _COUNTS and (number.sign or not number.is_whole or number.number < 0):
                    raise ValueError(f"{key} = {number.text} is not a whole count")
                if cells.check == "stars" and number.sign:
                    raise ValueError(f"{key} = {number.text} has a percent sign; write it as a fraction of 1")
                if key in ("step", "repeats") and number.number <= 0:
                    raise ValueError(f"{key} = {number.text} is not above 0")
                _check_agreement(cells, key, number)
                figures.append(
                    number.figure(name, _PLACE_NAMES.get(key, f"the key {key}"), cells.id, key, _unit(number, meaning))
                )
        if key == "matrix":
            matrices = (_matrix(cells.id, ids),)
            named[key] = matrices[0].id
        elif key in LISTS:
            named[key] = tuple(ids[0])
        else:
            named[key] = ids[0][0]
    return figures, matrices, named


def _places(at: int, row: Sequence[Typed], rows: Sequence[Sequence[Typed]], key: str) -> Iterable[tuple[int, ...]]:
    if key == "matrix":
        return [(at, column) for column in range(len(row))]
    return [()] if key not in LISTS and len(rows) == 1 else [(place,) for place in range(len(row))]


def _matrix(id_: str, ids: Sequence[Sequence[str]]) -> PrintedMatrix:
    if len(ids) < 2 or any(len(row) != len(ids) for row in ids):
        shape = " / ".join(str(len(row)) for row in ids)
        raise ValueError(f"the matrix has rows of {shape} cells, not as many rows as columns (write it as 8 1/2 9)")
    labels = tuple(str(place + 1) for place in range(len(ids)))
    return PrintedMatrix(_name(id_, "matrix"), "the key matrix", labels, labels, tuple(tuple(row) for row in ids))


def _name(id_: str, key: str, *place: int) -> str:
    """Return the id of an input: a row's own id never holds a tab."""
    return "\t".join([id_, key, *map(str, place)])


def _check_agreement(cells: RowCells, key: str, number: Typed) -> None:
    """Refuse a count of another number than n, and a possible count if no count of n is that percentage."""
    n = cells.numbers["n"][0][0] if "n" in cells.numbers else None
    if key not in PARTS_OF_N:
        return
    if number.out_of is not None:
        if n is not None and number.out_of != n.number:
            raise ValueError(f"{key} = {number.text} is not of n = {n.text}")
    elif not number.sign and number.is_whole and 1 < number.number <= (n.number if n else 0):
        if _is_percentage(number.number, n.number if n else Decimal(0)):
            return
        message = f"{key} = {number.text} may be a count or a percentage"
        raise ValueError(f"{message}; write a count as 9/12, a percentage as 75%, a fraction as 0.75")


def _is_percentage(percent: Decimal, n: Decimal) -> bool:
    half = Decimal("0.5")
    return ceil((percent - half) * n / 100) <= floor((percent + half) * n / 100)


def _meaning(cells: RowCells, key: str) -> Meaning:
    if key in _COUNTS:
        return "count"
    if key in _RATIOS:
        alike = ("share1", "share2") if key in ("share1", "share2") else (key,)
        numbers = [one for other in alike for row in cells.numbers.get(other, ()) for one in row]
        return "percent" if _in_percent(numbers) else "fraction"
    if cells.check == "stars":
        return "p"
    return "percent" if key == "beside" or _plain_percent(cells) else "number"


_UNITS: Mapping[Meaning, Unit] = {"percent": "share", "p": "p", "fraction": "coefficient", "count": "count"}


def _unit(number: Typed, meaning: Meaning) -> Unit:
    if number.out_of is not None:
        return "count"
    return _UNITS.get(meaning, "count" if number.is_whole else "number")


def _in_percent(numbers: Iterable[Typed]) -> bool:
    """Return whether fractions of 1 are given in percent: with the sign, or as more than 1; one sign is not for all."""
    shares = [number for number in numbers if number.out_of is None]
    signs = {bool(number.sign) for number in shares}
    if len(signs) > 1:
        with_sign = next(number for number in shares if number.sign)
        without = next(number for number in shares if not number.sign)
        raise ValueError(f"{with_sign.text} has a percent sign and {without.text} has none")
    return any(number.sign or number.number > 1 for number in shares)


def _plain_percent(cells: RowCells) -> bool:
    """Return whether open inputs are in percent: all of them say so, or their total does."""
    inputs = [number for rows in cells.numbers.values() for row in rows for number in row]
    signs = [bool(number.sign) for number in inputs]
    if any(signs) and not all(signs):
        raise ValueError("some inputs have a percent sign and some have not")
    joint = cells.check in ("sum", "difference", "same")
    return any(signs) or (joint and any(number.sign for _, number in cells.printed))


_PRINTED_UNITS: Mapping[Check, tuple[Unit, Unit]] = {
    "percentage": ("share", "share"),
    "stars": ("text", "text"),
    "two_proportion_p": ("share", "p"),
    "precision_recall": ("share", "coefficient"),
    "rater_agreement": ("share", "coefficient"),
    "kappa": ("share", "coefficient"),
    "mean": ("share", "number"),
    "relative_change": ("share", "number"),
    "share_of": ("share", "number"),
}
"""Check → the unit of its printed figure in percent, and that without a sign."""


def _printed_units(cells: RowCells, numbers: Sequence[Typed]) -> list[Unit]:
    if cells.check in _PRINTED_UNITS:
        is_ratio = cells.check in ("precision_recall", "rater_agreement")
        in_percent = _in_percent(numbers) if is_ratio else any(number.sign for number in numbers)
        return [_PRINTED_UNITS[cells.check][not in_percent]] * len(numbers)
    if not _plain_percent(cells):
        return [_unit(number, "number") for number in numbers]
    return ["difference" if cells.check == "difference" else _unit(number, "percent") for number in numbers]


def _measures(cells: RowCells) -> list[tuple[str, Typed]]:
    if cells.check != "precision_recall":
        return list(cells.printed)
    known = completed({key: 0 for key in cells.numbers if key in (*CELLS, *SUMS)}).keys()
    sized = bool(set(SUMS) & cells.numbers.keys())
    can = [measure for measure in MEASURES if sized or NEEDS[measure] <= known]
    unnamed = [measure for measure in can if measure not in cells.numbers][:3]
    if len(cells.printed) == 1 and not cells.printed[0][0]:
        number = cells.printed[0][1]
        words = [measure for measure in MEASURES if measure in cells.id.casefold()]
        names = [cells.measure] if cells.measure else words if len(words) == 1 else []
        named = [(measure, number) for measure in names or unnamed]
    else:
        named = list(cells.printed)
    for measure, _ in named:
        if measure not in can:
            lacking = " and ".join(sorted(NEEDS[measure] - known))
            raise ValueError(f"{measure} needs {lacking} too")
    if not named:
        raise ValueError("tp and fp, or tp and fn, are missing")
    return named


def _with_matrix(row_cells: RowCells, inputs: Sequence[Figure]) -> list[Figure]:
    """Return the inputs; beside a matrix, n has to be its sum and the agreement its diagonal as a share of that."""
    if "matrix" not in row_cells.numbers:
        return list(inputs)
    cells = tuple(figure.id for figure in inputs if figure.column == "matrix")
    rows = row_cells.numbers["matrix"]
    agreeing = sum(int(row[at].number) for at, row in enumerate(rows))
    total = sum(int(number.number) for row in rows for number in row)
    diagonal = _sum_of_cells(row_cells.id, "diagonal", agreeing)
    everything = _sum_of_cells(row_cells.id, "all cells", total)
    checked: list[Figure] = []
    for figure in inputs:
        if figure.column == "n":
            figure = structs.replace(figure, check="sum", inputs={"parts": cells})
        elif figure.column == "agreement":
            whole = {"part": diagonal.id, "whole": everything.id}
            is_count = figure.unit == "count"
            check, names = ("same", {"other": diagonal.id}) if is_count else ("share_of", whole)
            figure = structs.replace(figure, check=check, inputs=names)
        checked.append(figure)
    return [*checked, diagonal, everything]


def _sum_of_cells(id_: str, what: str, count: int) -> Figure:
    return Figure(_name(id_, what), f"the {what} of the matrix", id_, what, str(count), "count")

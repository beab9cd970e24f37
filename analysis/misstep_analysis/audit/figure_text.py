"""Numbers as people type them, read as printed figures: "49.0%", "< .001", "42,807", "−3.5 pp", "~14.3k".

A comma, an apostrophe or a narrow space groups thousands, and a point is before the decimals. Letters k and M
abbreviate thousands and millions, as in "42.8k". Unreadable text is an error with its reason.
"""

import re
from decimal import Decimal
from typing import Literal

from msgspec import Struct, structs

from misstep_analysis.published import Figure, too_many_digits
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

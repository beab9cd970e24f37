"""Made-up tables of known truth, printed as papers print.

A quantity keeps its exact value beside its print, so that it is known which other prints would be sound, too.
`generated_shapes` draws sound tables of them, `planted_errors` breaks them; the audit sees the printed `Paper` only.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from msgspec import Struct, structs

from misstep.analysis.published import Check, Derivation, Figure, Paper, PrintedMatrix
from misstep.analysis.tables import Unit

Rule = Literal["half_up", "half_even", "half_down", "binary", "cut_off"]
SOUND_RULES: tuple[Rule, ...] = ("half_up", "half_even", "binary")
"""Ties away from zero or to even, or the format of the nearest binary number."""

Inputs = dict[str, str | tuple[str, ...]]
Letter = Literal["", "k", "M"]

_LETTERS = {"k": 1_000, "M": 1_000_000}


class Style(Struct, frozen=True):
    """How one table prints its figures: the rounding rule, the digits of what is rounded, and signs."""

    rule: Rule = "half_up"
    digits: int = 1
    thousands: bool = True
    minus: str = "-"


class Quantity(Struct, frozen=True):
    """One cell of a made-up table.

    `value` is exact, a share as a fraction; `others` are values that a sound table might print instead (the p-value of
    another usual test, the difference of the rounded shares); `steps` is how many equal steps there are to 1 if
    nothing else printed fixes the value (a share of n cases without its count: n); `typed` is an erroneous print that
    overrides all. Without `digits` it is printed with those of the table.
    """

    id: str
    value: Fraction
    unit: Unit
    digits: int | None = None
    column: str = "Value"
    check: Check | None = None
    inputs: Inputs = {}
    also: tuple[Derivation, ...] = ()
    others: tuple[Fraction, ...] = ()
    steps: Fraction | None = None
    letter: Letter = ""
    signed: bool = False
    rule: Rule | None = None
    typed: str | None = None


class MadeTable(Struct, frozen=True):
    """A made-up table; `shape` is its kind, `n` its number of cases."""

    shape: str
    n: int
    style: Style
    quantities: tuple[Quantity, ...]
    matrices: tuple[PrintedMatrix, ...] = ()

    def __getitem__(self, id: str) -> Quantity:  # noqa: A002 (the figures' own word)
        return next(quantity for quantity in self.quantities if quantity.id == id)

    def changed(self, *quantities: Quantity) -> "MadeTable":
        """Return the same table with some quantities exchanged."""
        new = {quantity.id: quantity for quantity in quantities}
        return structs.replace(self, quantities=tuple(new.get(old.id, old) for old in self.quantities))

    def printed(self, id: str) -> str:  # noqa: A002 (the figures' own word)
        """Return a quantity as this table prints it."""
        return printed(self[id], self.style)

    def paper(self) -> Paper:
        """Return the table as a reader sees it."""
        figures = tuple(_figure(quantity, self.style) for quantity in self.quantities)
        return Paper(self.shape, f"A made-up table: {self.shape}", "Nobody", figures, self.matrices)


def printed(quantity: Quantity, style: Style) -> str:
    """Return a quantity as a table of this style prints it."""
    if quantity.typed is not None:
        return quantity.typed
    return _print(quantity, style, quantity.value, quantity.rule or style.rule)


def prints_sound(quantity: Quantity, style: Style, text: str) -> bool:
    """Return whether a sound table can print the quantity like this, by any usual rounding rule."""
    # What rounds to 0 is printed with its sign by some, without it by others.
    text = text if _number(text) else text.lstrip(f"-{style.minus}")
    candidates = [quantity.value, *quantity.others]
    if quantity.steps is not None:
        below = _number(text) / _scale(quantity) * quantity.steps // 1
        near = [(below + step) / quantity.steps for step in (-1, 0, 1, 2)]
        # A share is of a whole; a mean may be anything.
        candidates += [value for value in near if quantity.check != "percentage" or 0 <= value <= 1]
    return any(_print(quantity, style, value, rule) == text for value in candidates for rule in _sound_rules(value))


def rounded(value: Fraction, digits: int, rule: Rule) -> str:
    """Return an exact value with so many digits behind the point."""
    if rule == "binary":
        text = format(float(value), f".{digits}f")
        return text if Fraction(text) else text.lstrip("-")
    scaled = abs(value) * 10**digits
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    twice = 2 * rest - scaled.denominator
    tie_goes_up = {"half_up": True, "half_even": whole % 2 == 1}.get(rule, False)
    if rule != "cut_off" and (twice > 0 or (twice == 0 and tie_goes_up)):
        whole += 1
    text = f"{whole:0{digits + 1}d}"
    sign = "-" if value < 0 and whole else ""
    return sign + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)


def rounded_value(value: Fraction, digits: int, rule: Rule) -> Fraction:
    """Return the value that a print of another value has."""
    return Fraction(rounded(value, digits, rule))


def differing(table: MadeTable, sound: MadeTable) -> tuple[str, ...]:
    """Return the ids of the quantities that a table prints otherwise than a sound table may."""
    return tuple(
        quantity.id
        for quantity in table.quantities
        if not prints_sound(sound[quantity.id], sound.style, printed(quantity, table.style))
    )


def _sound_rules(value: Fraction) -> tuple[Rule, ...]:
    """Return the rules by which a value may print; a tie that is not binary goes down in some orders of computing."""
    in_binary = value.denominator & (value.denominator - 1) == 0
    return SOUND_RULES if in_binary else (*SOUND_RULES, "half_down")


def _print(quantity: Quantity, style: Style, value: Fraction, rule: Rule) -> str:
    digits = style.digits if quantity.digits is None else quantity.digits
    if quantity.unit == "p" and value < Fraction(1, 10**digits):
        return f"<{rounded(Fraction(1, 10**digits), digits, rule)}"
    scaled = value * _scale(quantity) / _LETTERS.get(quantity.letter, 1)
    if rule == "binary":
        scaled = Fraction(float(value) * _scale(quantity) / _LETTERS.get(quantity.letter, 1))
    text = rounded(scaled, digits, rule)
    whole, point, behind = text.removeprefix("-").partition(".")
    grouped = f"{int(whole):,}" if style.thousands else whole
    sign = style.minus if text.startswith("-") else "+" if quantity.signed and Fraction(text) else ""
    return sign + grouped + point + behind + quantity.letter + _ENDS.get(quantity.unit, "")


def _figure(quantity: Quantity, style: Style) -> Figure:
    text = printed(quantity, style)
    plain = None
    if text.endswith(tuple(_LETTERS)):
        value = _number(text) * _LETTERS[text[-1]]
        plain = str(value.numerator) if value.denominator == 1 else str(float(value))
    return Figure(
        id=quantity.id,
        place="A made-up table",
        row=quantity.id,
        column=quantity.column,
        printed=text,
        unit=quantity.unit,
        value=plain,
        check=quantity.check,
        inputs=quantity.inputs,
        also=quantity.also,
    )


def _number(text: str) -> Fraction:
    plain = text.replace(",", "").replace("\N{MINUS SIGN}", "-").lstrip("<+").rstrip("%kM ").removesuffix("pp")
    return Fraction(plain)


def _scale(quantity: Quantity) -> int:
    return 100 if quantity.unit in _ENDS else 1


_ENDS: dict[Unit, str] = {"share": "%", "difference": "pp"}


def names(prefix: str, how_many: int) -> tuple[str, ...]:
    """Return ids of quantities of one kind."""
    return tuple(f"{prefix}{place}" for place in range(1, how_many + 1))


def table(
    shape: str, n: int, style: Style, quantities: Iterable[Quantity], matrices: tuple[PrintedMatrix, ...] = ()
) -> MadeTable:
    """Return a table of quantities given one by one."""
    return MadeTable(shape, n, style, tuple(quantities), matrices)

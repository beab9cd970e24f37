"""A condition on columns, such as `model = 'x' and (n_steps > 50 or success is null)`: read strictly, never evaluated.

A test is `COLUMN = LITERAL` (or `!=`, `<`, `<=`, `>`, `>=`), `COLUMN is null` or `COLUMN is not null`. A literal is a
`'text'` (two quotes in a row are one quote in it), a number, `true` or `false`. Tests are joined with `and`, `or`,
`not` and parentheses, which bind as in SQL.
"""

import re
from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any

from misstep.harness.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

_TOKEN = re.compile(
    r"\s*+(?:(?P<text>'(?:[^']|'')*+')|(?P<number>-?\d[\d.eE+-]*+)|(?P<word>\w++)|(?P<sign>[<>!]=|[<>=()]))"
)
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_TRUTH = {"true": True, "false": False}
_WORDS = {"and", "or", "not", "is", "null", *_TRUTH}

Literal = str | int | float | bool


def condition(text: str, columns: "pa.Schema") -> "pc.Expression":
    """Return the condition as an expression of Arrow's."""
    reading = _Reading(text, columns)
    try:
        whole = reading.any_of()
    except RecursionError:
        raise reading.refused("its parentheses are too deep") from None
    reading.end()
    return whole


class _Reading:
    def __init__(self, text: str, columns: "pa.Schema") -> None:
        self._text = text
        self._columns = columns
        self._place = 0
        self._tokens: list[tuple[str, str]] = []
        while text[self._place :].strip():
            match = _TOKEN.match(text, self._place)
            if match is None:
                raise self.refused(f"{text[self._place :].strip()[:20]!r} is not a column, operator or literal")
            self._tokens.append((str(match.lastgroup), match[0].strip()))
            self._place = match.end()
        self._place = 0

    def any_of(self) -> "pc.Expression":
        whole = self._all_of()
        while self._take("or"):
            whole = whole | self._all_of()
        return whole

    def end(self) -> None:
        if self._place < len(self._tokens):
            raise self.refused(f"{self._tokens[self._place][1]!r} is where `and`, `or` or the end must be")

    def _all_of(self) -> "pc.Expression":
        whole = self._one()
        while self._take("and"):
            whole = whole & self._one()
        return whole

    def _one(self) -> "pc.Expression":
        if self._take("not"):
            return ~self._one()
        if self._take("("):
            inner = self.any_of()
            self._expect(")")
            return inner
        return self._test()

    def _test(self) -> "pc.Expression":
        import pyarrow.compute as pc

        kind, name = self._next("a column")
        if kind != "word" or name.lower() in _WORDS:
            raise self.refused(f"{name!r} is where a column must be")
        if name not in self._columns.names:
            raise self.refused(f"unknown column {name!r}; known are {', '.join(self._columns.names)}")
        if self._take("is"):
            negated = self._take("not")
            self._expect("null")
            missing = pc.field(name).is_null()
            return ~missing if negated else missing
        _, sign = self._next("an operator")
        if sign not in _COMPARE:
            raise self.refused(f"{sign!r} is where one of {' '.join(_COMPARE)} or `is` must be")
        return _COMPARE[sign](pc.field(name), pc.scalar(self._literal(name)))

    def _literal(self, column: str) -> Literal:
        import pyarrow.types as kinds

        kind, word = self._next("a literal")
        value: Literal
        if kind == "text":
            value = word[1:-1].replace("''", "'")
        elif word.lower() in _TRUTH:
            value = _TRUTH[word.lower()]
        elif kind == "number":
            value = self._number(word)
        else:
            raise self.refused(f"{word!r} is where a literal must be: 'text' in quotes, a number, true or false")
        held = self._columns.field(column).type
        fits = {
            str: kinds.is_string(held) or kinds.is_large_string(held),
            bool: kinds.is_boolean(held),
            int: kinds.is_integer(held) or kinds.is_floating(held),
            float: kinds.is_integer(held) or kinds.is_floating(held),
        }
        if not fits[type(value)]:
            raise self.refused(f"{column} holds {held}, and {word} is not")
        return value

    def _number(self, word: str) -> int | float:
        try:
            return int(word) if word.lstrip("-").isdigit() else float(word)
        except ValueError:
            raise self.refused(f"{word!r} is not a number") from None

    def _take(self, word: str) -> bool:
        there = self._place < len(self._tokens) and self._tokens[self._place][1].lower() == word
        self._place += there
        return there

    def _expect(self, word: str) -> None:
        if not self._take(word):
            _, other = self._next(repr(word))
            raise self.refused(f"{other!r} is where {word!r} must be")

    def _next(self, what: str) -> tuple[str, str]:
        if self._place == len(self._tokens):
            raise self.refused(f"it ends where {what} must follow")
        self._place += 1
        return self._tokens[self._place - 1]

    def refused(self, why: str) -> UsageError:
        return UsageError(
            f"{self._text!r} is not a condition: {why}", "Write one such as \"model = 'x' and n_steps > 50\"."
        )

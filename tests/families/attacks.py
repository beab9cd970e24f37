"""Texts that make a regular expression slow, made from the expression itself.

A pattern that backtracks is slow on what nearly matches it: what a repeat of it repeats, many times over, after what
must stand before the repeat and without what must follow. Both are read off its parse tree.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from time import thread_time
from typing import Any

_SIGNS = "a \n1<-_/.\"'x:\t|#`[(A,>*=é\x00"
_MOST_UNITS = 40

LENGTH = 256
TIMES_LONGER = 16
MOST_GROWTH = 64.0
"""How many times longer a text of 16 times the length may take: n log n needs 23, a square 256."""

_QUICK = 0.000_2
"""Seconds: what takes less on the longest text is not looked at again."""

_STUCK = 0.1

_UNBOUNDED = re.compile(r"[*+]|\{\d*,")
"""What a pattern has that repeats anything; without it, the work at each sign is bounded."""

Search = Callable[[str], object]


def uses_of(pattern: "re.Pattern[str]", methods: Iterable[str]) -> list[Search]:
    """What is done with a pattern, each as a function of a text that works through all of it."""
    every: dict[str, Search] = {
        "match": pattern.match,
        "fullmatch": pattern.fullmatch,
        "findall": lambda text: sum(1 for _ in pattern.finditer(text)),
        "sub": lambda text: pattern.sub("", text),
    }
    return [every.get(method, every["findall"]) for method in methods]


def slowest(pattern: "re.Pattern[str]", searches: Iterable[Search]) -> tuple[float, str] | None:
    """The growth of a pattern from n to 16 n where it is faster than n log n, and on what; `None` where none is."""
    searches = list(searches) if _UNBOUNDED.search(pattern.pattern) else []
    for make in attacks(pattern):
        for search in searches:
            if (growth := _growth(search, make)) > MOST_GROWTH:
                return growth, make(24)
    return None


def _growth(search: Search, make: Callable[[int], str]) -> float:
    """The growth from n to 16 n, of processor time; again and again while it looks too large, to rule out noise."""
    seconds = 0.0
    for length in (16, 24, 32, 40, 48, 64, 96, LENGTH, 4 * LENGTH):
        if (seconds := _seconds(search, make(length))) > _STUCK:
            return math.inf
    if seconds < _QUICK / 16:  # what grows as a square is quick on four times the text, too
        return 1.0
    shorter, longer = make(LENGTH), make(LENGTH * TIMES_LONGER)
    first = _seconds(search, shorter)
    last = _seconds(search, longer)
    for _ in range(4):
        if last < max(_QUICK, first * MOST_GROWTH) or last > 10 * _STUCK:
            break
        first, last = max(first, _seconds(search, shorter)), min(last, _seconds(search, longer))
    return last / first if last > _QUICK else 1.0


def _seconds(search: Search, text: str) -> float:
    started = thread_time()
    search(text)
    return max(thread_time() - started, 1e-6)


def attacks(pattern: "re.Pattern[str]") -> Iterator[Callable[[int], str]]:
    """Texts of any length that nearly match, as functions of about how many characters they are to have."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    seen: set[tuple[str, str, str, str]] = set()

    def one(before: str, unit: str, after: str, end: str) -> Iterator[Callable[[int], str]]:
        if unit and (before, unit, after, end) not in seen:
            seen.add((before, unit, after, end))
            yield lambda n: before + unit * max(n // len(unit), 1) + after + end

    whole = _witness(tree)
    units = dict.fromkeys(_units(tree, ""))
    for before, unit in [*units][:_MOST_UNITS]:
        yield from one(before, unit, "", "\x00")
        yield from one("", before + unit, "", "")
        yield from one("", f"{before}{unit}\n", "", "")
        yield from one(before, unit + " ", "", "\x00")
    for text in (whole, whole[:-1], whole[1:], whole[: len(whole) // 2]):
        yield from one("", text, "", "\x00")
        yield from one("", text + " ", "", "")
    for sign in (" ", "\n", "a", "1", "a ", ".", "/", "-"):
        yield from one("", sign, "", "\x00")
        yield from one(whole[:1], sign, "", "\x00")


def _units(nodes: Any, before: str) -> Iterator[tuple[str, str]]:
    """What stands before each repeat in a pattern, and each of the texts that it repeats."""
    for node in nodes:
        operation, argument = node
        if operation in _REPEATS:
            low, high, body = argument
            if high > 8:
                for unit in _texts(body):
                    yield before, unit
                    yield _witness(body) * low + before, unit
            yield from _units(body, before)
        elif operation is sre.SUBPATTERN:
            yield from _units(argument[-1], before)
        elif operation in (sre.ATOMIC_GROUP, sre.ASSERT, sre.ASSERT_NOT):
            yield from _units(argument if operation is sre.ATOMIC_GROUP else argument[1], before)
        elif operation is sre.BRANCH:
            for branch in argument[1]:
                yield from _units(branch, before)
        before += _witness([node])
        if len(before) < 400:
            yield "", before


_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


def _texts(nodes: Any) -> list[str]:
    """Short texts that a sequence matches, one for each way that it may go, at most eight."""
    texts = [""]
    for operation, argument in nodes:
        if operation is sre.BRANCH:
            ways = [text for branch in argument[1] for text in _texts(branch)[:2]]
        elif operation in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
            ways = _texts(argument if operation is sre.ATOMIC_GROUP else argument[-1])
        elif operation in _REPEATS:
            low, high, body = argument
            ways = [text * max(low, min(1, high)) for text in _texts(body)]
            ways += [""] if low == 0 else []
        else:
            ways = list(_signs(operation, argument)) or [""]
        texts = [text + way for text in texts for way in ways][:8]
    return [text for text in texts if text] or [""]


def _witness(nodes: Any) -> str:
    """One short text that a sequence matches, its assertions aside."""
    return _texts(nodes)[0]


def _signs(operation: Any, argument: Any) -> Iterator[str]:
    """Some of the signs that one place of a pattern may be."""
    if operation is sre.LITERAL:
        yield chr(argument)
    elif operation is sre.NOT_LITERAL:
        yield from [sign for sign in _SIGNS if ord(sign) != argument][:3]
    elif operation is sre.ANY:
        yield from "a "
    elif operation is sre.IN:
        inside = [sign for sign in _SIGNS if _is_in(sign, argument)]
        listed = [chr(value) for kind, value in argument if kind is sre.LITERAL]
        yield from dict.fromkeys([*(inside[:3] or []), *(listed[:3] if argument[0][0] is not sre.NEGATE else [])])
        if not inside and not listed:
            yield from [chr(value[0]) for kind, value in argument if kind is sre.RANGE][:1]


def _is_in(sign: str, items: Any) -> bool:
    return any(_is_one(sign, kind, value) for kind, value in items) != (items[0][0] is sre.NEGATE)


def _is_one(sign: str, kind: Any, value: Any) -> bool:
    if kind is sre.LITERAL:
        return ord(sign) == value
    if kind is sre.RANGE:
        return bool(value[0] <= ord(sign) <= value[1])
    if kind is sre.CATEGORY:
        name = str(value).lower()
        inside = {"space": sign.isspace(), "digit": sign.isdecimal(), "word": sign.isalnum() or sign == "_"}
        return next(is_it for category, is_it in inside.items() if category in name) != ("not" in name)
    return False

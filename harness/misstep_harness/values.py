"""Write values as formats hold them, or tell them apart, without recursion and in time linear in their size."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from math import fsum
from operator import itemgetter
from typing import Any, TypeVar

import msgspec

Figure = TypeVar("Figure", int, float)

_INDENTED = 20
"""Levels written on lines of their own; deeper ones are on one line, or their spaces would outgrow the rest."""

_PRINTED_DIGITS = 4000
"""Digits of a whole number up to which Python prints it in decimals."""

_WHOLE = 1 << 53
"""Floats below this that are whole numbers are written as such: 1.0 is 1."""

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises of JSON that somebody else wrote; the last of values that are nested too deeply."""

_encoded = json.encoder.encode_basestring


def digest(value: Any, even: Callable[[str], str] = str.strip) -> bytes:
    """What is equal for equal values: the keys of an object in any order, numbers by their value, texts as `even` says.

    A number equals the text that it prints as, and 1 equals 1.0; `true` equals neither 1 nor `"1"`.
    """
    hashed = blake2b(digest_size=16)
    todo = [value]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            hashed.update(b"{%d:" % len(value))
            for key, item in sorted(((str(key), item) for key, item in value.items()), key=itemgetter(0), reverse=True):
                todo += (item, _Name(key))
        elif isinstance(value, list | tuple):
            hashed.update(b"[%d:" % len(value))
            todo += reversed(value)
        else:
            text = value if isinstance(value, _Name) else even(value) if isinstance(value, str) else plain(value)
            encoded = text.encode("utf-8", "surrogatepass")
            hashed.update(b"%d:" % len(encoded))
            hashed.update(encoded)
    return hashed.digest()


def plain(value: Any) -> str:
    """Return a value that is not text, list or object, as JSON prints it; a float that is a whole number as that."""
    if value.__class__ is int:
        return _whole(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else repr(value)
    return _whole(value) if isinstance(value, int) else str(value)


def as_json(value: Any, *, indented: bool = True) -> str:
    """Return a value as JSON, for people on lines of their own; what JSON has no form for is written as text."""
    return "".join(_pieces(value, _INDENTED if indented else 0))


class _Name(str):
    """The name of a field, among values."""

    __slots__ = ()


class _Mark(str):
    """The text that is written as it is."""

    __slots__ = ()


def _pieces(value: Any, levels: int) -> Iterator[str]:
    todo: list[tuple[Any, int]] = [(value, 0)]
    while todo:
        value, depth = todo.pop()
        if isinstance(value, _Mark):
            yield value
        elif isinstance(value, str):
            yield _encoded(value)
        elif isinstance(value, dict | list | tuple):
            inside = list(value.items()) if isinstance(value, dict) else list(value)
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            if not inside:
                yield opening + closing
                continue
            shallow = depth < levels
            between = _Mark(",\n" + " " * (depth + 1) if shallow else ", ")
            yield opening + (between[1:] if shallow else "")
            todo.append((_Mark(("\n" + " " * depth if shallow else "") + closing), 0))
            for place in range(len(inside) - 1, -1, -1):
                if isinstance(value, dict):
                    name, item = inside[place]
                    todo.append((item, depth + 1))
                    todo.append((_Mark(f"{_encoded(name if isinstance(name, str) else plain(name))}: "), 0))
                else:
                    todo.append((inside[place], depth + 1))
                if place:
                    todo.append((between, 0))
        elif value is None or isinstance(value, bool):
            yield plain(value)
        elif isinstance(value, int):
            yield _whole(value)
        else:
            yield json.dumps(value) if isinstance(value, float) else _encoded(str(value))


def _whole(value: int) -> str:
    return str(value) if value.bit_length() < 3 * _PRINTED_DIGITS else hex(value)


def csv_lines(rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as lines of CSV."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def known_sum(values: Iterable[Figure | None]) -> Figure | None:
    """Return the sum of the values that are known, which their order does not change; `None` if none is."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    exact: Any = sum(known) if all(isinstance(one, int) for one in known) else fsum(known)
    total: Figure = exact
    return total

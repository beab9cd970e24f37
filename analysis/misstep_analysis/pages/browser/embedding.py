"""Data inside a page: JSON that no text can break out of, compressed if it is large.

A page's script reads `<script type="application/json">`: a value, or the Base64 of its JSON compressed by zlib:

    {"ids": ["i0", "i1"], "labels": ["fruit"]}        "eJyrVspMKVayUlDKNFTSUcpNLC5WslJQSgezzZRqAY5jCI0="

Neither holds a `<`, `>` or `&`, so that nothing in them ends the element or starts another.
"""

import heapq
import zlib
from base64 import b64encode
from typing import Any

import msgspec

from misstep_harness.escaping import printable

PLAIN_UP_TO = 2_000
_LEVEL = 6
_MARKUP = frozenset("<>&")
_AS_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def embedded(value: Any) -> str:
    """Return a value of structs, lists and dicts as the content of a script element, every text in it printable."""
    content = msgspec.json.encode(_shown(msgspec.to_builtins(value)))
    if len(content) <= PLAIN_UP_TO:
        return content.decode().translate(_AS_ESCAPES)
    return f'"{b64encode(zlib.compress(content, _LEVEL)).decode()}"'


def is_embedded(text: str) -> bool:
    """Return whether a stored text may be in a script element: nothing in it ends the element or starts another."""
    return not _MARKUP.intersection(text)


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list | tuple):
        return [_shown(one) for one in value]
    if isinstance(value, dict):
        return {name: _shown(one) for name, one in value.items()}
    return value


class Pieces:
    """Parts of a page by name; the least wanted go when all together are larger than `most_bytes` in the page.

    No more than the bound is held at once.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._count = 0
        self._lost = -1
        self._parts: list[tuple[int, int, str, str]] = []

    def wants(self, rank: int) -> bool:
        """Return whether a part of this rank may be kept: not if the bound has cost a part that ranks as high."""
        return rank > self._lost

    def add(self, name: str, rank: int, value: Any) -> None:
        """Keep a part; of those that do not fit, the latest of the lowest rank goes."""
        self.add_embedded(name, rank, embedded(value))

    def add_embedded(self, name: str, rank: int, text: str) -> None:
        """Keep a part that is the content of a script element already."""
        heapq.heappush(self._parts, (rank, -self._count, name, text))
        self._count += 1
        self._size += len(text.encode())
        while self._size > self._most and self._parts:
            rank, _, _, gone = heapq.heappop(self._parts)
            self._size -= len(gone.encode())
            self._lost = max(self._lost, rank)

    def contents(self) -> dict[str, str]:
        """Return the kept parts in the order in which they came: name → the content of its script element."""
        return {name: text for _, _, name, text in sorted(self._parts, key=lambda one: -one[1])}

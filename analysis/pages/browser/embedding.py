"""Data inside a page: JSON that no text can break out of, compressed if it is large.

A page's script reads `<script type="application/json">`: a value, or the Base64 of its JSON compressed by zlib:

    {"ids": ["i0", "i1"], "labels": ["fruit"]}        "eJyrVspMKVayUlDKNFTSUcpNLC5WslJQSgezzZRqAY5jCI0="

Neither holds a `<`, `>` or `&`, so that nothing in them ends the element or starts another.
"""

import zlib
from base64 import b64encode
from typing import Any

import msgspec

from misstep.harness.escaping import printable

PLAIN_UP_TO = 2_000
"""How many bytes of JSON are in a page uncompressed."""

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

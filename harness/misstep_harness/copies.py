"""Name the folders of local copies of what lies at an address, and the address of a copy.

What lies below `s3://bucket/logs/` is copied into a folder whose name is that address, percent-encoded, in the folder
`addresses` of the cache. A name of over 200 characters is several folders, one in the other, of which only the last
ends in a slash. Records, pages and errors name the address instead of the copy.
"""

import re
from urllib.parse import quote, unquote

FOLDER = "addresses"
"""The folder of the cache in which the copies lie."""

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
GLOB = re.compile(r"[*?[]")
"""A sign that an address names all files that match it."""

_LONGEST = 200
_SLASH = "%2F"
_MARK = "%3A%2F%2F"
_COPY = re.compile(rf"(?:\A|/){FOLDER}/(?=[a-z][a-z0-9+.-]+{_MARK})")


def is_address(text: str) -> bool:
    """Return whether a text names a place by `scheme://` rather than by a path."""
    return _ADDRESS.match(text) is not None


def folder_names(top: str) -> tuple[str, ...]:
    """Return the folders, each in the one before it, for what lies below an address that ends in `/`."""
    text, pieces = quote(top, safe=""), []
    while len(text) > _LONGEST:
        end = _LONGEST
        while text[:end].endswith(("%", "%2", _SLASH)):
            end -= 1
        pieces.append(text[:end])
        text = text[end:]
    return (*pieces, text)


def address_text(path: str) -> str:
    """Return a path as it is; of a local copy the address that it is a copy of."""
    match = _COPY.search(path) if _MARK in path else None
    if match is None:
        return path
    pieces = path[match.end() :].split("/")
    last = next((place for place, piece in enumerate(pieces) if piece.endswith(_SLASH)), None)
    if last is None:
        return path
    top, name = unquote("".join(pieces[: last + 1])), "/".join(pieces[last + 1 :])
    if not name:
        return top if top.endswith("://") else top.removesuffix("/")
    glob = GLOB.search(top)
    return (top[: top.rindex("/", 0, glob.start()) + 1] if glob else top) + name

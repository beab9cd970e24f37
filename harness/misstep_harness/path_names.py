"""Name paths and addresses in texts: the address of a local copy, and a private path by its last name alone.

What lies below `s3://bucket/logs/` is copied into a folder whose name is that address, percent-encoded, in the folder
`addresses` of the cache. A name of over 200 characters is several folders, one in the other, of which only the last
ends in a slash. Records, pages and errors name the address instead of the copy.

In a file that is passed on, a path of a command line becomes its last name, and what lies below it is named from
there. The present folder is left out, and the home is `~`. A base URL becomes `[base-url]`, an address of a private
store its last name.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import quote, unquote, urlsplit

SERVER, HERE, HOME = "[base-url]", ".", "~"
"""The names of a server that was asked, of the present folder and of the home."""

_BASE_URL = "--base-url"
_PUBLIC = "hf://"
_ENDS = r"(?=[/\\\s'\"`:;,.)\]}?]|\Z)"

Places = Mapping[str, str]
"""A path, an address or the beginning of a URL → its name."""


def private_places(arguments: Iterable[str], folders: Iterable[str] = (), servers: Iterable[str] = ()) -> Places:
    """The places that a command line names, and others, each with its name in a file that is passed on."""
    places: dict[str, str] = {}
    addresses = list(servers)
    named = list(folders)
    for before, word in pairwise(["", *arguments]):
        option, equals, value = word.partition("=") if word.startswith("--") else (before, "=", word)
        (addresses if equals and option == _BASE_URL else named).append(value)
    for url in filter(None, addresses):
        parts = urlsplit(url)
        places[f"{parts.scheme}://{parts.netloc}" if parts.netloc else url] = SERVER
    for one in named:
        place = one.rstrip("/\\")
        if is_absolute(place) or (is_address(place) and not place.startswith(_PUBLIC)):
            places.setdefault(place, _last_name(place))
    home = str(Path.home())
    places.setdefault(str(Path.cwd()), HERE)
    if home not in ("/", "/root"):  # in a container that is where any agent works
        places.setdefault(home, HOME)
    places.pop("/", None)
    return places


def without_places(text: str, places: Places) -> str:
    """Return a text in which their names replace private places and the paths below them."""
    if not places or not any(place in text for place in places):
        return text
    longest_first = sorted(places, key=len, reverse=True)
    pattern = rf"(?<![\w.~])(?:{'|'.join(map(re.escape, longest_first))}){_ENDS}(?:/(?=\.?\w))?"
    return re.sub(pattern, lambda match: _stand_in(match[0], places), text)


def _stand_in(place: str, places: Places) -> str:
    name = places[place.removesuffix("/") if place.endswith("/") and place not in places else place]
    return "" if name == HERE and place.endswith("/") else f"{name}/" if place.endswith("/") else name


def without_folders(place: str) -> str:
    """Return the last name of a place where it is an absolute path or a private address; else the place."""
    private = is_absolute(place) or (is_address(place) and not place.startswith(_PUBLIC))
    return _last_name(place.rstrip("/\\")) if private else place


def is_absolute(text: str) -> bool:
    """Return whether a text is a path from the root of a machine, of any system."""
    return "\n" not in text and (PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute())


def _last_name(place: str) -> str:
    return re.split(r"[/\\]", place)[-1] or place


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

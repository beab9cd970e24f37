"""Take out of a file that is passed on where things lie on this machine, and which server was asked.

A path that a command line names becomes its last name, and what lies below it is named from there; the present folder
is left out, and the home is `~`. A base URL becomes `[base-url]`, an address of a private store its last name.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import urlsplit

from misstep_harness.copies import is_address

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

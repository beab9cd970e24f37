"""Long texts that are in an ATIF document many times, as when steps refer to one attachment: written once.

The first place has the text, each further one says where that is, and `extra.misstep.repeated` names the places (JSON
pointers). A document is left alone unless what it repeats is most of it:

    {"repeated": {"/steps/2/observation/results/0/content": ["/steps/4/observation/results/0/content"]}}
"""

from collections.abc import Iterator
from typing import Any

LONG = 500
"""From how many characters on a text is written once."""

REPEATED, _OWN = "repeated", "misstep"
_LARGEST = 64 << 20


def folded(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document, or if repeated texts are most of it, one that has each once; `unfolded` is the inverse."""
    places: dict[str, list[str]] = {}
    for pointer, text in _texts(document):
        places.setdefault(text, []).append(pointer)
    repeated = {text: where for text, where in places.items() if len(where) > 1 and len(text) >= LONG}
    if sum(len(text) * (len(where) - 1) for text, where in repeated.items()) <= sum(map(len, places)):
        return document
    copy: dict[str, Any] = _copied(document)
    for first, *others in repeated.values():
        for pointer in others:
            _put(copy, pointer, f"[The same text as in {first}]")
    own = copy.setdefault("extra", {}).setdefault(_OWN, {})
    own[REPEATED] = {first: others for first, *others in repeated.values()}
    return copy


def unfolded(document: Any) -> Any:
    """Return the document with every text in its places."""
    if not (repeated := repeated_in(document)):
        return document
    copy, left = _copied(document), _LARGEST
    del copy["extra"][_OWN][REPEATED]
    for first, others in repeated.items():
        text = _at(copy, first)
        left -= len(text) * len(others)
        if left < 0:
            raise ValueError(f"the repeated texts come to over {_LARGEST >> 20} MiB")
        for pointer in others:
            _at(copy, pointer)
            _put(copy, pointer, text)
    return copy


def repeated_in(document: Any) -> dict[str, list[str]]:
    """Return first place → the others, of the texts that a document has once; empty if it was not folded."""
    table: Any = document
    for name in ("extra", _OWN, REPEATED):
        table = table.get(name) if isinstance(table, dict) else None
    is_table = isinstance(table, dict) and all(isinstance(others, list) for others in table.values())
    return dict(table) if is_table else {}


def _texts(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    pending: list[tuple[str, Any]] = [("", document)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, str):
            yield pointer, value
        elif isinstance(value, dict):
            pending += [(f"{pointer}/{_escaped(name)}", value[name]) for name in reversed(value)]
        elif isinstance(value, list):
            pending += [(f"{pointer}/{place}", value[place]) for place in range(len(value) - 1, -1, -1)]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _parent(document: Any, pointer: str) -> tuple[Any, str | int]:
    *names, last = [name.replace("~1", "/").replace("~0", "~") for name in str(pointer).split("/")[1:]] or [""]
    value = document
    for name in names:
        value = _child(value, name)
    return value, int(last) if isinstance(value, list) and last.isdecimal() else last


def _child(value: Any, name: str | int) -> Any:
    try:
        return value[int(name) if isinstance(value, list) and str(name).isdecimal() else name]
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{name!r} is named as the place of a repeated text, and does not exist") from error


def _at(document: Any, pointer: str) -> str:
    text = _child(*_parent(document, pointer))
    if not isinstance(text, str):
        raise ValueError(f"{pointer!r} is named as the place of a repeated text, and holds none")
    return text


def _put(document: Any, pointer: str, text: str) -> None:
    value, name = _parent(document, pointer)
    value[name] = text


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(item) for name, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value

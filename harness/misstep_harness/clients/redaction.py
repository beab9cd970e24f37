"""Secrets never leave: whatever a server sends back is cleaned of them before it is cut, kept or shown."""

import re
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from unicodedata import normalize

from msgspec import Struct

SHOWN_INSTEAD = "[API key]"
OTHERS_SHOWN_INSTEAD = "[secret]"

_SHORTEST = 6
"""A secret shorter than this is a placeholder for a server that wants none, and may be any word of a text."""

_SHORTEST_ENCODED = 12
"""Below this, what is sure in the base64 of a secret is too short to tell it by."""

_BLOCK = 6
_RUN = 2 * _BLOCK - 1
"""So many characters of a secret in a row are taken for a part of it; any such run holds a whole block."""

_SHORTEST_IN_PARTS = 16

_SHORTEST_BARE = 12
"""Below this, letters and digits in a row with any other characters between may be chance."""

_LEVELS = 4
"""How often over a secret may be escaped: JSON in JSON in a URL."""

_ESCAPE = re.compile(
    r"\\{1,8}(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|[nrtbf])?"
    r"|%([0-9a-fA-F]{2})|&(?:\#[xX]([0-9a-fA-F]{1,6})|\#([0-9]{1,7})|(amp|lt|gt|quot|apos));?"
)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_TAG = re.compile(r"<[^<>]*>")
_NO_LETTER = re.compile(r"[\W_]+")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_UNSEEN = re.compile(r"[\x00\u00ad\u200b-\u200f\u2060\ufeff\ufffd]")
_BETWEEN = (
    r"(?:[\s\x00\u00ad\u200b-\u200f\u2060\ufeff\ufffd]|<[^<>]*>|%(?:25)*(?:0[09aAdD]|20)"
    r"|\\{1,8}(?:[nrtbf]|u(?i:00(?:0[09ad]|20|ad)|200[b-f]|2060|feff|fffd|d[89a-f][0-9a-f]{2})))*+"
)
"""Characters that may be inside a secret and are not seen on a page or in a line."""


class _Secret(Struct, frozen=True):
    text: str
    shown_instead: str
    forms: tuple[str, ...]
    bare: str


class Redaction:
    """Takes secrets out of texts."""

    def __init__(self, key: str, others: Iterable[str] = ()) -> None:
        shown = {secret.strip(): OTHERS_SHOWN_INSTEAD for secret in others} | {key.strip(): SHOWN_INSTEAD}
        longest_first = sorted(shown.items(), key=lambda named: -len(named[0]))
        self._secrets = tuple(
            _Secret(text, instead, tuple(dict.fromkeys((text, *_encoded(text)))), _told_bare(text))
            for text, instead in longest_first
            if len(text) >= _SHORTEST
        )

    def __call__(self, text: str) -> str:
        """Return the text with the key shown as `[API key]`, and other secrets as `[secret]`."""
        for secret in self._secrets:
            for form in secret.forms:
                text = text.replace(form, secret.shown_instead)
        unescaped = _unescaped(text) if self._secrets else ""
        for secret in self._secrets:
            for form in secret.forms:
                if _signs(form) not in unescaped:
                    continue
                text = _spellings(form).sub(secret.shown_instead, text)
                unescaped = _unescaped(text)
                if _signs(form) in unescaped:
                    return secret.shown_instead
        for secret in filter(_told_by_parts, self._secrets):
            whole = _without_parts(text, secret.text, secret.shown_instead)
            unescaped = unescaped if whole == text else _unescaped(whole)
            if any(_runs(unescaped, secret.text)):
                return secret.shown_instead
            text = whole
        strewn = [secret for secret in self._secrets if secret.bare]
        bare = _bare(unescaped) if strewn else ""
        return next((secret.shown_instead for secret in strewn if secret.bare in bare), text)


def _unescaped(text: str) -> str:
    for _ in range(_LEVELS):
        meant = _ESCAPE.sub(_meant, text)
        if meant == text:
            break
        text = meant
    if not text.isascii() or "\0" in text:
        text = _UNSEEN.sub("", text)
    return _signs(_TAG.sub("", text))


def _meant(escape: re.Match[str]) -> str:
    if escape[7]:
        return _NAMED[escape[7]]
    number = int(escape[6]) if escape[6] else int(next(filter(None, escape.groups()), "0"), 16)
    return chr(number) if 0 < number < sys.maxunicode else ""


def _signs(form: str) -> str:
    return "".join(form.split())


@lru_cache(maxsize=64)
def _spellings(form: str) -> re.Pattern[str]:
    return re.compile(_BETWEEN.join(map(_spelt, _signs(form))))


def _spelt(character: str) -> str:
    code = f"0*(?i:{ord(character):x})"
    backslash = "" if character.isalnum() else r"\\{1,8}" + re.escape(character) + "|"
    named = "".join(f"|&(?:amp;)*{name};" for name, meant in _NAMED.items() if meant == character)
    return (
        rf"(?:{re.escape(character)}|{backslash}\\{{1,8}}(?:u\{{?{code}\}}?|x{code})|%(?:25)*{code}"
        rf"|&(?:amp;)*\#(?:0*{ord(character)}|[xX]{code});?{named})"
    )


def _encoded(text: str) -> Iterator[str]:
    content = text.encode("utf-8", "surrogateescape")
    yield content.hex()
    yield content.hex().upper()
    yield b64encode(content).decode()
    if len(content) < _SHORTEST_ENCODED:
        return
    for before in range(3):
        # The first and the last characters depend on the text beside the secret.
        known = b64encode(b"\0" * before + content)[(0, 2, 3)[before] : 4 * ((before + len(content)) // 3)].decode()
        yield known
        yield known.replace("+", "-").replace("/", "_")


def _without_parts(text: str, secret: str, shown_instead: str) -> str:
    """Return the text without long parts of a secret that no word has, as a cut leaves them."""
    pieces, end = [], 0
    for start, stop in sorted(_runs(text, secret)):
        if stop > end:
            pieces += [text[end : max(start, end)], shown_instead if start >= end else ""]
            end = stop
    return "".join([*pieces, text[end:]]) if pieces else text


def _told_by_parts(secret: _Secret) -> bool:
    text = secret.text
    return len(text) >= _SHORTEST_IN_PARTS and _is_mixed(text) and "://" not in text and not any(map(str.isspace, text))


def _bare(text: str) -> str:
    """The letters and digits of a text in lower case: what is left of a secret between marks or colours."""
    if not text.isascii():
        text = normalize("NFKD", text)
    return _NO_LETTER.sub("", _COLOUR.sub("", text)).lower()


def _told_bare(secret: str) -> str:
    bare = _bare(secret)
    return bare if len(bare) >= _SHORTEST_BARE and _is_mixed(bare) and not any(map(str.isspace, secret)) else ""


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _runs(text: str, secret: str) -> Iterator[tuple[int, int]]:
    for start in range(0, len(secret) - _BLOCK + 1, _BLOCK):
        place = text.find(secret[start : start + _BLOCK])
        while place >= 0:
            before = _alike(reversed(secret[:start]), reversed(text[max(0, place - start) : place]))
            after = _alike(secret[start + _BLOCK :], text[place + _BLOCK : place + len(secret) - start])
            if before + _BLOCK + after >= _RUN:
                yield place - before, place + _BLOCK + after
            place = text.find(secret[start : start + _BLOCK], place + _BLOCK + after)


def _alike(one: Iterable[str], other: Iterable[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))

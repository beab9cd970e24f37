"""Secrets never leave: texts are cleaned of the environment's secrets, and of whatever has the form of a key.

Sources of the forms: https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github,
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, https://docs.gitlab.com/security/tokens/,
https://api.slack.com/concepts/token-types, https://docs.stripe.com/keys, https://huggingface.co/docs/hub/security-tokens,
https://docs.npmjs.com/about-access-tokens, RFC 7468 (private keys), RFC 7519 (JSON Web Tokens), RFC 3986 (addresses).
"""

import os
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import takewhile
from unicodedata import combining, normalize
from urllib.parse import unquote
from urllib.request import getproxies

from msgspec import Struct

KEY_SHOWN_INSTEAD = "[API key]"
SHOWN_INSTEAD = "[secret]"

KEY = "OPENAI_API_KEY"
CUSTOM_HEADERS = "OPENAI_CUSTOM_HEADERS"

NAMED_FIELDS = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""An environment variable → the header field that it is sent in."""

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
        instead_of = {secret.strip(): SHOWN_INSTEAD for secret in others} | {key.strip(): KEY_SHOWN_INSTEAD}
        longest_first = sorted(instead_of.items(), key=lambda pair: -len(pair[0]))
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


_LOOKS_MADE = re.compile(r"(?<![^\s;,=:\"])(?=[^\s;,=:\"]*\d)(?=[^\s;,=:\"]*[A-Za-z])[^\s;,=:\"]{8,}")
"""A piece of a header field's value that is not a word, such as the token in `token=0f3a…`."""

_CONFIDENTIAL = re.compile(
    r"(?i)auth|key|token|secret|cookie|pass|credential|signature|session|login|jwt|bearer"
    r"|tenant|organi[sz]ation|project|account"
)
"""In the name of a header field or of a part of its value: it lets somebody in, or says who is asking."""

_NAMED_PART = re.compile(r"=\s*\"?([^\s;,=\"]+)")

_SIGNS_OF_TEXT = frozenset(" .,;:/_+&()'-")
_LONGEST_WORD = 15
_MOST_JOINED_WORDS = 3
"""Further words without a space between them are how passphrases are written."""
_CASED = re.compile(r"[a-z]+|[A-Z]+|(?:[A-Z]?[a-z]{2,})(?:[A-Z][a-z]{2,})*(?:[A-Z]{2,3})?")
_UNSPEAKABLE = re.compile(r"(?i)[^aeiouy]{5}")
_ADDRESS_OF_PAGE = re.compile(r"https?://")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def secrets(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Return what beside the key is to be in nothing that is kept or shown: header fields' values, logins of proxies.

    A field that is made of ordinary words, such as the name of a team, is not a secret: else that word would be taken
    out of every answer. Where a field's name says that it lets somebody in, whatever it holds is a secret.
    """
    yield from (value for name in NAMED_FIELDS if (value := environment.get(name, "").strip()))
    for name, value in custom_fields(environment):
        if _CONFIDENTIAL.search(f"{name} {value}"):
            yield from _NAMED_PART.findall(value)
        elif _is_ordinary(value):
            continue
        yield value
        yield from _LOOKS_MADE.findall(value)
        scheme, _, credentials = value.partition(" ")
        if scheme.isalpha() and credentials and " " not in credentials:
            yield from (credentials, *(_login(credentials) if scheme.lower() == "basic" else ()))
    for proxy in getproxies().values():
        login, at_sign, _ = proxy.rpartition("://")[2].rpartition("@")
        if at_sign:
            yield from (login, unquote(login), unquote(login.partition(":")[2]))


def _is_ordinary(value: str) -> bool:
    """Whether a value is a date or is made of words alone, none so long or so mixed as what a machine makes up."""
    if _DATE.fullmatch(value):
        return True
    parts = [re.findall(r"[^\W\d_]+", _ADDRESS_OF_PAGE.sub("", part)) for part in value.split()]
    plain = normalize("NFKD", value)
    signs = {sign for sign in plain if not (sign.isalpha() or combining(sign))}
    joined = max((len(words) for words in parts), default=0)
    are_words = all(_is_word(word) for words in parts for word in words)
    return signs <= _SIGNS_OF_TEXT and joined <= _MOST_JOINED_WORDS and are_words


def _is_word(word: str) -> bool:
    plain = "".join(sign for sign in normalize("NFKD", word) if not combining(sign))
    return len(word) <= _LONGEST_WORD and bool(_CASED.fullmatch(plain)) and not _UNSPEAKABLE.search(plain)


def _login(credentials: str) -> Iterator[str]:
    with suppress(ValueError):
        login = b64decode(credentials, validate=True).decode()
        yield from (login, login.partition(":")[2])


def custom_fields(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return name and value of each header field that the environment adds to a request."""
    for line in environment.get(CUSTOM_HEADERS, "").split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip(), value.strip()


_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt])|(?<=\\u00[01][0-9a-f])|(?<=[\d;\[]m))"
"""Where a key may begin: not within a word, but behind an escaped control code and behind the code of a colour."""

_Kind = tuple[str, tuple[str, ...], re.Pattern[str]]

_KINDS: tuple[_Kind, ...] = (
    ("an Anthropic API key", ("sk-ant-",), re.compile(_START + r"sk-ant-[\w-]{20,}")),
    ("an OpenAI API key", ("sk-",), re.compile(_START + r"sk-(?!ant-)(?=[a-zA-Z_-]{0,64}\d)[\w-]{20,}")),
    ("an AWS access key", ("AKIA", "ASIA"), re.compile(_START + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])")),
    (
        "a GitHub token",
        ("ghp_", "gho_", "ghs_", "ghr_", "ghu_", "github_pat_"),
        re.compile(_START + r"(?:gh[opsru]_[A-Za-z0-9]{36,}|github_pat_\w{22,})"),
    ),
    ("a GitLab token", ("glpat-",), re.compile(_START + r"glpat-[\w-]{20,}")),
    ("a Hugging Face token", ("hf_",), re.compile(_START + r"hf_[A-Za-z0-9]{30,}")),
    ("a Slack token", ("xox",), re.compile(_START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}")),
    ("a Google API key", ("AIza",), re.compile(_START + r"AIza[\w-]{35}")),
    ("a Stripe key", ("k_live_", "k_test_"), re.compile(_START + r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    ("an npm token", ("npm_",), re.compile(_START + r"npm_[A-Za-z0-9]{36}")),
    ("a PyPI token", ("pypi-AgE",), re.compile(_START + r"pypi-AgE[\w-]{50,}")),
    ("a JSON Web Token", ("eyJ",), re.compile(_START + r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}")),
    ("a password in an address", ("://",), re.compile(r"(?<=://)[^\s:/@]{1,100}:[^\s/@:]{3,100}(?=@)")),
    (
        "a private key",
        ("PRIVATE KEY",),
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY[A-Z ]{0,10}-----(?:(?!-----)[\s\S])*+(?:-----END [A-Z ]{0,50}-----)?"
        ),
    ),
)
"""Each kind with what is in every key of it, and its form: a text without the former is not searched further."""


class FoundKey(Struct, frozen=True):
    """A key in a text: its kind, and where it begins and ends."""

    kind: str
    start: int
    end: int


def keys_in(text: str) -> list[FoundKey]:
    """Return the keys in a text, in order."""
    keys = [
        FoundKey(name, match.start(), match.end())
        for name, openings, form in _KINDS
        if any(opening in text for opening in openings)
        for match in form.finditer(text)
    ]
    return sorted(keys, key=lambda key: key.start)


def without_keys(text: str) -> str:
    """Return the text with `[secret]` in the place of each key."""
    for _, openings, form in _KINDS:
        if any(opening in text for opening in openings):
            text = form.sub(SHOWN_INSTEAD, text)
    return text

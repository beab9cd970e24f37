"""Where to ask, with which key and header fields: all is checked before anything is sent, or written down."""

import os
import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies

from misstep_harness.errors import MissingPrerequisite, UsageError

OPENAI = "https://api.openai.com/v1"
ADDRESS = "OPENAI_BASE_URL"
KEY = "OPENAI_API_KEY"
CUSTOM_HEADERS = "OPENAI_CUSTOM_HEADERS"

_NAMED_FIELDS = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}

SENT = (KEY, *_NAMED_FIELDS, CUSTOM_HEADERS)
"""What of the environment goes to a server, and is nobody else's business."""

NO_KEY = "none"

_OF_A_CONNECTION = frozenset({"host", "content-length", "transfer-encoding", "connection"})

_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

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


def checked_address(address: str) -> str:
    """Return an address as it was given, where it can be one of a server."""
    advice = "Give one such as http://127.0.0.1:8000/v1."
    sound = False
    with suppress(ValueError):
        parts = urlsplit(address)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    if not sound or not address.isprintable() or " " in address:
        raise UsageError(f"{_without_secrets(address)!r} is not the address of a server", advice)
    if "@" in parts.netloc or parts.query or parts.fragment:
        message = f"the address of {parts.hostname} has more parts than host and path"
        raise UsageError(message, f"{advice} Put a key into {KEY} and nowhere else.")
    return address


def _without_secrets(address: str) -> str:
    _, at_sign, rest = address.partition("?")[0].rpartition("@")
    return f"…@{rest}" if at_sign else rest


def address_and_key(
    base_url: str | None, environment: Mapping[str, str] = os.environ, *, named: bool = True
) -> tuple[str, str]:
    """Return where to ask and with which key; the key is empty for a server that needs none."""
    address = checked_address(base_url or environment.get(ADDRESS) or OPENAI)
    key = environment.get(KEY, "").strip()
    if not key and address.startswith(OPENAI):
        advice = f"Run `export {KEY}=…`, or give --base-url for a server that needs no key."
        raise MissingPrerequisite(f"{KEY} is not set", advice)
    for name, value in {KEY: key, **{name: environment.get(name, "").strip() for name in _NAMED_FIELDS}}.items():
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"{name} contains a character that no key has", "Copy it again, on one line.")
    for name, value in _custom_fields(environment):
        if not (_FIELD_NAME.fullmatch(name) and value.isprintable()):
            message = f"{CUSTOM_HEADERS} has a line that is not a header field"
            raise UsageError(message, "Write `name: value`, one per line.")
    sent = _sent(environment)
    if sent and not named and address not in (OPENAI, environment.get(ADDRESS)):
        raise UsageError(
            f"{' and '.join(sent)} would go to {address}, which the judge's file names and you do not",
            f"Give --base-url {address} if they are meant for it, or unset {' and '.join(sent)}.",
        )
    return address, key


def header_fields(key: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the header fields of a request for a chat completion; those of the environment come before ours."""
    fields = {"Authorization": f"Bearer {key or NO_KEY}", "Content-Type": "application/json"}
    fields |= {field: value for name, field in _NAMED_FIELDS.items() if (value := environment.get(name, "").strip())}
    for name, value in _custom_fields(environment):
        fields = {field: earlier for field, earlier in fields.items() if field.lower() != name.lower()}
        if name.lower() not in _OF_A_CONNECTION:
            fields[name] = value
    return fields


def secrets(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Return what beside the key is to be in nothing that is kept or shown: header fields' values, logins of proxies.

    A field that is made of ordinary words, such as the name of a team, is not a secret: else that word would be taken
    out of every answer. Where a field's name says that it lets somebody in, whatever it holds is a secret.
    """
    yield from (value for name in _NAMED_FIELDS if (value := environment.get(name, "").strip()))
    for name, value in _custom_fields(environment):
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
    plain = unicodedata.normalize("NFKD", value)
    signs = {sign for sign in plain if not (sign.isalpha() or unicodedata.combining(sign))}
    joined = max((len(words) for words in parts), default=0)
    are_words = all(_is_word(word) for words in parts for word in words)
    return signs <= _SIGNS_OF_TEXT and joined <= _MOST_JOINED_WORDS and are_words


def _is_word(word: str) -> bool:
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
    return len(word) <= _LONGEST_WORD and bool(_CASED.fullmatch(plain)) and not _UNSPEAKABLE.search(plain)


def _login(credentials: str) -> Iterator[str]:
    with suppress(ValueError):
        login = b64decode(credentials, validate=True).decode()
        yield from (login, login.partition(":")[2])


def _custom_fields(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for line in environment.get(CUSTOM_HEADERS, "").split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip(), value.strip()


def unencrypted(base_url: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """What anybody on the way to a server can read besides the questions, as a sentence; empty for nothing."""
    address = checked_address(base_url or environment.get(ADDRESS) or OPENAI)
    parts, sent = urlsplit(address), _sent(environment)
    if parts.scheme != "http" or not sent or is_on_this_machine(address):
        return ""
    return f"{' and '.join(sent)} and all questions go to {parts.netloc} unencrypted: http is not https."


def _sent(environment: Mapping[str, str]) -> list[str]:
    return [name for name in SENT if environment.get(name, "").strip()]


def is_on_this_machine(address: str) -> bool:
    """Return whether a server's address is one of this machine."""
    host = ""
    with suppress(ValueError):
        host = urlsplit(address).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")

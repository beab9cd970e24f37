"""Where to ask, with which key and header fields: all is checked before anything is sent, or written down."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from misstep_harness.errors import MissingPrerequisite, UsageError
from misstep_harness.exchange import ADDRESS
from misstep_harness.redaction import CUSTOM_HEADERS, KEY, NAMED_FIELDS, custom_fields

OPENAI = "https://api.openai.com/v1"
SENT = (KEY, *NAMED_FIELDS, CUSTOM_HEADERS)
"""What of the environment goes to a server, and is nobody else's business."""

NO_KEY = "none"

_OF_A_CONNECTION = frozenset({"host", "content-length", "transfer-encoding", "connection"})

_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


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
    for name, value in {KEY: key, **{name: environment.get(name, "").strip() for name in NAMED_FIELDS}}.items():
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"{name} contains a character that no key has", "Copy it again, on one line.")
    for name, value in custom_fields(environment):
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
    fields |= {field: value for name, field in NAMED_FIELDS.items() if (value := environment.get(name, "").strip())}
    for name, value in custom_fields(environment):
        fields = {field: earlier for field, earlier in fields.items() if field.lower() != name.lower()}
        if name.lower() not in _OF_A_CONNECTION:
            fields[name] = value
    return fields


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

"""Where to ask and with which key: both are checked before anything is sent, or written down."""

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from harness.errors import MissingPrerequisite, UsageError

OPENAI = "https://api.openai.com/v1"
ADDRESS = "OPENAI_BASE_URL"
KEY = "OPENAI_API_KEY"


def checked_address(address: str) -> str:
    """An address as it was given, where it can be one of a server.

    Raises
    ------
    UsageError
        It is no address of a server, or has a password or a query in it, which would be written down with it.
    """
    advice = "Give one such as http://127.0.0.1:8000/v1."
    try:
        parts = urlsplit(address)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not address.isprintable() or " " in address:
        raise UsageError(f"{_without_secrets(address)!r} is no address of a server", advice)
    if "@" in parts.netloc or parts.query or parts.fragment:
        said = f"the address of {parts.hostname} has more in it than host and path"
        raise UsageError(said, f"{advice} A key stands in {KEY} and nowhere else.")
    return address


def _without_secrets(address: str) -> str:
    """An address without what stands before its host and behind its path."""
    _, found, rest = address.partition("?")[0].rpartition("@")
    return f"…@{rest}" if found else rest


def address_and_key(base_url: str | None, environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Where to ask and with which key; the key is empty for a server that needs none.

    Raises
    ------
    UsageError
        The address or the key cannot be one.
    MissingPrerequisite
        The server is OpenAI's own and there is no key.
    """
    address = checked_address(base_url or environment.get(ADDRESS) or OPENAI)
    key = environment.get(KEY, "").strip()
    if not key and address.startswith(OPENAI):
        raise MissingPrerequisite(
            f"{KEY} is not set", f"Run `export {KEY}=…`, or give --base-url for a server that needs no key."
        )
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{KEY} holds a sign that no key has", "Copy the key again, on one line.")
    return address, key

"""Decide whether an address may lead to another one: a stranger's server must not reach what only this machine can."""

import ipaddress
import socket
from urllib.parse import urljoin, urlsplit

from misstep_harness.errors import InputError


def redirected(asked: str, target: str) -> str:
    """Return the address that a redirect leads to; raises `InputError` where it may not be followed.

    It has to be http or https, not http where https was asked, and a host of the public network. An address that was
    asked at this machine or in its network may lead to the same host again.
    """
    address = urljoin(asked, target)
    before, after = urlsplit(asked), urlsplit(address)
    host = after.hostname or ""
    schemes = ("https",) if before.scheme == "https" else ("http", "https")
    if after.scheme not in schemes:
        problem = f"{after.scheme or 'nothing'}://, not to {' or '.join(schemes)}"
    elif host != before.hostname and not _is_public(host, after.port):
        problem = f"{host}, which is no host of the public network"
    else:
        return address
    advice = "Give the address that you want itself, if you trust it."
    raise InputError(f"it redirects to {problem}", advice, file=f"{before.scheme}://{before.hostname}")


def _is_public(host: str, port: int | None) -> bool:
    """Return whether each address of a host is one of the public network; a name without an address is none."""
    try:
        found = socket.getaddrinfo(host, port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    places = {ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found}
    return bool(places) and all(getattr(place, "ipv4_mapped", None) is None and place.is_global for place in places)

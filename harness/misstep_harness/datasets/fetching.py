"""Fetch upstream files, each checked against its registered hash before it is kept, and check the files of a set.

Only https is spoken (and plain http to this machine itself); a redirect elsewhere is refused.
"""

import gzip
import hashlib
import http.client
import ipaddress
import re
import urllib.error
import urllib.parse
import urllib.request
import zlib
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from msgspec import Struct

from misstep_harness.addresses import redirected
from misstep_harness.catalogue import DataFile, files_of
from misstep_harness.errors import InputError, MissingPrerequisite, UsageError
from misstep_harness.progress import Progress

State = Literal["ok", "differs", "missing"]

TIMEOUT = 60.0
"""Seconds without a byte after which a download is given up."""

_BRACES = re.compile(r"\{(repository|commit|path)\}")


def address_of(template: str, repository: str, commit: str, path: str) -> str:
    """Return the address of an upstream file, its path percent-encoded."""
    values = {"repository": repository, "commit": commit, "path": urllib.parse.quote(path)}
    odd = _BRACES.sub("", template)
    if "{" in odd or "}" in odd:
        advice = "It may hold {repository}, {commit} and {path}."
        raise UsageError(f"the address template has another brace: {template}", advice)
    address = _BRACES.sub(lambda match: values[match[1]], template)
    try:
        allowed = address.isascii() and _allowed(address)
    except ValueError as error:
        raise UsageError(f"cannot fetch from {address}: {error}", "Write an address as https://HOST/PATH.") from error
    if not allowed:
        raise UsageError(f"cannot fetch from {address}", "Only https addresses in ASCII are fetched from.")
    return address


def download(address: str, size: int, sha256: str | None) -> bytes:
    """Return the bytes at an address, once they are what they should be."""
    try:
        with _opener.open(address, timeout=TIMEOUT) as answer:
            data: bytes = answer.read(size + 1)
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        advice = "Check the connection and run the same command again: it keeps what was downloaded."
        why = f"cannot fetch {address}: {getattr(error, 'reason', None) or error}"
        raise MissingPrerequisite(why, advice) from error
    advice = "Nothing of it was kept; the file has changed upstream or on the way."
    if len(data) > size:
        longer = f"the file has more than the registered {size:,} bytes (sha256 {sha256})"
        raise InputError(longer, advice, file=address)
    digest = hashlib.sha256(data).hexdigest()
    if sha256 is not None and digest != sha256:
        raise InputError(f"the file has sha256 {digest} where {sha256} is registered", advice, file=address)
    return data


def inside(folder: Path, file: str) -> Path:
    """Return the path of a registered file below a folder."""
    relative = PurePosixPath(file)
    path = folder.joinpath(*relative.parts)
    if relative.is_absolute() or ".." in relative.parts or "\\" in file or not relative.parts:
        raise InputError(f"the path {file!r} leads out of its folder", file=folder)
    if folder.resolve() not in path.resolve().parents:
        raise InputError(f"{file!r} leads out of its folder through a link", file=folder)
    return path


def packed(file: str, content: bytes) -> bytes:
    """Return content as it is on disk: compressed if the name ends in `.gz`, the same bytes each time."""
    return gzip.compress(content, mtime=0) if file.endswith(".gz") else content


def _allowed(address: str) -> bool:
    parts = urllib.parse.urlsplit(address)
    try:
        is_this_machine = ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        is_this_machine = parts.hostname == "localhost"
    return parts.scheme == "https" or (parts.scheme == "http" and is_this_machine)


class _CheckedRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        try:
            redirected(req.full_url, newurl)
        except InputError as error:
            fp.close()
            raise urllib.error.URLError(error.found) from error
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_opener = urllib.request.build_opener(_CheckedRedirects)


class CheckedFiles(Struct, frozen=True):
    """How many files of one set are right, and the names of those that differ or are missing."""

    name: str
    folder: str
    ok: int
    differs: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Return whether every file is there and right."""
        return not self.differs and not self.missing


def check(name: str, folder: Path) -> CheckedFiles:
    """Return every registered file of a set in `folder`, hashed."""
    states: dict[str, State] = {}
    files = files_of(name)
    with Progress(f"bytes of {name}", sum(file.bytes for file in files)) as progress:
        for file in files:
            states[file.file] = state_of(file, folder)
            progress.advance(file.bytes, file.file)
    return CheckedFiles(
        name,
        str(folder),
        sum(state == "ok" for state in states.values()),
        tuple(file for file, state in states.items() if state == "differs"),
        tuple(file for file, state in states.items() if state == "missing"),
    )


def state_of(file: DataFile, folder: Path) -> State:
    """Return whether one file of a set is there and is what the registry says; as upstream has it does as well."""
    path = inside(folder, file.file)
    if not path.is_file():
        return "missing"
    return "ok" if _content_sha256(path) in {file.sha256, file.upstream_sha256 or file.sha256} else "differs"


def _content_sha256(path: Path) -> str | None:
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error):
        return None

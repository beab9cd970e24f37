"""Files at addresses such as `s3://bucket/logs`, `hf://datasets/ORG/NAME` and `https://host/runs.jsonl`.

fsspec lists and opens them; what is read is a copy in the cache. The file `.versions/NAME` in the folder of a copy
holds the version that the store names (a checksum, an etag, a time); the same version is not fetched again. A copy has
the store's time of the last change.
"""

import ipaddress
import os
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from msgspec import Struct

from misstep_harness.errors import (
    InputError,
    MissingPrerequisite,
    MisstepError,
    UnsafePath,
    UsageError,
    is_full,
    writing,
)
from misstep_harness.path_names import FOLDER, GLOB, folder_names
from misstep_harness.places import cache_folder, last_changes_of, name_of_last_changes
from misstep_harness.progress import Progress

LARGEST = 32 << 30
"""Bytes that one address may hold: a body without an end would fill the disk."""

_WEB = ("http", "https")
_TIMES = ("mtime", "LastModified", "last_modified", "Last-Modified", "modified", "updated", "created")
"""The names under which drivers give the time of the last change, the surest first."""

_VERSIONS = (*("sha256", "ETag", "etag", "checksum", "md5Hash", "content_md5", "blob_id", "generation"), *_TIMES)
"""The names under which drivers give what tells a file from its later versions, the surest first."""

_NOTES, _HALF = ".versions", ".part-"
_AT_ONCE, _CHUNK = 8, 1 << 20
_SILENT_SECONDS = 60
_LATEST = 1 << 33
"""Seconds since 1970: a file system takes no later time."""

_USER_IS_NO_SECRET = ("abfs", "abfss", "sftp", "ssh", "smb")
"""Schemes in which the part before `@` is the name of a container or of a user."""

_LOGIN = {
    "hf": "run `hf auth login`, or set HF_TOKEN",
    "s3": "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "run `gcloud auth application-default login`",
}


class _Stored(Struct, frozen=True):
    """A file of a store: its path there, its name below the address, and its size, 0 if the store does not say."""

    path: str
    name: str
    bytes: int
    version: str
    changed: int


def missing_files_extra(what: str) -> MissingPrerequisite:
    """Return the error for a package of the extra `files` that is not installed."""
    return MissingPrerequisite(f"{what} needs a package that is not installed", "Run `pip install 'misstep[files]'`.")


def local_copies(address: str) -> Path:
    """Return what to read for an address: the copy of its file, or a folder with copies of all files that it names.

    A copy in the folder whose file is no longer stored is removed. A `file://` address is its own path.
    """
    scheme, _, rest = address.partition("://")
    address = f"{scheme.lower()}://{rest}"
    _check(address)
    if address.startswith(("file://", "local://")):
        return Path(unquote(urlsplit(address).path))
    with _reaching(address):
        system, path = _opened(address)
        below, files = _listed(system, path, address)
    if not files:
        raise InputError("no file is at the address", "Check the address.", file=address)
    if sum(file.bytes for file in files) > LARGEST:
        raise _too_large(address)
    top = Path(cache_folder(), FOLDER, *folder_names(below))
    copies = _fetched(system, files, top, address)
    if not below.startswith(address):
        return copies[0]
    for gone in set(_copies_in(top)).difference(copies):
        gone.unlink(missing_ok=True)
    return top


def _check(address: str) -> None:
    """Refuse an address that can hold a key, or that leads to other places than its own."""
    scheme, _, rest = address.partition("://")
    login, has_login, host = rest.partition("/")[0].rpartition("@")
    if has_login and (":" in login or scheme not in _USER_IS_NO_SECRET):
        shown = f"{scheme}://…@{host}"
        advice = "Give the address without it; drivers take keys from the environment or their own settings."
        raise UsageError(f"the address {shown} holds a login, which would be written down with it", advice)
    try:
        parts = urlsplit(address if scheme in _WEB else "")
    except ValueError as error:
        raise UsageError(f"{address!r} is not an address of the web", "Check its host.") from error
    if parts.query or parts.fragment:
        advice = "Give the address without it, or fetch the file yourself and give its path."
        raise UsageError(f"the address {scheme}://{host} has a query, which may hold a key", advice)
    if scheme in _WEB and (address.endswith("/") or GLOB.search(address)):
        raise UsageError(f"{address}: a web server does not list its files", "Give the address of one file.")
    if scheme in ("file", "local") and host not in ("", "localhost"):
        raise UsageError(f"{address} is a file of another machine", "Give file:///PATH, or the path alone.")
    if "::" in address:
        raise UsageError(f"{address} joins several addresses", "Give the address of the file itself.")
    if not address.isprintable():
        raise UsageError(f"{address!r} is not an address", "Give one such as s3://bucket/folder.")


def _opened(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    try:
        from fsspec import available_protocols
        from fsspec.core import url_to_fs
        from fsspec.registry import known_implementations
    except ImportError as error:
        raise missing_files_extra(f"the address {address}") from error
    scheme = address.partition("://")[0]
    if scheme not in available_protocols():
        raise UsageError(f"{address}: no file system {scheme}:// is known", "Give one such as s3://bucket/folder.")
    try:
        system, path = url_to_fs(address, **(_web_options() if scheme in _WEB else {}))
    except ImportError as error:
        package = known_implementations.get(scheme, {}).get("class", scheme).partition(".")[0]
        needed = error.name if package == "fsspec" and error.name else package
        lacks = f"{address} needs the driver {needed}, which is not installed"
        raise MissingPrerequisite(lacks, f"Run `pip install {needed}`.") from error
    system.invalidate_cache()
    return system, path


@cache
def _web_options() -> dict[str, Any]:
    """Return what makes aiohttp ask before it follows a redirect, and give up a server that falls silent."""
    from aiohttp import ClientTimeout, TraceConfig

    async def check(_: object, __: object, about: Any) -> None:
        location = about.response.headers.get("Location") or about.response.headers.get("URI") or ""
        redirected(str(about.response.url), location)

    config = TraceConfig()
    config.on_request_redirect.append(check)
    silence = ClientTimeout(total=None, sock_connect=_SILENT_SECONDS, sock_read=_SILENT_SECONDS)
    return {"client_kwargs": {"trace_configs": [config], "timeout": silence}}


def _listed(system: Any, path: str, address: str) -> tuple[str, list[_Stored]]:
    """Return the files that an address names, and below which address: its own, or that above its one file."""
    if glob := GLOB.search(address):
        above = path[: path.rfind("/", 0, path.index(glob[0])) + 1]
        inside = {place: one for place, one in system.glob(path, detail=True).items() if one["type"] == "file"}
    else:
        above, about = path, system.info(path)
        if about["type"] != "directory" and not address.endswith("/"):
            below, _, name = address.rpartition("/")
            return f"{below}/", [_stored(path, name, about), *_last_changes(system, path, name)]
        inside = system.find(path, detail=True)
    files = [_stored(place, place.removeprefix(above).lstrip("/"), one) for place, one in sorted(inside.items())]
    return f"{address.rstrip('/')}/", [file for file in files if not _is_hidden(file.name)]


def _last_changes(system: Any, path: str, name: str) -> list[_Stored]:
    """Return the file with the latest writes to a database that is named itself."""
    beside = name_of_last_changes(name)
    if beside is None:
        return []
    place = path.removesuffix(name) + beside
    return [_stored(place, beside, system.info(place))] if system.exists(place) else []


def _stored(path: str, name: str, about: dict[str, Any]) -> _Stored:
    if name != PurePosixPath(name).as_posix() or ".." in name.split("/") or not name.strip("/.") or "\0" in name:
        raise UnsafePath(f"{path}: {name!r} is not a name of a file", "Rename it, or give another address.")
    version = next((str(about[field]) for field in _VERSIONS if about.get(field) is not None), "")
    return _Stored(path, name, int(about.get("size") or 0), version, _changed(about))


def _changed(about: dict[str, Any]) -> int:
    """Return when a file was last changed, in ns since 1970: drivers give seconds, a date, or its text."""
    time = next((about[field] for field in _TIMES if about.get(field) is not None), 0)
    with suppress(ValueError):
        if isinstance(time, str):
            time = parsedate_to_datetime(time) if "," in time else datetime.fromisoformat(time)
    if isinstance(time, datetime):
        time = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return int(time * 1e9) if isinstance(time, int | float) and 0 < time < _LATEST else 0


def _fetched(system: Any, files: Sequence[_Stored], top: Path, address: str) -> list[Path]:
    """Return the paths of the copies of files; several are fetched at once."""
    copies: list[Path] = []
    fetch = partial(_copy, system, top=top, address=address)
    with Progress("bytes fetched", sum(file.bytes for file in files)) as progress, ThreadPoolExecutor(_AT_ONCE) as pool:
        for file, copy in zip(files, pool.map(fetch, files), strict=True):
            copies.append(copy)
            progress.advance(file.bytes, file.name)
    for beside in set(filter(None, map(last_changes_of, copies))).difference(copies):
        beside.unlink(missing_ok=True)  # is in the database itself by now
    return copies


def _copy(system: Any, file: _Stored, top: Path, address: str) -> Path:
    """Return the path of a file's copy in the cache, fetched if it is missing or of another version."""
    target, note = top / file.name, top / _NOTES / file.name
    version = f"{file.bytes} {file.version} {file.changed}"
    if file.version and target.is_file() and _text_of(note) == version:
        return target
    with writing(target):
        for place in (target, note):
            place.parent.mkdir(parents=True, exist_ok=True)
        note.unlink(missing_ok=True)
        with NamedTemporaryFile(dir=target.parent, prefix=_HALF, delete=False) as half:
            place = Path(half.name)
        try:
            _stream(system, file, place, address)
            if file.changed:
                os.utime(place, ns=(file.changed, file.changed))
            place.replace(target)
        finally:
            place.unlink(missing_ok=True)
        note.write_text(version, encoding="utf-8")
    return target


def _stream(system: Any, file: _Stored, target: Path, address: str) -> None:
    """Write the bytes of a file, up to the limit: what a server announces need not be true."""
    whole = {"block_size": 0} if address.startswith(tuple(f"{scheme}://" for scheme in _WEB)) else {}
    with _reaching(address), target.open("wb") as copy, system.open(file.path, "rb", **whole) as source:
        left = LARGEST
        while chunk := source.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise _too_large(address)
            copy.write(chunk)


def _too_large(address: str) -> InputError:
    advice = "Copy the part that you need to this machine, and give its path."
    return InputError(f"it has more than {LARGEST:,} bytes, the most that is fetched", advice, file=address)


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts)


def _copies_in(top: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(top):
        if Path(folder) == top:
            folders[:] = [name for name in folders if name != _NOTES]
        yield from (Path(folder, name) for name in names if not name.startswith(_HALF))


def _text_of(file: Path) -> str | None:
    with suppress(OSError):
        return file.read_text(encoding="utf-8")
    return None


@contextmanager
def _reaching(address: str) -> Iterator[None]:
    """Turn any error of a driver into one of ours; its own words may hold a signed address or a key."""
    try:
        yield
    except MisstepError:
        raise
    except Exception as error:  # a driver may raise anything
        chain = list(_causes(error))
        if (own := next((one for one in chain if isinstance(one, MisstepError)), None)) is not None:
            raise own from error
        if isinstance(error, OSError) and is_full(error):
            raise
        raise _translated_error(address, chain) from error


def _translated_error(address: str, chain: Sequence[BaseException]) -> MisstepError:
    status = next(filter(None, map(_status, chain)), None)
    kinds = [type(one).__name__ for one in chain]
    scheme = address.partition("://")[0]
    login = _LOGIN.get(scheme)
    if status in (401, 403) or isinstance(chain[0], PermissionError) or any("Credentials" in kind for kind in kinds):
        advice = "Check what the driver takes your key from." if login is None else f"To log in, {login}."
        return MissingPrerequisite(f"{address}: access is denied", advice)
    missing = isinstance(chain[0], FileNotFoundError) and not any(map(_is_of_network, chain))
    if status in (404, 410) or (missing and status is None and scheme not in _WEB):
        advice = "Check it." if login is None else f"Check it. If it is private, {login}."
        return InputError("there is nothing at this address", advice, file=address)
    reason = kinds[-1] if status is None else f"status {status}"
    return MissingPrerequisite(f"{address} cannot be reached ({reason})", "Check the network and the address.")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int | None:
    """Return the status of an answer of a web server, as aiohttp and the libraries of stores hold it."""
    status = getattr(getattr(error, "response", None), "status_code", getattr(error, "status", None))
    return status if isinstance(status, int) else None


def _is_of_network(error: BaseException) -> bool:
    """Return whether it is the network that failed; a driver may take that for a missing file."""
    return isinstance(error, OSError) and not isinstance(error, FileNotFoundError) and _status(error) is None


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

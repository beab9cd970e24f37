"""Files at addresses such as `s3://bucket/logs` and `hf://datasets/ORG/NAME`: listed, and copied to the cache.

The file `.versions/NAME` beside a copy says of which version it is, in the words of the store (a checksum, an etag, a
time); while the store says the same, nothing is fetched again. A copy has the store's time of the last change.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.copies import FOLDER, folder_names
from misstep.harness.copies import is_address as is_address
from misstep.harness.errors import InputError, UnsafePath, UsageError, writing
from misstep.harness.lake import hub
from misstep.harness.lake.drivers import opened, reaching
from misstep.harness.places import cache_folder, last_changes_of, name_of_last_changes
from misstep.harness.progress import Progress

_VERSIONS = ".versions"
_SAID_OF_A_CHANGE = ("mtime", "LastModified", "last_modified", "modified", "updated", "created")
"""The names under which drivers say when a file was last changed, the surest first."""

_SAID_OF_A_VERSION = (
    *("sha256", "ETag", "etag", "checksum", "md5Hash", "content_md5", "blob_id", "generation"),
    *_SAID_OF_A_CHANGE,
)
"""The names under which drivers say what tells a file from its later versions, the surest first."""

_HALF = ".part-"
"""How the name of a copy begins that is not whole yet."""

_AT_ONCE = 8
_USER_IS_NO_SECRET = ("abfs", "abfss", "sftp", "ssh", "smb")
"""Schemes in which the part before `@` is the name of a container or of a user."""


class StoredFile(Struct, frozen=True):
    """A file that lies at an address.

    - `address`: Its own address, pinned if it is one of the Hugging Face hub.
    - `name`: Its part below the address that was named; the last part if the file itself was named.
    - `bytes`: 0 if the store does not say.
    - `version`: What the store says to tell it from later versions; empty if it says nothing.
    - `below`: The address that was named, with a slash behind it; of a file that was named itself, the one above it.
    - `changed`: When it was last changed, in ns since 1970; 0 if the store does not say.
    """

    address: str
    name: str
    bytes: int
    version: str
    below: str
    changed: int = 0


def stored_files(address: str) -> tuple[StoredFile, ...]:
    """Return the files at an address, or the one that it names, in order of name; what is hidden is left out."""
    return pinned_files(address)[1]


def pinned_files(address: str) -> tuple[str, tuple[StoredFile, ...]]:
    """Return an address, pinned if it is one of the Hugging Face hub, and the files at it.

    If the address names a file, the first file has that address, and a second one is there only beside a database.
    """
    check_address(address)
    pinned = hub.pinned(address) if hub.is_of_hub(address) else address
    return pinned, _files_at(pinned)


def local_copy(file: StoredFile) -> Path:
    """Return the path of a file's copy in the cache, fetched if it is missing or of another version."""
    top = _folder_of(file)
    target, noted = top / file.name, top / _VERSIONS / file.name
    version = f"{file.bytes} {file.version} {file.changed}"
    if file.version and target.is_file() and _text_of(noted) == version:
        return target
    with writing(target):
        for place in (target, noted):
            place.parent.mkdir(parents=True, exist_ok=True)
        noted.unlink(missing_ok=True)
        with NamedTemporaryFile(dir=target.parent, prefix=_HALF, delete=False) as half:
            place = Path(half.name)
        try:
            with reaching(file.address):
                system, path = opened(file.address)
                system.get_file(path, str(place))
            if file.changed:
                os.utime(place, ns=(file.changed, file.changed))
            place.replace(target)
        finally:
            place.unlink(missing_ok=True)
        noted.write_text(version, encoding="utf-8")
    return target


def copies_of(files: Sequence[StoredFile]) -> list[Path]:
    """Return the paths of the copies of files but a database's last changes; several are fetched at once."""
    copies: list[Path] = []
    sizes = [file.bytes for file in files]
    unit, sizes = ("bytes", sizes) if all(sizes) else ("files", [1] * len(sizes))
    with Progress(f"{unit} fetched", sum(sizes)) as progress, ThreadPoolExecutor(_AT_ONCE) as threads:
        for file, size, copy in zip(files, sizes, threads.map(local_copy, files), strict=True):
            copies.append(copy)
            progress.advance(size, file.name)
    for beside in set(filter(None, map(last_changes_of, copies))).difference(copies):
        beside.unlink(missing_ok=True)  # is in the database itself by now
    return copies


def local_copies(address: str) -> Path:
    """Return what to read for an address: the folder with the copies of all files below it, or its file.

    A copy in the folder whose file is no longer stored is removed.
    """
    pinned, files = pinned_files(address)
    copies = copies_of(files)
    if files[0].address == pinned:
        return copies[0]
    top = _folder_of(files[0])
    for path in set(_copies_in(top)).difference(copies):
        path.unlink(missing_ok=True)
    return top


def check_address(address: str) -> None:
    """Check that an address can be written down."""
    scheme, _, rest = address.partition("://")
    login, has_login, host = rest.partition("/")[0].rpartition("@")
    if has_login and (":" in login or scheme not in _USER_IS_NO_SECRET):
        shown = f"{scheme}://…@{host}"
        advice = "Give the address without it; drivers take keys from the environment or their own settings."
        raise UsageError(f"the address {shown} holds a login, which would be written down with it", advice)
    if scheme in ("http", "https") and (urlsplit(address).query or urlsplit(address).fragment):
        advice = "Give the address without it, or fetch the file yourself and give its path."
        raise UsageError(f"the address {scheme}://{host} has a query, which may hold a key", advice)
    if scheme in ("file", "local"):
        raise UsageError(f"{address} is a file of this machine", "Give its path alone.")
    if not address.isprintable():
        raise UsageError(f"{address!r} is not an address", "Give one such as s3://bucket/folder.")


def _files_at(address: str) -> tuple[StoredFile, ...]:
    if hub.asks_for_a_split(address):
        top, names = hub.files_of_split(address)
        files = [replace(file, below=f"{address}/") for file in _listed(top) if file.name in names]
    else:
        files = _listed(address)
        if len(files) == 1 and files[0].address == address:
            files += _last_changes(files[0])
    if not files:
        raise InputError("no file is at the address", "Check the address.", file=address)
    return tuple(sorted(files, key=lambda file: file.name))


def _listed(address: str) -> list[StoredFile]:
    with reaching(address):
        system, path = opened(address)
        system.invalidate_cache()
        about = system.info(path)
        inside = system.find(path, detail=True) if about["type"] == "directory" or address.endswith("/") else None
    if inside is None:
        above, _, name = address.rpartition("/")
        return [_stored(f"{above}/", name, about)]
    below = address if address.endswith("/") else f"{address}/"
    names = {place.removeprefix(path).lstrip("/"): one for place, one in inside.items()}
    return [_stored(below, name, one) for name, one in names.items() if not _is_hidden(name)]


def _last_changes(file: StoredFile) -> list[StoredFile]:
    """Return what was written last to a database that was named itself, and is in a file beside it."""
    name = name_of_last_changes(file.name)
    if name is None:
        return []
    beside = file.below + name
    with reaching(beside):
        system, path = opened(beside)
        return [_stored(file.below, name, system.info(path))] if system.exists(path) else []


def _is_hidden(name: str) -> bool:
    return not name or any(part.startswith(".") and part != ".." for part in PurePosixPath(name).parts)


def _stored(below: str, name: str, about: dict[str, Any]) -> StoredFile:
    if not name or name != PurePosixPath(name).as_posix() or ".." in name.split("/") or "\0" in name:
        raise UnsafePath(f"{below}: {name!r} is not a name of a file", "Rename it, or give another address.")
    large = about.get("lfs")
    about = about | (large if isinstance(large, dict) else {})
    version = next((str(about[field]) for field in _SAID_OF_A_VERSION if about.get(field) is not None), "")
    return StoredFile(below + name, name, int(about.get("size") or 0), version, below, _changed(about))


def _changed(about: dict[str, Any]) -> int:
    """Return when a file was last changed, in ns since 1970: drivers say it in seconds, as a date, or as its text."""
    time = next((about[field] for field in _SAID_OF_A_CHANGE if about.get(field) is not None), 0)
    with suppress(ValueError):
        time = datetime.fromisoformat(time) if isinstance(time, str) else time
    if isinstance(time, datetime):
        time = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return int(time * 1e9) if isinstance(time, int | float) and time > 0 else 0


def _folder_of(file: StoredFile) -> Path:
    return Path(cache_folder(), FOLDER, *folder_names(file.below))


def _copies_in(top: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(top):
        if Path(folder) == top:
            folders[:] = [name for name in folders if name != _VERSIONS]
        yield from (Path(folder, name) for name in names if not name.startswith(_HALF))


def _text_of(file: Path) -> str | None:
    with suppress(OSError):
        return file.read_text(encoding="utf-8")
    return None

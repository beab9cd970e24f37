"""Fetch what is missing of a data set from its public repository, checked, in the layout that loaders expect.

A file that is there and right is not fetched again. Derived files are made here if Misstep knows how; the upstream
files that they are made of are kept until they are made.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from misstep_harness.catalogue import DataFile, UpstreamInput, data_set, files_of, inputs_of, made_by_hand
from misstep_harness.datasets.derived import LEFT_OUT, Derive, derivation_of
from misstep_harness.datasets.fetching import address_of, download, inside, packed, state_of
from misstep_harness.datasets.upstream import file_bytes
from misstep_harness.errors import InputError
from misstep_harness.journal.records import replace_file
from misstep_harness.places import cache_folder
from misstep_harness.progress import Progress

CONNECTIONS = 6
UNKNOWN_SIZE = 1 << 20
"""Bytes that a file without a registered size may have."""

A = TypeVar("A")
B = TypeVar("B")


class Fetched(Struct, frozen=True):
    """The result of a fetch: the files written, those that were right before, those to make by hand with their rule."""

    name: str
    folder: str
    fetched: tuple[str, ...]
    kept: tuple[str, ...]
    to_make: dict[str, str]


def fetch(name: str, folder: Path, template: str) -> Fetched:
    """Fetch the files of a set that `folder` lacks."""
    files = files_of(name)
    wanted = [file for file in files if state_of(file, folder) != "ok"]
    upstream = [file for file in wanted if file.form != "derived"]
    derived = [(file, derivation_of(name, file.file)) for file in wanted if file.form == "derived"]
    made = [file for file, derive in derived if derive is not None]
    by_hand = made_by_hand(name)
    with Progress(f"bytes of {name}", sum(file.bytes for file in (*upstream, *made))) as progress:
        for done in _concurrently(partial(_fetch_file, name, folder, template), upstream):
            progress.advance(done.bytes, done.file)
        for file, derive in derived:
            if derive is not None:
                _make(name, file, derive, folder, template)
                progress.advance(file.bytes, file.file)
    return Fetched(
        name,
        str(folder),
        tuple(file.file for file in [*upstream, *made]),
        tuple(file.file for file in files if file not in wanted),
        {file.file: by_hand[file.file] for file in wanted if file.file in by_hand},
    )


def _concurrently(do: Callable[[A], B], these: Iterable[A]) -> Iterator[B]:
    """Return the result of each, in order; when one fails what has begun is finished and no more is begun."""
    pool = ThreadPoolExecutor(CONNECTIONS)
    try:
        yield from pool.map(do, these)
    finally:
        pool.shutdown(cancel_futures=True)


def _fetch_file(name: str, folder: Path, template: str, file: DataFile) -> DataFile:
    content = download(
        _address(name, template, file.source, file.upstream_path),
        file.bytes if file.upstream_bytes is None else file.upstream_bytes,
        file.upstream_sha256 or file.sha256,
    )
    _write(folder, file.file, content)
    return file


def _make(name: str, file: DataFile, derive: Derive, folder: Path, template: str) -> None:
    wanted = [known for known in inputs_of(name) if known.file == file.file]
    distinct = {_identity(known): known for known in wanted if not known.left_out}
    # upstream files that are files of the set themselves
    at_hand = {one.sha256: inside(folder, one.file) for one in files_of(name) if one.form in ("bytes", "gzip")}
    bring = partial(_input, name, template, at_hand)
    contents = dict(zip(distinct, _concurrently(bring, distinct.values()), strict=True))
    try:
        content = derive(
            {known.upstream_path: LEFT_OUT if known.left_out else contents[_identity(known)] for known in wanted}
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        message = f"the file cannot be made from the upstream files: {error}"
        raise InputError(message, file=folder / file.file) from error
    if (digest := sha256(content).hexdigest()) != file.sha256:
        message = f"the file made from the upstream files has sha256 {digest}, but {file.sha256} is registered"
        raise InputError(message, "The upstream files have changed; nothing was kept.", file=folder / file.file)
    _write(folder, file.file, content)
    for known in distinct.values():
        _download(known).unlink(missing_ok=True)


def _identity(known: UpstreamInput) -> str:
    """Return one for all upstream files of the same content, so that it is fetched once."""
    return known.sha256 or known.upstream_path


def _input(name: str, template: str, at_hand: dict[str, Path], known: UpstreamInput) -> bytes:
    """An upstream file that a derived file is made of: the set's own, else fetched and kept until that is made."""
    if known.sha256 in at_hand and sha256(data := file_bytes(at_hand[known.sha256])).hexdigest() == known.sha256:
        return data
    place = _download(known)
    if known.sha256 and place.is_file():
        data = place.read_bytes()
        if sha256(data).hexdigest() == known.sha256:
            return data
    data = download(
        _address(name, template, known.source, known.upstream_path),
        UNKNOWN_SIZE if known.bytes is None else known.bytes,
        known.sha256 or None,
    )
    if known.sha256:
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, data)
    return data


def _download(known: UpstreamInput) -> Path:
    return cache_folder() / "downloads" / _identity(known).replace("/", "_")


def _address(name: str, template: str, source: str, path: str) -> str:
    origin = data_set(name).sources[source]
    return address_of(template, origin.repository, origin.commit, path)


def _write(folder: Path, file: str, content: bytes) -> None:
    path = inside(folder, file)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, packed(file, content))

"""Read upstream files strictly: what is missing or has another shape is an error that names file, line and field."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.forms import csv_form, csv_table, toml_form
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Outcome, Trajectory, Unreadable

T = TypeVar("T")
Row = TypeVar("Row", bound=Struct)

_VERIFY = "Check the set with `misstep datasets verify`."

SIZE_LIMIT = 512 << 20
"""Bytes, uncompressed: no upstream file of a registered set comes near."""


def digest_of(folder: Path) -> str:
    """Return sha256 over the names and bytes of all files below a folder, in order of name."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def files_in(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder whose names fit a pattern, in order of name."""
    files = sorted(folder.glob(pattern))
    if not files:
        raise InputError(f"the file {pattern} is missing", _VERIFY, file=folder)
    return files


def each_or_left_out(paths: Iterable[Path], read: Callable[[Path], T]) -> tuple[dict[Path, T], tuple[str, ...]]:
    """Return what was read of each file, and a line for each that is broken: it costs itself, not the others."""
    by_path: dict[Path, T] = {}
    broken: list[tuple[Path, InputError]] = []
    for path in paths:
        try:
            by_path[path] = read(path)
        except InputError as error:
            broken.append((path, error))
    if broken and not by_path:
        raise broken[0][1]
    return by_path, tuple(
        ": ".join(filter(None, [f"{path.parent.name}/{path.name}", error.field, error.found])) for path, error in broken
    )


def file_bytes(path: Path) -> bytes:
    """Return the bytes of an upstream file, uncompressed if its name ends in `.gz`."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            data: bytes = stream.read(SIZE_LIMIT + 1)
    except FileNotFoundError as error:
        raise InputError("the file is missing", _VERIFY, file=path) from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be read: {error}", _VERIFY, file=path) from error
    if len(data) > SIZE_LIMIT:
        raise InputError(f"the file is larger than {SIZE_LIMIT >> 20} MiB", file=path)
    return data


def file_text(path: Path) -> str:
    """Return the text of an upstream file."""
    try:
        return file_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", file=path) from error


def json_file(path: Path, type_: type[T]) -> T:
    """Return a JSON document as `type_`."""
    return _decoded(msgspec.json.Decoder(type_), file_bytes(path), path)


def toml_file(path: Path, type_: type[T]) -> T:
    """Return a TOML file as `type_`."""
    return toml_form(file_bytes(path), type_, path, "")


def json_lines(path: Path, type_: type[T]) -> Iterator[T]:
    """Return the lines of a JSON Lines file as `type_`."""
    decoder = msgspec.json.Decoder(type_)
    for number, line in enumerate(io.BytesIO(file_bytes(path)), start=1):
        if not line.isspace():
            yield _decoded(decoder, line, path, number)


def _decoded(decoder: "msgspec.json.Decoder[T]", data: bytes, path: Path, line: int | None = None) -> T:
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(str(error), file=path, line=line) from error


def csv_rows(path: Path, type_: type[Row], optional: Collection[str] = ()) -> Iterator[Row]:
    """Return the rows of an upstream CSV file as `type_`, as `forms.csv_form` does."""
    return csv_form(file_text(path), type_, path, optional)


def csv_cells(path: Path, wanted: Iterable[str]) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Return the columns and rows of an upstream CSV file, as `forms.csv_table` does."""
    return csv_table(file_text(path), wanted, path)


def trajectories(path: Path, read: ReadFile, dataset: str) -> Iterator[Trajectory]:
    """Return the runs in one upstream file of a known trajectory format, marked as of `dataset`."""
    for one in read(path):
        if isinstance(one, Unreadable):
            raise InputError(one.error, file=one.file, line=one.line)
        source = msgspec.structs.replace(one.source, file=path.name, dataset=dataset)
        yield msgspec.structs.replace(one, source=source)


def named_runs(path: Path, read: ReadFile, dataset: str, names: Sequence[str]) -> Iterator[Trajectory]:
    """Return the runs in one upstream file, one for each name in order; how they ended is gold and is left out."""
    runs = list(trajectories(path, read, dataset))
    if len(runs) != len(names):
        raise InputError(f"{len(runs)} trajectories were read, but the file has {len(names)} runs", file=path)
    for name, run in zip(names, runs, strict=True):
        yield msgspec.structs.replace(run, id=name, outcome=Outcome())


def runs_in(places: Mapping[str, Path], read: ReadFile, dataset: str) -> Iterator[Trajectory]:
    """Return the one run in each of some upstream files, name → file."""
    for name, place in places.items():
        yield from named_runs(place, read, dataset, [name])


def step_of_message(trajectory: Trajectory, message: int, file: Path) -> int:
    """Return the step that holds an upstream message, both counted from 0, as the readers of chats map them."""
    mapping: list[int | None] = trajectory.extra.get("step_of_message", [])
    step = mapping[message] if 0 <= message < len(mapping) else None
    if step is None:
        raise InputError(f"message {message} does not exist: {trajectory.id} has {len(mapping)}", file=file)
    return step

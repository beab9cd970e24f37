"""Write and read the records of a run; `analysis` sees the results of `harness` through this module.

A run is a folder:

    run.toml         settings, inputs, versions and times: `Manifest`
    verdicts.jsonl   one verdict per line, in the order of the inputs
    sessions.jsonl   of `classify`: one session per line
    files.jsonl      of `classify`: one file per line, as it was when it was read
    scores.json      the scores
    report.html      the scores as a page

A run writes records of one type, one JSON line each, to one file (`Records`). Most runs write verdicts:

    {"item":"run-17","judge":"infinite_loop","label":"yes","status":"answered","score":null,"steps":[4,6,8],…}

Only `run.toml` has times: the same inputs give the same bytes in all other files.
"""

import os
import platform
import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

import msgspec
import tomli_w
from msgspec import Struct, field

from misstep_harness.errors import InputError, opening, writing
from misstep_harness.escaping import json_without_surrogates
from misstep_harness.intervention import ObservedRun
from misstep_harness.session import Session
from misstep_harness.verdict import PairVerdict, Verdict
from misstep_harness.version import __version__

if TYPE_CHECKING:
    from misstep_harness.verdict import PairVerdict

SCHEMA = 1
"""The version of a run's shapes; a run of another version is refused, not guessed at."""

MANIFEST = "run.toml"
VERDICTS = "verdicts.jsonl"
SESSIONS = "sessions.jsonl"
FILES = "files.jsonl"
SCORES = "scores.json"
REPORT = "report.html"

Record = TypeVar("Record", bound=Struct)

encode = msgspec.json.Encoder().encode
encode_lines = msgspec.json.Encoder().encode_lines


class Records(Struct, Generic[Record], frozen=True):
    """The records of a run: their type, their file in the folder, and the name of one in messages.

    - `private`: Whether nobody but the user may read the folder and the files.
    """

    type: type[Record]
    file: str
    one: str = "record"
    private: bool = False


VERDICT_RECORDS = Records(Verdict, VERDICTS, "verdict")

SESSION_RECORDS = Records(Session, SESSIONS, "session")
OBSERVED_RECORDS = Records(ObservedRun, "observed.jsonl", "observed run")


class Inputs(Struct, frozen=True, omit_defaults=True):
    """The files that a run has read: their number and their bytes.

    `digest` is over all files, and `named` over the files that they name. `parts` lists them one by one. The last two
    may be empty. See `harness.journal.inputs`.
    """

    files: int
    bytes: int
    digest: str
    named: str = ""
    parts: tuple[str, ...] = ()


class _Written(Struct, frozen=True):
    """The records of a finished run: the file, and its numbers of lines and bytes."""

    file: str
    lines: int
    bytes: int


class Manifest(Struct, frozen=True, omit_defaults=True):
    """The settings of a run: its command line, versions, inputs and times.

    `settings` (the table `asked` of the file) are all values that can change a result. `folder` is where the inputs
    lay, and `shown` what of the machine the sandbox showed; they change no result. Times are ISO 8601. An unfinished
    run has an empty `finished` and no `written`. `sources` has digests of what read and judged sessions: of the code of
    Misstep, of the user's own readers and classifiers, and of the files of instructions that were named.
    """

    schema: int
    command: str
    arguments: list[str]
    misstep: str
    python: str
    started: str
    settings: dict[str, Any] = field(name="asked")
    inputs: Inputs
    folder: str = ""
    finished: str = ""
    written: _Written | None = None
    shown: list[str] = []
    sources: dict[str, str] = {}


class _ItemOnly(Struct, gc=False):
    item: str


def read_records(path: Path, records: Records[Record], *, unfinished: bool = False) -> Iterator[Record]:
    """Return the records of a run, in order, as a stream."""
    file = path / records.file if path.is_dir() else path
    decoder = _decoder(records.type)
    with opening(file, f"Name a run folder or its {records.file}."):
        stream = file.open("rb")
    with stream:
        for number, line in enumerate(stream, start=1):
            if unfinished and not line.endswith(b"\n"):
                return
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                message = f"not a valid {records.one}: {error}"
                raise InputError(message, "Correct that line.", file=file, line=number) from error


@lru_cache(maxsize=16)
def _decoder(type_: type[Record]) -> "msgspec.json.Decoder[Record]":
    return msgspec.json.Decoder(type_)


def read_verdicts(path: Path, *, unfinished: bool = False) -> Iterator[Verdict]:
    """Return the verdicts of a run; see `read_records`."""
    return read_records(path, VERDICT_RECORDS, unfinished=unfinished)


def read_pair_verdicts(path: Path, *, unfinished: bool = False) -> "Iterator[PairVerdict]":
    """Return the verdicts of a judge of pairs, with its answer in each order."""
    from misstep_harness.verdict import PairVerdict

    return read_records(path, Records(PairVerdict, VERDICTS, "verdict"), unfinished=unfinished)


def items_in(file: Path) -> Iterator[str]:
    """Return the item of each record in a file, in order; faster than `read_records`, with the same errors."""
    return (record.item for record in read_records(file, Records(_ItemOnly, file.name, "verdict")))


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `run.toml`."""
    replace_file(folder / MANIFEST, toml_text(manifest))


def toml_text(record: Struct) -> bytes:
    """Return a record, such as a manifest, as TOML; raises `TypeError` or `ValueError` where that cannot hold it."""
    return tomli_w.dumps(_without_nulls(msgspec.to_builtins(record))).encode()


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def read_manifest(folder: Path, *, whole: bool = True) -> Manifest | None:
    """Return the manifest in `run.toml`; `None` if the folder has none and so is not a run.

    The records of a finished run have to be there as they were, if they have to be `whole`.
    """
    file = folder / MANIFEST
    try:
        content = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"cannot be read: {error}", "Name another folder for the run.", file=file) from error
    manifest = manifest_in(content, file)
    if whole and manifest.finished and manifest.written is not None:
        _check_whole(folder, manifest.written)
    return manifest


def manifest_in(content: bytes, file: Path | str) -> Manifest:
    """Return the manifest in the content of a `run.toml`."""
    advice = "Name another folder for the run."
    try:
        values: dict[str, Any] = tomllib.loads(content.decode())
        if (schema := values.get("schema", SCHEMA)) != SCHEMA:
            message = f"the file has schema version {schema}, but this Misstep reads {SCHEMA}"
            raise InputError(message, "Make the run again.", file=file)
        return msgspec.convert(values, Manifest)
    except msgspec.ValidationError as error:
        raise InputError(f"not the manifest of a run: {error}", advice, file=file) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, a number too long, nested too deeply
        raise InputError(f"cannot be read: {error}", advice, file=file) from error


def written_in(folder: Path, file: str) -> _Written:
    """Return the numbers of lines and bytes of a file of a run."""
    lines = length = 0
    with (folder / file).open("rb") as stream:
        while block := stream.read(1 << 20):
            lines += block.count(b"\n")
            length += len(block)
    return _Written(file, lines, length)


def is_shorter(folder: Path, was: _Written) -> bool:
    """Return whether a file of a run lost bytes, or is gone."""
    file = folder / was.file
    return not file.is_file() or file.stat().st_size < was.bytes


def _check_whole(folder: Path, was: _Written) -> None:
    """Refuse a file that is shorter or longer than it was: a file cut off at a line end reads as if it were whole."""
    file = folder / was.file
    try:
        if file.stat().st_size == was.bytes:
            return
        now = written_in(folder, was.file)
    except OSError as error:
        message = f"cannot open: {error.strerror}"
    else:
        message = f"{now.lines:,} lines of {now.bytes:,} bytes"
    had = f"the finished run had {was.lines:,} lines of {was.bytes:,} bytes there"
    raise InputError(
        f"{message}, but {had}", "Restore the file, or run the command again in another folder.", file=file
    )


_PART = re.compile(r"\..+\.(\d+)-\d+\.part", re.DOTALL)


def replace_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file such that a reader sees all of it or the old content, also after a crash; the last of several wins.

    The next writer removes the half-written files of killed processes.
    """
    with replacing(path, mode) as stream:
        stream.write(content)


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Return a file to write to that takes the place of another when all is written, or leaves that as it was.

    It is a new file under a name that nobody can foresee, so that nothing is written through a link that somebody left.
    """
    _clear_parts(path.parent)
    building = path.with_name(f".{path.name}.{os.getpid()}-{int.from_bytes(os.urandom(6))}.part")
    with writing(path):
        stream = os.fdopen(os.open(building, _NEW, mode), "wb")
        try:
            with stream:
                yield stream
            building.replace(path)
        except BaseException:
            building.unlink(missing_ok=True)
            raise


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_ADDED = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def appending(file: Path, mode: int = 0o666) -> FileIO:
    """Return a file to read and to add to, which is made if it does not exist; a link in its place is an `OSError`."""
    return FileIO(os.open(file, _ADDED | getattr(os, "O_CLOEXEC", 0), mode), "a+b")


@lru_cache(maxsize=1 << 12)
def _clear_parts(folder: Path) -> None:
    """Remove the half-written files of killed processes; looks once per folder, since it may be large."""
    try:
        with os.scandir(folder) as listing:
            left = [
                entry.path for entry in listing if (part := _PART.fullmatch(entry.name)) and has_ended(int(part[1]))
            ]
        for name in left:
            Path(name).unlink(missing_ok=True)
    except OSError:  # no folder, or no right to delete: the writer reports it
        return


def has_ended(process: int) -> bool:
    """Return whether the process with that number has ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def new_manifest(
    command: str,
    settings: dict[str, Any],
    inputs: Inputs,
    arguments: Iterable[str],
    folder: str = "",
    shown: Iterable[str] = (),
) -> Manifest:
    """Return the manifest of a run that begins now."""
    named = [list(arguments), settings, folder, list(shown)]
    line, asked, place, places = map(json_without_surrogates, named)  # of paths that are not UTF-8
    version, python = __version__, platform.python_version()
    return Manifest(SCHEMA, command, line, version, python, now(), asked, inputs, place, shown=places)


def now() -> str:
    """Return the time as a manifest has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")

"""Rows out and in: the seam between what runs and what counts.

A run is a folder:

    run.toml         what was asked, of which inputs, with which versions, when: `Manifest`
    verdicts.jsonl   one verdict a line, in the order of the inputs
    scores.json      what was counted
    report.html      the same for a reader

A line of `verdicts.jsonl` is a `Verdict` in JSON:

    {"item":"run-17","judge":"infinite_loop","label":"yes","status":"answered","score":null,"steps":[4,6,8],…}

Times stand in `run.toml` alone, so that the same inputs give the same bytes everywhere else.
"""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import tomli_w
from msgspec import Struct

from harness.errors import InputError, writing
from harness.verdict import Verdict

SCHEMA = 1
"""The version of a run's shapes; a run of another version is refused, not guessed at."""

MANIFEST = "run.toml"
VERDICTS = "verdicts.jsonl"
SCORES = "scores.json"
REPORT = "report.html"

T = TypeVar("T")

encode = msgspec.json.Encoder().encode
"""A value as one JSON document in bytes."""

_encode_lines = msgspec.json.Encoder().encode_lines
_verdict = msgspec.json.Decoder(Verdict)


class Inputs(Struct, frozen=True, omit_defaults=True):
    """Which files a run has read: how many, of how many bytes.

    `digest` tells them from any others, and `named` the files that they name in turn; `parts` are what it is of, one by
    one. The last two are empty where they were not noted. See `harness.journal.inputs`.
    """

    files: int
    bytes: int
    digest: str
    named: str = ""
    parts: tuple[str, ...] = ()


class Manifest(Struct, frozen=True, omit_defaults=True):
    """What a run was asked and with what.

    `arguments` are those of the command line that began it; `asked` is what another answer would follow from; `folder`
    is where the inputs lay, which another answer does not follow from; `started` and `finished` are ISO 8601,
    `finished` empty until it is.
    """

    schema: int
    command: str
    arguments: list[str]
    misstep: str
    python: str
    started: str
    asked: dict[str, Any]
    inputs: Inputs
    folder: str = ""
    finished: str = ""


class _ItemOnly(Struct, gc=False):
    item: str


_item_only = msgspec.json.Decoder(_ItemOnly)


def encode_verdicts(verdicts: Iterable[Verdict]) -> bytes:
    """Verdicts as lines of `verdicts.jsonl`, each with its line end."""
    return _encode_lines(verdicts)


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Write a whole `verdicts.jsonl`: it is either there and complete, or as it was."""
    replace_file(path, encode_verdicts(verdicts))


def read_verdicts(path: Path, *, unfinished: bool = False) -> Iterator[Verdict]:
    """The verdicts of a run, in order, as a stream.

    Parameters
    ----------
    path
        A `verdicts.jsonl`, or the run folder that holds it.
    unfinished
        Whether a half-written last line, as a run in progress may have, is left out rather than an error.

    Raises
    ------
    InputError
        There is no such file, or a line is no verdict; names file and line.
    """
    file = path / VERDICTS if path.is_dir() else path
    return _decoded(file, _verdict, unfinished)


def read_items(path: Path) -> Iterator[str]:
    """The item of each verdict of a `verdicts.jsonl`, in order, which is quicker than the whole verdicts.

    Raises
    ------
    InputError
        As `read_verdicts`.
    """
    return (verdict.item for verdict in _decoded(path, _item_only, unfinished=False))


def _decoded(file: Path, decoder: "msgspec.json.Decoder[T]", unfinished: bool) -> Iterator[T]:
    try:
        stream = file.open("rb")
    except OSError as error:
        raise InputError(
            f"cannot open: {error.strerror}", "Name a run folder or its verdicts.jsonl.", file=file
        ) from error
    with stream:
        for number, line in enumerate(stream, start=1):
            if unfinished and not line.endswith(b"\n"):
                return
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise InputError(f"no verdict: {error}", "Mend that line.", file=file, line=number) from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `run.toml`."""
    replace_file(folder / MANIFEST, tomli_w.dumps(msgspec.to_builtins(manifest)).encode())


def read_manifest(folder: Path) -> Manifest | None:
    """What `run.toml` says; `None` where there is none, so that the folder is no run.

    Raises
    ------
    InputError
        The file is no manifest, or one of another schema version.
    """
    file = folder / MANIFEST
    try:
        with file.open("rb") as stream:
            values: dict[str, Any] = tomllib.load(stream)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot be read: {error}", "Name another folder for the run.", file=file) from error
    if values.get("schema", SCHEMA) != SCHEMA:
        raise InputError(
            f"schema version {values['schema']}, this Misstep reads {SCHEMA}", "Make the run again.", file=file
        )
    try:
        return msgspec.convert(values, Manifest)
    except msgspec.ValidationError as error:
        raise InputError(
            f"not the manifest of a run: {error}", "Name another folder for the run.", file=file
        ) from error


def replace_file(path: Path, content: bytes) -> None:
    """Write a file such that a reader, or a run after a crash, sees either all of it or what was there before.

    Raises
    ------
    CannotWrite
        The device takes no more.
    OSError
        The file may not be written.
    """
    building = path.with_name(f".{path.name}.part")
    with writing(path):
        try:
            building.write_bytes(content)
            building.replace(path)
        except OSError:
            building.unlink(missing_ok=True)
            raise

"""What tells a benchmark from another, and from what it was: its two files and every file that its items name."""

import hashlib
from codecs import BOM_UTF8
from pathlib import Path, PurePath

import msgspec
from msgspec import Struct

from harness.errors import InputError
from harness.items import Inline, read_question
from harness.journal.inputs import digest_of, length_and_checksum, listed, part, text_part
from harness.journal.records import Inputs


class _Naming(Struct):
    trajectory: str | Inline | None = None


_naming = msgspec.json.Decoder(_Naming)


def inputs_of(folder: Path) -> Inputs:
    """The inputs of a run of a judge: everything that it is asked about a benchmark, as it is now.

    Raises
    ------
    InputError
        A file of the benchmark cannot be opened, or `benchmark.toml` breaks the form.
    """
    digest = hashlib.sha256()
    names: dict[str, None] = {}
    size = 0
    for file in ("benchmark.toml", "items.jsonl"):
        try:
            with (folder / file).open("rb") as stream:
                for line in stream:
                    digest.update(line)
                    size += len(line)
                    if file == "items.jsonl" and (name := _named(line)) is not None:
                        names[name] = None
        except OSError as error:
            raise InputError(
                f"cannot open: {error.strerror}", "Name the benchmark's folder.", file=folder / file
            ) from error
    named = [one for name in names for one in _part(folder, name)]
    parts = listed([*_parts(folder), *named])
    return Inputs(2, size, digest.hexdigest(), digest_of(named) if names else "", parts)


def _named(line: bytes) -> str | None:
    """The file that an item names; a line that is no item is for whoever asks about it to say."""
    try:
        trajectory = _naming.decode(line.removeprefix(BOM_UTF8)).trajectory
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return trajectory if isinstance(trajectory, str) else None


def _part(folder: Path, name: str) -> list[str]:
    """A file below the folder; what is no file there is refused by whoever asks about the item."""
    below, file = PurePath(name), folder / name
    try:
        if below.is_absolute() or ".." in below.parts or not file.is_file():
            return []
        return [part(name, *length_and_checksum(file))]
    except OSError:
        return []


def _parts(folder: Path) -> list[str]:
    """What a person may have changed in the two files, by the names that they have."""
    question = read_question(folder)
    return [
        text_part("the labels", msgspec.json.encode([*question.labels.items()]).decode()),
        text_part("the question", question.asks),
        *(part(name, *length_and_checksum(folder / name)) for name in ("benchmark.toml", "items.jsonl")),
    ]

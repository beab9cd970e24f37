"""What tells a benchmark from another, and from what it was: its two files and every file that its items name."""

import hashlib
from pathlib import Path, PurePath

import msgspec
from msgspec import Struct

from misstep_harness.beneath import inside
from misstep_harness.errors import InputError
from misstep_harness.items import Inline, read_items, read_question
from misstep_harness.journal.inputs import digest_of, length_and_checksum, listed, part, text_part
from misstep_harness.journal.records import Inputs

_BLOCK = 1 << 18


class _Naming(Struct):
    id: str
    trajectory: str | Inline | None = None


def inputs_of(folder: Path) -> Inputs:
    """Return the inputs of a run of a judge: everything that it is asked about a benchmark, as it is now."""
    digest = hashlib.sha256()
    size = 0
    for file in ("benchmark.toml", "items.jsonl"):
        try:
            with inside(folder, file).open("rb") as stream:
                while block := stream.read(_BLOCK):
                    digest.update(block)
                    size += len(block)
        except OSError as error:
            message = f"cannot open: {error.strerror}"
            raise InputError(message, "Name the benchmark's folder.", file=folder / file) from error
    names = dict.fromkeys(_named(folder))
    files = [one for name in names for one in _part(folder, name)]
    parts = listed([*_parts(folder), *files])
    return Inputs(2, size, digest.hexdigest(), digest_of(files) if names else "", parts)


def _named(folder: Path) -> list[str]:
    """Return the files that items name; a line that is not an item is refused as by every reader of the file."""
    try:
        return [item.trajectory for item in read_items(folder, _Naming) if isinstance(item.trajectory, str)]
    except InputError:
        for _ in read_items(folder):
            pass
        raise


def _part(folder: Path, name: str) -> list[str]:
    below, file = PurePath(name), folder / name
    try:
        if below.is_absolute() or ".." in below.parts or not file.is_file():
            return []
        return [part(name, *length_and_checksum(file))]
    except OSError:
        return []


def _parts(folder: Path) -> list[str]:
    question = read_question(folder)
    return [
        text_part("the labels", msgspec.json.encode([*question.labels.items()]).decode()),
        text_part("the question", question.asks),
        *(part(name, *length_and_checksum(folder / name)) for name in ("benchmark.toml", "items.jsonl")),
    ]

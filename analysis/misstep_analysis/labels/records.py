"""Objects of JSON, of JSON Lines or of a zip archive of these, and the names and labels in them as written."""

import io
import json
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct

from misstep_analysis.labels.rows import MOST_BYTES, ScaleLevel, decoded, read_content, shown
from misstep_harness.errors import InputError
from misstep_harness.values import plain

_NUMBER = re.compile(r"[+-]?(\d++(?:\.\d*+)?|\.\d++)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"(?<!\d)([+-]?\d++)\.0++", re.ASCII)
_UNSEEN = dict.fromkeys([0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF])


def visible(text: str) -> str:
    """Return a text without byte order marks, zero-width spaces and the like; what joins letters or emoji is kept."""
    return text if text.isascii() else text.translate(_UNSEEN)


def trimmed(cell: str) -> str:
    """Return a label without what cannot be seen, and in one of the ways that Unicode has to write its letters."""
    return unicodedata.normalize("NFC", visible(cell).strip())


def number(label: str) -> float | None:
    """Return the finite number that a label is, with a decimal point; `None` for any other label."""
    if not _NUMBER.fullmatch(label):
        return None
    value = float(label)
    return value if isfinite(value) else None


def label_key(label: str, level: ScaleLevel) -> str | float:
    """Return what two spellings of a label have in common: letter case does not count, nor how a number is written.

    Of nominal labels only `2` and `2.0` are one (a missing cell turns a spreadsheet's whole numbers into such): `1.1`
    and `1.10` may be names of two things.
    """
    text = trimmed(label)
    value = number(text)
    if level != "nominal" and value is not None:
        return value
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text.casefold()


def listed(names: Iterable[str], most: int = 20) -> str:
    """Return names as a person reads them, the long tail counted."""
    quoted = [repr(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…") for name in names]
    rest = len(quoted) - most
    return ", ".join(quoted[:most]) + (f" and {rest:,} more" if rest > 0 else "")


_LONGEST = 80
"""Characters of a name that a message shows."""

_ADVICE = "Give a list of objects, or one object a line."
_OPENS = re.compile(r'\s*+(?:\[\s*+[{\]]|\{\s*+["}])')

SEVERAL = " + "


class LabelRecords(Struct, frozen=True):
    """The objects of a file.

    - `places`: The number of each, from 1: of its line, or of the record in its list.
    """

    file: str
    values: list[dict[str, Any]]
    places: list[int]
    unit: str


def is_json(text: str) -> bool:
    """Return whether a text opens as a list of objects or as an object."""
    return _OPENS.match(text) is not None


def json_records(text: str, file: str) -> LabelRecords:
    """Return the objects of a JSON list, or of JSON Lines."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    try:
        document = _decoded(text)
    except (msgspec.DecodeError, RecursionError) as error:
        if len(lines) < 2 or text.lstrip().startswith("["):
            raise InputError(f"not valid JSON: {error}", _ADVICE, file=file) from error
        values = [_line(line, number, file) for number, line in lines]
        return LabelRecords(file, values, [number for number, _ in lines], "line")
    if isinstance(document, dict):
        return LabelRecords(file, [document], [lines[0][0]], "line")
    for number, value in enumerate(document, start=1):
        if not isinstance(value, dict):
            raise InputError("not an object", _ADVICE, file=file, field=f"record {number}")
    return LabelRecords(file, document, list(range(1, len(document) + 1)), "record")


def _decoded(text: str) -> Any:
    """Return a JSON value; NaN, which Python writes where a value is missing, is null."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as strict:
        if "NaN" not in text:
            raise
        try:
            return json.loads(text, parse_constant=lambda _: None)
        except ValueError:
            raise strict from None


def _line(line: str, number: int, file: str) -> dict[str, Any]:
    try:
        value = _decoded(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", _ADVICE, file=file, line=number) from error
    if not isinstance(value, dict):
        raise InputError("not an object", _ADVICE, file=file, line=number)
    return value


def label_text(value: Any) -> str | None:
    """A value as the text of a label; several choices are in alphabetical order; `None` for what is not a label."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [label_text(part) for part in value if not isinstance(part, list)]
        known = [part for part in parts if part]
        return SEVERAL.join(sorted(known)) if len(known) == len(value) else None
    return None if isinstance(value, dict) else plain(value)


_WHO = "annotator"


def _is_export(name: str) -> bool:
    """Return whether a file may be an annotator's; macOS puts a file of its own, `._NAME`, beside each."""
    path = PurePosixPath(name)
    return path.suffix in (".jsonl", ".json") and not path.name.startswith("._")


def folder_records(folder: Path) -> LabelRecords | None:
    """The records of all files of a folder, each with its file's name as `annotator`; `None` where it has no JSON."""
    values, places = [], []
    for path in sorted(one for one in folder.iterdir() if _is_export(one.name) and one.is_file()):
        content = read_content(path, "labels")
        if content.strip():
            records = json_records(decoded(content, str(path)), str(path))
            values += [{_WHO: path.stem} | value for value in records.values]
            places += records.places
    return LabelRecords(shown(folder), values, places, "record") if values else None


def packed_records(content: bytes, file: str) -> LabelRecords | None:
    """The records of all files of an archive, each with its file's name as `annotator`; `None` where it has no JSON."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return None
    values, places, left = [], [], MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in sorted(filter(_is_export, archive.namelist())):
                with archive.open(name) as member:
                    unpacked = member.read(left + 1)
                left -= len(unpacked)
                if left < 0:
                    raise InputError(f"it unpacks to over {MOST_BYTES >> 20} MiB", "Pack fewer files.", file=file)
                if unpacked.strip():
                    records = json_records(decoded(unpacked, f"{file}/{name}"), f"{file}/{name}")
                    values += [{_WHO: PurePosixPath(name).stem} | value for value in records.values]
                    places += records.places
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise InputError(f"not a zip archive that can be read: {error}", "Export it again.", file=file) from error
    return LabelRecords(file, values, places, "record") if values else None

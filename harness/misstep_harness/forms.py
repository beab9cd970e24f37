"""Decode files that people write into their form; an error says line, key, what is valid and the nearest of it."""

import csv
import io
import re
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, inspect

from misstep_harness.errors import InputError

T = TypeVar("T")
Row = TypeVar("Row", bound=Struct)

_AT = re.compile(r"((?:(?! - at `).)*+)(?: - at `(?:key in )?\$(.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|(\[\.\.\.\])")
_TOML_PLACE = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)
_EXPECTED = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
    "date": "a date, as 2026-01-31",
}
_MOST_SHOWN = 40


def toml_form(data: bytes, type_: type[T], file: Path, form: str) -> T:
    """Return a TOML file as a struct."""
    try:
        text = data.removeprefix(BOM_UTF8).decode()
        raw = msgspec.toml.decode(text)
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", "Save the file as UTF-8.", file=file) from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        # What reads TOML says no in more ways than one: a number of 5,000 digits, brackets nested 10,000 deep.
        place = _TOML_PLACE.fullmatch(str(error))
        message = f"not valid TOML: {place[1]}, column {place[3]}" if place else f"not valid TOML: {error}"
        raise InputError(message, form, file=file, line=int(place[2]) if place else None) from error
    try:
        return msgspec.convert(raw, type_)
    except msgspec.ValidationError as error:
        raise _broken(error, raw, type_, form, file=file, text=text) from error


def json_form(data: bytes, decoder: "msgspec.json.Decoder[T]", file: Path, line: int, form: str) -> T:
    """Return a line of JSON as a struct; otherwise as `toml_form`."""
    try:
        try:
            return decoder.decode(data)
        except msgspec.ValidationError as error:
            raise _broken(error, msgspec.json.decode(data), decoder.type, form, file=file, line=line) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", form, file=file, line=line) from error


def csv_form(text: str, type_: type[Row], file: Path, optional: Collection[str] = ()) -> Iterator[Row]:
    """Return the rows of a CSV file as structs; other columns are left out.

    An empty cell takes the field's default, and is an error if it has none. `optional` columns may be missing as a
    whole.
    """
    wanted = [name for name in type_.__struct_encode_fields__ if name not in optional]
    _, lines = csv_table(text, wanted, file)
    for number, cells in lines:
        try:
            yield msgspec.convert({column: cell for column, cell in cells.items() if cell}, type_, strict=False)
        except msgspec.ValidationError as error:
            raise InputError(str(error), file=file, line=number) from error


def csv_table(text: str, wanted: Iterable[str], file: Path) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Return the columns of a CSV file and its rows: the line on which a row ends, and column → cell as written."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    columns = list(reader.fieldnames or [])
    for column in wanted:
        if column not in columns:
            lacks = f"the column is missing; the columns are {', '.join(columns)}"
            raise InputError(lacks, file=file, line=1, field=column)
    return columns, _complete_rows(reader, file)


def _complete_rows(reader: "csv.DictReader[str]", file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    for cells in reader:
        if None in cells or None in cells.values():
            raise InputError("the row and the header have different numbers of cells", file=file, line=reader.line_num)
        yield reader.line_num, cells


_DESCRIBING = ("licence", "license")
"""Keys that describe any file and are spelt like another one (`evidence`)."""


def misspelt(data: bytes, known: Iterable[str], file: Path, form: str) -> None:
    """Refuse a key at the top of a TOML file that is nearly a known one which is not there; others are let be."""
    text = data.removeprefix(BOM_UTF8).decode()
    raw = msgspec.toml.decode(text)
    lacking = [name for name in known if name not in raw]
    for key in raw:
        if key not in (*known, *_DESCRIBING) and (near := nearest(key, lacking)):
            raise InputError(f"unknown key {key!r}", f"{near}{form}", file=file, line=line_of(text, [key]), field=key)


def _broken(
    error: msgspec.ValidationError,
    raw: Any,
    type_: Any,
    form: str,
    *,
    file: Path,
    line: int | None = None,
    text: str = "",
) -> InputError:
    match = _AT.fullmatch(str(error))
    error_text, path = (match[1], match[2] or "") if match else (str(error), "")
    steps = [name or (int(place) if place else None) for name, place, _ in _STEP.findall(path)]
    kind, value = _at(inspect.type_info(type_), raw, steps)
    message, advice, key = _explained(error_text, kind, value)
    steps += [key] if key else []
    if line is None and text:
        line = line_of(text, steps)
    if not text:
        message = message.replace("a table", "an object")
    field = "".join(f".{step}" if isinstance(step, str) else f"[{'…' if step is None else step}]" for step in steps)
    return InputError(message, f"{advice}{form}", file=file, line=line, field=field.lstrip("."))


def _explained(error_text: str, kind: inspect.Type | None, value: Any) -> tuple[str, str, str]:
    """Return what was found, what is valid there, and the key that it is about."""
    if isinstance(kind, inspect.StructType) and isinstance(value, Mapping):
        names = [field.encode_name for field in kind.fields]
        lacking = [field.encode_name for field in kind.fields if field.required and field.encode_name not in value]
        unknown = [key for key in value if key not in names]
        if "unknown field" in error_text and unknown:
            rest = [name for name in names if name not in value]
            advice = f"{nearest(unknown[0], rest or names)}Keys: {', '.join(names)}. "
            return f"unknown key {unknown[0]!r}", advice, unknown[0]
        if "missing required" in error_text and lacking:
            listed = " and ".join(filter(None, [", ".join(lacking[:-1]), lacking[-1]]))
            missing = f"the key{'s' if lacking[1:] else ''} {listed} {'are' if lacking[1:] else 'is'} missing"
            allowed = {field.encode_name: values_of(field.type) for field in kind.fields}
            alternatives = "".join(f"Valid for {key}: {', '.join(allowed[key])}. " for key in lacking if allowed[key])
            return missing, f"Keys: {', '.join(names)}. {alternatives}", ""
    valid = values_of(kind)
    shown = _shown(value)
    if valid:
        near = nearest(value, valid) if isinstance(value, str) else ""
        return f"{shown} is not valid", f"{near}Valid: {', '.join(valid)}. ", ""
    if expected := _EXPECTED.fullmatch(error_text):
        wanted = " or ".join(WORDS.get(one.strip(), one.strip()) for one in expected[1].split("|"))
        return f"{shown} where {wanted} is expected", "", ""
    if isinstance(kind, inspect.DateType):
        return f"{shown} is not a date", "Write it as 2026-01-31. ", ""
    return error_text, "", ""


def _at(kind: inspect.Type | None, value: Any, steps: list[str | int | None]) -> tuple[inspect.Type | None, Any]:
    for step in steps:
        kind = _inside(kind, step)
        if isinstance(value, Mapping) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            value = None if step is not None else _first_wrong(kind, value)
    return kind, value


def _first_wrong(kind: inspect.Type | None, value: Any) -> Any:
    """The value that breaks the form in a table whose key the error does not name: the first of another type."""
    values = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    if isinstance(kind, inspect.StrType):
        return next((one for one in values if not isinstance(one, str)), None)
    return values[0] if len(values) == 1 else None


def _inside(kind: inspect.Type | None, step: str | int | None) -> inspect.Type | None:
    if isinstance(kind, inspect.UnionType):
        return next((inner for one in kind.types if (inner := _inside(one, step)) is not None), None)
    if isinstance(kind, inspect.StructType) and isinstance(step, str):
        return next((field.type for field in kind.fields if field.encode_name == step), None)
    if isinstance(kind, inspect.VarTupleType | inspect.ListType) and not isinstance(step, str):
        return kind.item_type
    if isinstance(kind, inspect.DictType):
        return kind.value_type
    return None


def values_of(kind: inspect.Type | None) -> list[str]:
    """Return the values that a type allows, where it lists them."""
    if isinstance(kind, inspect.UnionType):
        return [value for one in kind.types for value in values_of(one)]
    return [str(value) for value in kind.values] if isinstance(kind, inspect.LiteralType) else []


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the question whether the nearest of the known words was meant; empty where none is near."""
    matches = get_close_matches(word.casefold(), list(known), 1, 0.6)
    return f"Did you mean {matches[0]}? " if matches else ""


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…"


def line_of(text: str, steps: list[str | int | None]) -> int | None:
    """Return the line of a TOML text that holds what a path leads to: as far as the keys of the path are in it."""
    lines = text.splitlines()
    last: int | None = None
    start = 0
    for place, step in enumerate(steps):
        if not isinstance(step, str):
            continue
        key = re.escape(step)
        head = re.compile(rf"""\s*(?:\[+\s*(?:[\w.-]+\.)?["']?{key}["']?\s*\]+|(?:[\w-]+\.)*["']?{key}["']?\s*[=.])""")
        which = steps[place + 1] if place + 1 < len(steps) else 0
        places = [number for number in range(start, len(lines)) if head.match(lines[number])]
        if not places:
            return last
        of_tables = [number for number in places if lines[number].lstrip().startswith("[[")]
        wanted = of_tables[which] if isinstance(which, int) and which < len(of_tables) else places[0]
        last, start = wanted + 1, wanted
    return last

"""Misstep's own runs: one `Trajectory` a line or document, as data sets and benchmarks hold them.

    {"id": "run-7", "source": {"format": "atif", "file": "runs/7.json"}, "task": "Repair the parser.", "steps": [
        {"role": "user", "text": "Repair the parser."},
        {"role": "agent", "text": "Reading it.", "calls": [{"name": "read", "arguments": {"path": "a.py"}, "id": "c1"}],
         "results": [{"text": "x = 1", "call_id": "c1"}]}]}

Any field that `harness.trajectory` does not have goes to the `extra` of its level. A run keeps the `source` that it
states; `id` and `source` may be left out. The lines of a benchmark's `items.jsonl` are read as well: an item whose
`trajectory` is an object of any known format holds a run.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec

from misstep_harness.errors import InputError, UnknownFormat, UnreadableTrajectory
from misstep_harness.items import Item, Kind
from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers import all_readers
from misstep_harness.readers.checking import read_value
from misstep_harness.readers.files import HEAD, recognise
from misstep_harness.readers.input.decoding import convert, decode_json, name_of, unreadable
from misstep_harness.trajectory import Role, Source, Step, ToolCall, ToolResult, Trajectory

FORMAT = "misstep"
UNIT: Unit = "value"

_ROLES = frozenset(get_args(Role))
_KINDS = frozenset(get_args(Kind))
_OF_CHATS = frozenset({"content", "value", "message"})
_FIELDS: dict[type[msgspec.Struct], frozenset[str]] = {
    type_: frozenset(type_.__struct_fields__) for type_ in (Trajectory, Step, ToolCall, ToolResult, Item)
}

_PLACE = "inline"
_INLINE = "Give it as Misstep writes runs, as an object of a known format, or as the path of a file."

Raw = dict[str, Any]


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no runs as Misstep writes them, and no items of a benchmark."""
    value = sample.first
    if not isinstance(value, dict):
        return "no JSON object"
    if _is_item(value):
        return None
    source, steps = value.get("source"), value.get("steps", [])
    if source is not None and not (isinstance(source, dict) and isinstance(source.get("format"), str)):
        return "its `source` names no format"
    if not isinstance(steps, list):
        return "its `steps` are not a list"
    if source is None and not steps and not ("steps" in value and value.keys() <= _FIELDS[Trajectory]):
        return "neither a `source` nor `steps`"
    odd = next((place for place, step in enumerate(steps) if not _is_step(step)), None)
    return None if odd is None else f"step {odd} has none of the roles user, agent and system, or is a chat's message"


def _is_item(value: Raw) -> bool:
    """Return whether it is an item of a benchmark, which may have any fields besides its run."""
    if not (isinstance(value.get("id"), str) and isinstance(value.get("kind"), str) and value["kind"] in _KINDS):
        return False
    return "trajectory" in value or value.keys() <= _FIELDS[Item]


def _is_step(step: Any) -> bool:
    role = step.get("role") if isinstance(step, dict) else None
    return isinstance(role, str) and role in _ROLES and not step.keys() & _OF_CHATS


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the run of one line or document; of an item of a benchmark the run that is in it, if one does."""
    value = decode_json(data, source)
    if not isinstance(value, dict):
        raise unreadable("no JSON object", source)
    if not _is_item(value):
        yield _trajectory(value, source)
    elif isinstance(value.get("trajectory"), dict):
        try:
            yield inline_run(value["trajectory"], value["id"])
        except InputError as error:
            raise unreadable(f"{error.field}: {error.found}", source) from error


def _trajectory(value: Raw, source: Source) -> Trajectory:
    stated = value.get("source")
    if stated is None and "steps" not in value:
        raise unreadable("neither a `source` nor `steps`", source)
    own = stated is None or (isinstance(stated, dict) and stated == {"format": FORMAT})
    placed = {"id": name_of(source)} | value | ({"source": source} if own else {})
    _keep_more(placed, source)
    return convert(placed, Trajectory, source)


def _keep_more(value: Raw, source: Source) -> None:
    _to_extra(value, Trajectory, source)
    for step in _objects(value.get("steps")):
        _to_extra(step, Step, source)
        for call in _objects(step.get("calls")):
            _to_extra(call, ToolCall, source)
        for result in _objects(step.get("results")):
            _to_extra(result, ToolResult, source)


def _objects(values: Any) -> Iterable[Raw]:
    return (value for value in values if isinstance(value, dict)) if isinstance(values, list) else ()


def _to_extra(value: Raw, type_: type[msgspec.Struct], source: Source) -> None:
    fields = _FIELDS[type_]
    if value.keys() <= fields:
        return
    extra = value.get("extra", {})
    if not isinstance(extra, dict):
        raise unreadable("`extra` is not an object", source)
    value["extra"] = extra | {name: value.pop(name) for name in value.keys() - fields}


def inline_run(value: dict[str, Any], item: str) -> Trajectory:
    """Return the run that is in an item itself, in any known format; one without a name has the item's id."""
    field = f"item {item!r}: trajectory"
    try:
        data = msgspec.json.encode(value)
        sample = Sample(Path(_PLACE), "document", value, data[:HEAD].decode(errors="replace"))
        try:
            reader = recognise(sample, all_readers())
        except UnknownFormat as error:
            message = f"not a run of a known format; read as Misstep's own format: {_not_own(data, error)}"
            raise InputError(message, _INLINE, field=field) from error
        runs = list(read_value(data, reader, Source(reader.FORMAT, _PLACE)))
    except RecursionError as error:
        raise InputError("not a run: the data are nested too deep", _INLINE, field=field) from error
    except UnreadableTrajectory as error:
        raise InputError(f"not a run: {error.found}", _INLINE, field=field) from error
    if len(runs) != 1:
        raise InputError(f"{len(runs)} runs were found where one is expected", "Put the runs into a file.", field=field)
    return msgspec.structs.replace(runs[0], id=item) if runs[0].id == _PLACE else runs[0]


def _not_own(data: bytes, refused: UnknownFormat) -> str:
    try:
        next(read(data, Source(FORMAT, _PLACE)))
    except UnreadableTrajectory as error:
        return error.found
    return refused.reasons[FORMAT]

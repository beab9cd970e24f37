"""What every reader of a trajectory format keeps, found by the registry: a new one is tested as soon as it is in it."""

import copy
import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.protocols import Reader, Sample, Unit
from misstep_harness.readers import READERS, all_readers, read_file, reader_for
from misstep_harness.readers.checking import checked
from misstep_harness.readers.files import recognise, sample_file
from misstep_harness.readers.interchange.atif import from_atif, read, to_atif
from misstep_harness.trajectory import Source, ToolCall, Trajectory, Unreadable
from tests.families.recordings import recording_of

FORMATS = sorted(READERS)
MARK = "said-nowhere-else"


def seen(recording: bytes, folder: Path) -> Sample:
    """What readers are shown of a recording, in a file whose name tells nothing."""
    path = folder / "recording"
    path.write_bytes(recording)
    return sample_file(path)


def values_of(recording: bytes, reader: Reader) -> list[bytes]:
    """The pieces of a recording that the reader is given one by one."""
    return recording.splitlines() if reader.UNIT == "value" and _documents(recording) else [recording]


def trajectories(recording: bytes, reader: Reader) -> list[Trajectory]:
    source = Source(reader.FORMAT, "runs/recording", 3)
    return [result for value in values_of(recording, reader) for result in reader.read(value, source)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_reader_names_its_format_as_the_registry_does_and_says_what_it_reads(name: str) -> None:
    reader = reader_for(name)
    assert name == reader.FORMAT
    assert reader.UNIT in get_args(Unit)
    assert len(reader.__doc__ or "") > 200, "its module shows one real row's shape"


@pytest.mark.parametrize("name", FORMATS)
def test_a_recording_is_recognised_by_exactly_one_reader(name: str, tmp_path: Path) -> None:
    sample = seen(recording_of(name), tmp_path)
    answers = {other: reader_for(other).refuse(sample) for other in FORMATS}
    assert {other for other, reason in answers.items() if reason is None} <= {name, "chat_log"}
    assert answers[name] is None
    assert "" not in answers.values(), "each other says why not"
    assert name == recognise(sample, all_readers()).FORMAT, "who takes any chat is asked last"


@pytest.mark.parametrize("name", FORMATS)
def test_a_reader_gives_trajectories_with_steps_and_where_they_come_from(name: str) -> None:
    runs = trajectories(recording_of(name), reader_for(name))
    assert msgspec.json.decode(msgspec.json.encode(runs), type=list[Trajectory]) == runs != [], (
        "each field has its type"
    )
    for trajectory in runs:
        assert trajectory.id
        assert (trajectory.source.format, trajectory.source.file) == (name, "runs/recording")
        assert any(step.role == "agent" for step in trajectory.steps)


@pytest.mark.parametrize("name", FORMATS)
def test_written_as_atif_and_read_again_a_trajectory_is_the_same_with_its_source(name: str) -> None:
    for trajectory in trajectories(recording_of(name), reader_for(name)):
        document = to_atif(trajectory)
        assert list(read(msgspec.json.encode(document), Source("atif", "elsewhere"))) == [trajectory]
        assert from_atif(document) == trajectory


@pytest.mark.parametrize("name", FORMATS)
def test_a_field_that_no_version_of_the_format_has_is_kept(name: str) -> None:
    reader = reader_for(name)
    recording = recording_of(name)
    for altered in _with_unknown_field(recording):
        assert MARK in msgspec.json.encode(trajectories(altered, reader)).decode(), altered.decode()


def _with_unknown_field(recording: bytes) -> Iterator[bytes]:
    """The recording with one more field in its outermost object, or in that of one of its lines or items."""
    documents = _documents(recording)
    for number, document in enumerate(documents):
        for position in range(len(document)) if isinstance(document, list) else [None]:
            altered = copy.deepcopy(documents)
            target = altered[number] if position is None else altered[number][position]
            target["unheard_of"] = MARK
            yield _joined(altered)


def _documents(recording: bytes) -> list[Any]:
    """The JSON values of a recording, one a line or one in all; none in a text."""
    for pieces in (recording.splitlines(), [recording]):
        try:
            return [json.loads(piece) for piece in pieces]
        except ValueError:  # broken JSON or not UTF-8
            continue
    return []


def _joined(documents: list[Any]) -> bytes:
    return b"\n".join(json.dumps(document).encode() for document in documents)


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_the_bytes_a_reader_raises_nothing_but_unreadable(name: str, data: st.DataObject) -> None:
    recording = recording_of(name)
    mutate: Callable[[bytes, st.DataObject], bytes] = data.draw(st.sampled_from((_cut, _overwrite, _replace_value)))
    reader = reader_for(name)
    try:
        result = trajectories(mutate(recording, data), reader)
    except UnreadableTrajectory:
        return
    for trajectory in result:
        assert checked(trajectory, trajectory.source)
        assert list(read(msgspec.json.encode(to_atif(trajectory)), Source("atif"))) == [trajectory]


_NONE_IS_EMPTY = {"goose", "goose_jsonl", "misstep"}
"""Formats in which arguments that are left out are none: the Model Context Protocol leaves out empty ones, as we do."""


@pytest.mark.parametrize("name", FORMATS)
def test_no_answer_and_no_arguments_are_invented_where_the_recording_lacks_them(name: str) -> None:
    reader = reader_for(name)
    documents = _documents(recording_of(name))
    before = _empties(trajectories(recording_of(name), reader))
    for place in _places(documents):
        if not place or not isinstance(place[-1], str):
            continue
        without = _without(documents, place)
        left = [] if _value_at(without, place[:-1]) == {} else [without]  # an empty object is recorded as one
        for altered in (*left, _replaced(documents, place, None)):
            with suppress(UnreadableTrajectory):
                runs = trajectories(_joined(altered), reader)
                for read_runs in (runs, [from_atif(to_atif(run)) for run in runs]):
                    invented = _empties(read_runs) - before
                    assert not {what for what in invented if what[0] == "result" or name not in _NONE_IS_EMPTY}, place


def _empties(runs: list[Trajectory]) -> set[tuple[str, str | None]]:
    """The calls with arguments that are recorded as none, and those with answers that are recorded as empty."""
    calls = {("call", call.id) for run in runs for step in run.steps for call in step.calls if _is_none(call)}
    results = (result for run in runs for step in run.steps for result in step.results)
    return calls | {
        ("result", one.call_id) for one in results if one.recorded and not one.text and not one.extra.get("content")
    }


def _is_none(call: ToolCall) -> bool:
    return call.recorded and not call.arguments and call.parse_error is None


def _without(documents: list[Any], place: tuple[Any, ...]) -> list[Any]:
    altered = copy.deepcopy(documents)
    del _value_at(altered, place[:-1])[place[-1]]
    return altered


def _value_at(value: Any, place: tuple[Any, ...]) -> Any:
    for name in place:
        value = value[name]
    return value


HOSTILE_VALUES = (
    "Calling tools:\n[{'id': 'c', 'function': {'name': {1}, 'arguments': {'a': {1, 2}, 2: b'x', 'c': (1j, ...)}}}]",
    "{'a': {1, 2}, 'b': 1j}",
    '{"a": NaN, "b": 1e999}',
    "\ud800\x00\u202e",
    "9" * 5000,
    10**400,
    -(10**30),
    math.nan,
    -math.inf,
    1e308,
)


@pytest.mark.parametrize("name", FORMATS)
def test_what_was_read_holds_json_values_alone_whatever_stands_in_the_recording(name: str) -> None:
    reader = reader_for(name)
    documents = _documents(recording_of(name))
    for place in _places(documents):
        for hostile in HOSTILE_VALUES if place else ():
            with suppress(UnreadableTrajectory):
                for trajectory in trajectories(_joined(_replaced(documents, place, hostile)), reader):
                    assert checked(trajectory, trajectory.source)
                    assert list(read(msgspec.json.encode(to_atif(trajectory)), Source("atif"))) == [trajectory]


def _replaced(documents: list[Any], place: tuple[Any, ...], value: Any) -> list[Any]:
    altered = copy.deepcopy(documents)
    target: Any = altered
    for name in place[:-1]:
        target = target[name]
    target[place[-1]] = value
    return altered


def _cut(recording: bytes, data: st.DataObject) -> bytes:
    return recording[: data.draw(st.integers(0, len(recording) - 1))]


def _overwrite(recording: bytes, data: st.DataObject) -> bytes:
    altered = bytearray(recording)
    for _ in range(data.draw(st.integers(1, 4))):
        altered[data.draw(st.integers(0, len(altered) - 1))] = data.draw(st.integers(0, 255))
    return bytes(altered)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def _replace_value(recording: bytes, data: st.DataObject) -> bytes:
    """The recording with one of its JSON values exchanged for any other."""
    documents = _documents(recording)
    if not documents:
        return _overwrite(recording, data)
    number = data.draw(st.integers(0, len(documents) - 1))
    place = (number, *data.draw(st.sampled_from(list(_places(documents[number])))))
    return _joined(_replaced(documents, place, data.draw(JSON_VALUES)))


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from _places(item, (*path, name))


@pytest.mark.parametrize("name", [name for name in FORMATS if reader_for(name).UNIT == "file"])
def test_a_line_that_a_crash_cut_off_is_kept_and_a_broken_one_before_it_is_named(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, recording = reader_for(name), recording_of(name).rstrip() + b"\n"
    kept = trajectories(recording + b'{"type": "mess', reader)
    assert '{"type": "mess' in [one.extra.get("unfinished_line") for one in kept]
    first, *others = recording.splitlines(keepends=True)
    with pytest.raises(UnreadableTrajectory) as raised:
        trajectories(first + b'{"type": \n' + b"".join(others or [first]), reader)
    assert raised.value.line_number == 2
    if len(others) < 2:
        return
    (tmp_path / "whole").write_bytes(recording)
    (tmp_path / "damaged").write_bytes(first + others[0][:40] + b"\n" + b"".join(others))
    (tmp_path / "glued").write_bytes(first.rstrip() + b"".join(others))
    whole, damaged, glued = (list(read_file(tmp_path / which)) for which in ("whole", "damaged", "glued"))
    assert f"{tmp_path}/damaged:2: half a line that line 3 repeats whole" in capsys.readouterr().err
    assert (
        [step_texts(one) for one in whole] == [step_texts(one) for one in damaged] == [step_texts(one) for one in glued]
    )


def step_texts(run: Trajectory | Unreadable) -> list[str]:
    assert isinstance(run, Trajectory)
    return [step.text for step in run.steps]


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        (
            "claude_code",
            "$.message.usage.output_tokens",
            {"type": "assistant", "message": {"usage": {"output_tokens": ""}}},
        ),
        ("codex", "$.call_id", {"type": "response_item", "payload": {"type": "function_call", "call_id": 3}}),
        ("gemini_cli", "$.tokens.input", {"id": "m9", "type": "gemini", "tokens": {"input": "many"}}),
        ("pi", "$.message.usage.input", {"type": "message", "message": {"usage": {"input": "many"}}}),
    ],
)
def test_a_field_of_the_wrong_type_is_named_with_its_line(name: str, field: str, value: Any) -> None:
    first = recording_of(name).splitlines()[0]
    with pytest.raises(UnreadableTrajectory, match=field.replace("$", r"\$")) as raised:
        trajectories(first + b"\n" + json.dumps(value).encode(), reader_for(name))
    assert raised.value.line_number == 2


def test_deep_nesting_is_unreadable_for_every_reader_of_json() -> None:
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    for name in FORMATS:
        if not recording_of(name).startswith((b"{", b"[")):
            continue
        with pytest.raises(UnreadableTrajectory):
            list(reader_for(name).read(deep, Source(name, "deep.json")))

"""Readers from elsewhere and what they give: whatever they do costs one file, named with their package."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import ReaderFailed, UnreadableTrajectory
from misstep_harness.protocols import Reader, Sample, Unit
from misstep_harness.readers import READERS, all_readers, read_file
from misstep_harness.readers.checking import DEPTH_LIMIT, checked, read_value
from misstep_harness.readers.files import read_file as read_with
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory, Unreadable
from tests.families.recordings import recording_of

SOURCE = Source("any", "runs/a.jsonl", 7)


class Refusing:
    """A reader that does as it is told when it is asked about a file, and gives what it is told."""

    UNIT: Unit = "value"

    def __init__(self, name: str, refusal: Any = None, *given: Any) -> None:
        self.FORMAT = name
        self._refusal = refusal
        self._given = given

    def refuse(self, sample: Sample) -> str | None:  # noqa: ARG002
        """What it was told to say or raise."""
        if isinstance(self._refusal, BaseException):
            raise self._refusal
        return self._refusal

    def read(self, data: bytes, source: Source) -> Iterator[Any]:  # noqa: ARG002
        """What it was told to give or raise."""
        for one in self._given:
            if isinstance(one, BaseException):
                raise one
            yield one


RAISED = (
    ValueError("oh\nno"),
    KeyError("x"),
    RecursionError(),
    MemoryError(),
    SystemExit(3),
    AssertionError(),
    StopIteration(),
    UnicodeDecodeError("utf-8", b"x", 0, 1, "no"),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.json"
    path.write_text('{"id": 1}')
    return path


@pytest.mark.parametrize("raised", RAISED, ids=lambda raised: type(raised).__name__)
def test_a_reader_that_raises_when_it_is_asked_costs_the_files_that_no_other_knows(file, raised) -> None:
    broken, willing = Refusing("broken", raised), Refusing("willing", None, Trajectory("t", SOURCE))
    assert [one.id for one in read_with(file, [broken, willing]) if isinstance(one, Trajectory)] == ["t"]
    (result,) = read_with(file, [broken, Refusing("other", "not mine")])
    assert isinstance(result, Unreadable)
    assert f"the reader 'broken' of {__name__} failed: {type(raised).__name__}" in result.error
    assert "\n" not in result.error


@pytest.mark.parametrize("raised", RAISED, ids=lambda raised: type(raised).__name__)
def test_a_reader_that_raises_while_it_reads_costs_what_it_was_reading(file: Path, raised: BaseException) -> None:
    first, second = read_with(file, [Refusing("broken", None, Trajectory("t", SOURCE), raised)])
    assert isinstance(first, Trajectory)
    assert isinstance(second, Unreadable)
    assert second.file == str(file)
    if not isinstance(raised, RecursionError):
        assert f"'broken' of {__name__} failed" in second.error


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {"id": "t"},
        Trajectory(3, SOURCE),  # type: ignore[arg-type]
        Trajectory("t", SOURCE, steps=None),  # type: ignore[arg-type]
        Trajectory("t", SOURCE, steps=(Step("agent", text=None),)),  # type: ignore[arg-type]
        Trajectory("t", SOURCE, steps=(Step("robot"),)),  # type: ignore[arg-type]
        Trajectory("t", SOURCE, task="\ud800"),
        Trajectory("t", SOURCE, extra={"x": 1j}),
        pytest.param(Trajectory("t", SOURCE, extra={"x": 10**5000}), id="long number"),
        Trajectory("t", SOURCE, extra={"x": object()}),
    ],
)
def test_what_a_reader_from_elsewhere_gives_and_is_no_trajectory_costs_it_alone(file: Path, value: Any) -> None:
    first, second = read_with(file, [Refusing("odd", None, Trajectory("t", SOURCE), value)])
    assert isinstance(first, Trajectory)
    assert isinstance(second, Unreadable)
    assert f"'odd' of {__name__} failed" in second.error


def test_a_registered_reader_that_cannot_be_loaded_fails_on_the_files_that_no_other_knows(tmp_path, monkeypatch):
    (tmp_path / "raising_reader.py").write_text("raise RuntimeError('no such licence')")
    (tmp_path / "lacking_reader.py").write_text("FORMAT = 'lacking'\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("raising", "lacking", "missing"):
        monkeypatch.setitem(READERS, f"{name}-of-the-test", f"{name}_reader")
    known, unknown = tmp_path / "known.json", tmp_path / "unknown.json"
    known.write_bytes(recording_of("atif"))
    unknown.write_text('{"id": 1}')
    assert all(isinstance(one, Trajectory) for one in read_file(known))
    (result,) = read_file(unknown)
    assert isinstance(result, Unreadable)
    assert "the reader 'raising-of-the-test' of raising_reader failed: RuntimeError: no such licence" in result.error
    failing = [reader for reader in all_readers() if reader.FORMAT.endswith("-of-the-test")]
    assert len(failing) == 3
    for reader in failing:
        with pytest.raises(ReaderFailed, match=f"of {reader.FORMAT.split('-')[0]}_reader failed"):
            list(read_value(b"", reader, SOURCE))
    sys.modules.pop("lacking_reader", None)


@pytest.mark.parametrize(
    "value",
    [{1}, (1,), b"x", 1j, ..., {1: 2}, frozenset(), bytearray(), object(), [[{"a": {1}}]]],
    ids=lambda value: type(value).__name__,
)
def test_what_json_does_not_have_makes_a_trajectory_unreadable_wherever_it_stands(value: Any) -> None:
    for trajectory in _with_value({"a": value}):
        with pytest.raises(UnreadableTrajectory, match=r"a\.jsonl:7: a (value|name) of type") as raised:
            checked(trajectory, SOURCE)
        assert "JSON" in raised.value.found


def test_a_value_is_nested_256_deep_at_most_wherever_it_stands() -> None:
    for depth, is_read in ((DEPTH_LIMIT, True), (DEPTH_LIMIT + 1, False), (990, False), (100_000, False)):
        for trajectory in _with_value(nested(depth)):
            if is_read:
                assert checked(trajectory, SOURCE)
            else:
                with pytest.raises(UnreadableTrajectory, match="nested too deep"):
                    checked(trajectory, SOURCE)


def test_what_is_repeated_is_counted_each_time() -> None:
    text = "x" * 1000
    assert checked(Trajectory("t", SOURCE, extra={"a": [text] * 50}), SOURCE, 60_000) > 50_000
    repeating = (
        Trajectory("t", SOURCE, extra={"a": [text] * 70}),
        Trajectory("t", SOURCE, extra={text + str(n): n for n in range(70)}),
        Trajectory("t", SOURCE, steps=(Step("agent", text),) * 70),
        Trajectory("t", SOURCE, steps=(Step("agent", results=(ToolResult(text),)),) * 70),
        Trajectory("t", SOURCE, steps=(Step("agent", calls=(ToolCall("f", {"a": text}),)),) * 70),
    )
    for trajectory in repeating:
        with pytest.raises(UnreadableTrajectory, match="repeats so much"):
            checked(trajectory, SOURCE, 60_000)


def test_all_trajectories_of_one_value_share_what_they_may_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep_harness.readers.checking.EXPANSION_LIMIT", 2000)
    reader: Reader = Refusing("many", None, *[Trajectory("t", SOURCE, extra={"log": "x" * 500})] * 10)
    read = []
    with pytest.raises(UnreadableTrajectory, match="repeats so much"):
        read.extend(read_value(b"x" * 500, reader, SOURCE))
    assert len(read) < 10


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value or {"a": 1}


def _with_value(value: dict[str, Any]) -> Iterator[Trajectory]:
    """Trajectories with the value in each of the places that take any JSON value."""
    yield Trajectory("t", SOURCE, extra=value)
    for step in (
        Step("agent", extra=value),
        Step("agent", calls=(ToolCall("f", value),)),
        Step("agent", calls=(ToolCall("f", extra=value),)),
        Step("agent", results=(ToolResult("", extra=value),)),
    ):
        yield Trajectory("t", SOURCE, steps=(Step("user", "Go."), step))

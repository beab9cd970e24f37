"""The runs in a file, by their ids, and the run in an item: what the items of a benchmark are about.

A benchmark may hold thousands of runs in one file. Of a file that Misstep wrote, with one `Trajectory` a line, only the
places of the lines are kept and a run is decoded when it is looked at; any other format is read as a whole.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from harness.errors import InputError, UnknownFormat, UnreadableTrajectory
from harness.places import path_text
from harness.protocols import Sample
from harness.readers import all_readers, read_file
from harness.readers.checking import checked, read_value
from harness.readers.files import HEAD, recognise
from harness.trajectory import Source, Trajectory, Unreadable

_DECODED_RUNS_HELD = 8
_ADVICE = "Repair the run, or take its items out."
_INLINE = "Give it as Misstep writes runs, as an object of a known format, or as the path of a file."

T = TypeVar("T")


class _Head(Struct):
    id: str
    source: Source


_head = msgspec.json.Decoder(_Head)
_run = msgspec.json.Decoder(Trajectory)


def runs_by_id(file: Path) -> Mapping[str, Trajectory]:
    """The runs of a file: as Misstep writes them into a benchmark, or of any known format.

    Raises
    ------
    InputError
        A run cannot be read; names file and line.
    """
    if is_own(file):
        return _OwnRuns(file)
    runs: dict[str, Trajectory] = {}
    for run in read_file(file):
        if isinstance(run, Unreadable):
            raise InputError(run.error, _ADVICE, file=run.file, line=run.line)
        runs[run.id] = run
    return runs


def inline_run(value: dict[str, Any], item: str) -> Trajectory:
    """The run that stands in an item itself: as Misstep writes runs (id and source may be left out), or of any format.

    Raises
    ------
    InputError
        It is neither, or not one run; names the item.
    """
    field = f"item {item!r}: trajectory"
    own = "it has no steps"
    try:
        if "steps" in value:
            try:
                run = msgspec.convert({"id": item, "source": {"format": "inline"}} | value, Trajectory)
                checked(run, run.source)
                return run
            except msgspec.ValidationError as error:
                own = str(error)
        data = msgspec.json.encode(value)
        reader = recognise(
            Sample(Path("inline"), "document", value, data[:HEAD].decode(errors="replace")), all_readers()
        )
        runs = list(read_value(data, reader, Source(reader.FORMAT, "inline")))
    except UnknownFormat as error:
        said = f"no run of any known format; read as Misstep's own: {own}"
        raise InputError(said, _INLINE, field=field) from error
    except RecursionError as error:
        raise InputError("no run: nested too deep", _INLINE, field=field) from error
    except UnreadableTrajectory as error:
        raise InputError(f"no run: {error.found}", _INLINE, field=field) from error
    if len(runs) != 1:
        raise InputError(f"{len(runs)} runs where one is meant", "Put them into a file.", field=field)
    return runs[0]


class _OwnRuns(Mapping[str, Trajectory]):
    """The runs of a file with one `Trajectory` a line; of the lines only id and place are kept."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}
        with file.open("rb") as stream:
            place = 0
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    self._places[_decoded(line, _head, file, number).id] = place, number
                place += len(line)
        self._at = lru_cache(maxsize=_DECODED_RUNS_HELD)(self._read)

    def __getitem__(self, name: str) -> Trajectory:
        """The run of that id; `KeyError` where there is none."""
        return self._at(*self._places[name])

    def _read(self, place: int, number: int) -> Trajectory:
        with self._file.open("rb") as stream:
            stream.seek(place)
            return decoded_run(stream.readline(), self._file, number)

    def __iter__(self) -> Iterator[str]:
        """The ids, in the order of the file."""
        return iter(self._places)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self._places)


def decoded_run(line: bytes, file: Path, number: int) -> Trajectory:
    """The run in a line as Misstep writes them into a benchmark.

    Raises
    ------
    InputError
        There is none in it, or one that is nested too deep; names file and line.
    """
    run = _decoded(line, _run, file, number)
    try:
        checked(run, Source("misstep", path_text(file), number))
    except UnreadableTrajectory as error:
        raise InputError(f"no run: {error.found}", _ADVICE, file=file, line=number) from error
    return run


def _decoded(line: bytes, decoder: "msgspec.json.Decoder[T]", file: Path, number: int) -> T:
    try:
        return decoder.decode(line)
    except RecursionError as error:
        raise InputError("no run: nested too deep", _ADVICE, file=file, line=number) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"no run: {error}", _ADVICE, file=file, line=number) from error


def is_own(file: Path) -> bool:
    """Whether a file holds runs as Misstep writes them into a benchmark: its first line is one."""
    if file.suffix != ".jsonl":
        return False
    with file.open("rb") as stream:
        try:
            return bool(_head.decode(stream.readline()).source.format)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False

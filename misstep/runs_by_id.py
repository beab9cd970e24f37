"""The runs in a file, by their ids: decoded when they are looked at where the file is one that Misstep wrote.

A benchmark may hold thousands of runs in one file. Of a file with one `Trajectory` a line only the places of the lines
are kept; any other format is read as a whole.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from harness.errors import InputError
from harness.readers import read_file
from harness.trajectory import Source, Trajectory, Unreadable

_DECODED_RUNS_HELD = 8
_ADVICE = "Repair the run, or take its items out."

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
    if file.suffix == ".jsonl" and _is_own(file):
        return _OwnRuns(file)
    runs: dict[str, Trajectory] = {}
    for run in read_file(file):
        if isinstance(run, Unreadable):
            raise InputError(run.error, _ADVICE, file=run.file, line=run.line)
        runs[run.id] = run
    return runs


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
            return _decoded(stream.readline(), _run, self._file, number)

    def __iter__(self) -> Iterator[str]:
        """The ids, in the order of the file."""
        return iter(self._places)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self._places)


def _decoded(line: bytes, decoder: "msgspec.json.Decoder[T]", file: Path, number: int) -> T:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"no run: {error}", _ADVICE, file=file, line=number) from error


def _is_own(file: Path) -> bool:
    with file.open("rb") as stream:
        try:
            return bool(_head.decode(stream.readline()).source.format)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False

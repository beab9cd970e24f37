"""Find the runs in a file by their ids, for the items of a benchmark.

A benchmark may hold thousands of runs in one file. Of a file with a run a line only the places of the lines are kept,
and a run is decoded when it is looked at; any other file is read as a whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from msgspec import Struct

from misstep_harness.errors import InputError, UnreadableTrajectory
from misstep_harness.items import Item, trajectory_file
from misstep_harness.places import path_text
from misstep_harness.readers import Part, all_readers, plan, read_file, read_part, read_placed, reader_for
from misstep_harness.readers.misstep import inline_run
from misstep_harness.trajectory import Trajectory, Unreadable

_DECODED_RUNS_HELD = 8
_FILES_HELD = 4
_ADVICE = "Repair the run, or remove its items."
_A_LINE = 1
"""Bytes of a part: cut at the line end that follows each, a part is a line."""


def runs_by_id(file: Path) -> Mapping[str, Trajectory]:
    """Return the runs of a file of any known format."""
    try:
        parts = list(plan(file, all_readers(), _A_LINE))
    except UnreadableTrajectory as error:
        raise _unreadable(Unreadable(path_text(file), error.line_number, error.found)) from error
    if parts[0].size is not None:
        return _RunsOfLines(parts)
    runs: dict[str, Trajectory] = {}
    for part in parts:
        for run in read_part(part, reader_for(part.format)):
            if isinstance(run, Unreadable):
                raise _unreadable(run)
            runs[run.id] = run
    return runs


def _unreadable(line: Unreadable) -> InputError:
    return InputError(f"the run cannot be read: {line.error}", _ADVICE, file=line.file, line=line.line)


class _RunsOfLines(Mapping[str, Trajectory]):
    """The runs of a file with a run a line; a line that cannot be read is among them under its number."""

    def __init__(self, lines: Sequence[Part]) -> None:
        self._reader = reader_for(lines[0].format)
        self._places: dict[str, Part | Unreadable] = {}
        of_line = {line.first_line: line for line in lines}
        for placed in read_placed(Part(lines[0].path, self._reader.FORMAT, "lines"), self._reader):
            if isinstance(placed.found, Unreadable):
                self._places[f"line {placed.line}"] = placed.found
            else:
                self._places[placed.found.id] = of_line[placed.line or 1]
        self._at = lru_cache(maxsize=_DECODED_RUNS_HELD)(self._read)

    def __getitem__(self, name: str) -> Trajectory:
        """The run of that id; `KeyError` if there is none, `InputError` where it may be one that cannot be read."""
        return self._at(name)

    def _read(self, name: str) -> Trajectory:
        place = self._places.get(name)
        if isinstance(place, Part):
            for run in read_part(place, self._reader):
                if isinstance(run, Trajectory) and run.id == name:
                    return run
            message = f"the run {name!r} is no longer in the file"
            raise InputError(message, _ADVICE, file=place.path, line=place.first_line)
        broken = place or next((one for one in self._places.values() if isinstance(one, Unreadable)), None)
        if broken is not None:
            raise _unreadable(broken)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class BenchmarkRuns:
    """The runs that the items of one benchmark folder are about; no path leads out of the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._of_file = lru_cache(maxsize=_FILES_HELD)(lambda path: runs_by_id(trajectory_file(self._folder, path)))

    def of(self, item: Item) -> Trajectory | None:
        """Return the run that an item is about; `None` where it is about none."""
        if item.trajectory is None:
            return None
        if isinstance(item.trajectory, dict):
            return inline_run(item.trajectory, item.id)
        runs = self._of_file(item.trajectory)
        if item.trajectory_id is None and len(runs) == 1:
            return next(iter(runs.values()))
        wanted = item.trajectory_id if item.trajectory_id is not None else item.id
        if wanted not in runs:
            message = f"item {item.id!r} is about the run {wanted!r}, which is not among {_some(runs)}"
            raise InputError(message, "Name one of them as trajectory_id.", file=self._folder / item.trajectory)
        return runs[wanted]


def _some(runs: Mapping[str, Trajectory]) -> str:
    first = ", ".join(islice(runs, 3))
    return f"the {len(runs):,} runs of the file ({first}{', …' if len(runs) > 3 else ''})" if runs else "its runs: none"


class FoundRun(Struct, frozen=True):
    """A run with the items that are about it, or these items and why they have none."""

    items: tuple[str, ...]
    run: Trajectory | None
    reason: str = ""


def runs_in(folder: Path, path: str, wanted: Sequence[tuple[str, str | None]]) -> Iterator[FoundRun]:
    """The runs in a file of a benchmark that items are about, each once, in the order in which they are wanted."""
    try:
        runs = runs_by_id(trajectory_file(folder, path))
    except InputError as error:
        yield FoundRun(tuple(item for item, _ in wanted), None, error.line())
        return
    only = next(iter(runs)) if len(runs) == 1 else None
    items_of: dict[str, list[str]] = {}
    for item, run in wanted:
        items_of.setdefault(run or only or item, []).append(item)
    for name, items in items_of.items():
        try:
            trajectory = runs.get(name)
        except InputError as error:
            yield FoundRun(tuple(items), None, error.line())
            continue
        yield FoundRun(tuple(items), trajectory, "" if trajectory else f"{path} holds no run {name!r}")


def run_in(item: Item) -> FoundRun:
    """Return the run that is in the item itself."""
    if not isinstance(item.trajectory, dict):
        return FoundRun((item.id,), None, "the item holds no run")
    try:
        return FoundRun((item.id,), inline_run(item.trajectory, item.id))
    except InputError as error:
        return FoundRun((item.id,), None, error.line())


def steps_by_run(folder: Path, path: str) -> dict[str, int]:
    """Return the number of steps of each run in a file of a benchmark; none of a file that cannot be read."""
    try:
        runs = read_file(trajectory_file(folder, path))
        return {run.id: len(run.steps) for run in runs if isinstance(run, Trajectory)}
    except InputError:
        return {}

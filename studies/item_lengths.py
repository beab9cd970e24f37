"""How long the items of a benchmark are: the steps of their runs, or the characters of their texts.

Of a run only its steps are counted, not decoded. An item whose run cannot be read has no length; whoever asks about the
run says why.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from analysis.measures.judging.slices import Lengths
from harness.errors import InputError
from harness.items import trajectory_file
from harness.runs.item_trajectories import read_runs
from harness.trajectory import Source, Trajectory


class _Inline(Struct):
    steps: list[Raw] = []


class _Item(Struct):
    id: str
    trajectory: str | _Inline | None = None
    trajectory_id: str | None = None
    text: str = ""
    patch: str = ""
    task: str = ""


class _Run(Struct):
    id: str
    source: Source
    steps: list[Raw] = []


_item_line = msgspec.json.Decoder(_Item)
_run_line = msgspec.json.Decoder(_Run)


def item_lengths(folder: Path) -> Lengths:
    """The lengths of a benchmark's items: in steps where any item is about a run, else in characters of its text.

    Parameters
    ----------
    folder
        The benchmark's folder; no path leads out of it.
    """
    inside = folder.resolve()
    steps_of = cache(lambda path: _steps_by_run(inside, path))
    steps: dict[str, int] = {}
    characters: dict[str, int] = {}
    with (folder / "items.jsonl").open("rb") as stream:
        for line in stream:
            try:
                item = _item_line.decode(line.removeprefix(BOM_UTF8))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if isinstance(item.trajectory, _Inline):
                steps[item.id] = len(item.trajectory.steps)
            elif item.trajectory is not None:
                found = _of_run(item, steps_of(item.trajectory))
                if found is not None:
                    steps[item.id] = found
            elif shown := item.text or item.patch or item.task:
                characters[item.id] = len(shown)
    return Lengths("steps", steps) if steps else Lengths("characters", characters)


def _of_run(item: _Item, steps: dict[str, int]) -> int | None:
    if item.trajectory_id is None and len(steps) == 1:
        return next(iter(steps.values()))
    return steps.get(item.id if item.trajectory_id is None else item.trajectory_id)


def _steps_by_run(folder: Path, path: str) -> dict[str, int]:
    try:
        file = trajectory_file(folder, path)
    except InputError:
        return {}
    try:
        return dict(_own_runs(file) if file.suffix == ".jsonl" else _any_runs(file))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # a file of runs as another tool writes them
        return dict(_any_runs(file))


def _own_runs(file: Path) -> Iterator[tuple[str, int]]:
    with file.open("rb") as stream:
        for line in stream:
            if line.strip():
                run = _run_line.decode(line)
                yield run.id, len(run.steps)


def _any_runs(file: Path) -> Iterator[tuple[str, int]]:
    try:
        for run in read_runs(file):
            if isinstance(run, Trajectory):
                yield run.id, len(run.steps)
    except InputError:
        return

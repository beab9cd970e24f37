"""How long the items of a benchmark are: the steps of their runs, or the characters of their texts.

An item whose run cannot be read has no length; whoever asks about the run says why.
"""

from functools import cache
from pathlib import Path

from misstep.analysis.measures.judging.slices import Lengths
from misstep.harness.errors import InputError
from misstep.harness.items import Item, read_items, trajectory_file
from misstep.harness.readers import read_file
from misstep.harness.runs.judging.item_trajectories import run_in
from misstep.harness.trajectory import Trajectory


def item_lengths(folder: Path) -> Lengths:
    """The lengths of a benchmark's items: in steps where any item is about a run, else in characters of its text."""
    inside = folder.resolve()
    steps_of = cache(lambda path: _steps_by_run(inside, path))
    steps: dict[str, int] = {}
    characters: dict[str, int] = {}
    for item in read_items(folder):
        if isinstance(item.trajectory, dict):
            run = run_in(item).run
            if run is not None:
                steps[item.id] = len(run.steps)
        elif item.trajectory is not None:
            found = _of_run(item, steps_of(item.trajectory))
            if found is not None:
                steps[item.id] = found
        elif shown := item.text or item.patch or item.task:
            characters[item.id] = len(shown)
    return Lengths("steps", steps) if steps else Lengths("characters", characters)


def _of_run(item: Item, steps: dict[str, int]) -> int | None:
    if item.trajectory_id is None and len(steps) == 1:
        return next(iter(steps.values()))
    return steps.get(item.id if item.trajectory_id is None else item.trajectory_id)


def _steps_by_run(folder: Path, path: str) -> dict[str, int]:
    try:
        runs = read_file(trajectory_file(folder, path))
        return {run.id: len(run.steps) for run in runs if isinstance(run, Trajectory)}
    except InputError:
        return {}

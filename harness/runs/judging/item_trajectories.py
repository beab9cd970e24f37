"""The runs that the items of a benchmark are about, for whoever shows them: a run that is not there is no error."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from misstep.harness.errors import InputError
from misstep.harness.items import Item, trajectory_file
from misstep.harness.readers.inline import inline_run
from misstep.harness.runs.judging.trajectories_by_id import runs_by_id
from misstep.harness.trajectory import Trajectory


class FoundRun(Struct, frozen=True):
    """A run with the items that are about it, or these items and why there is no run for them."""

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
            found = runs.get(name)
        except InputError as error:
            yield FoundRun(tuple(items), None, error.line())
            continue
        yield FoundRun(tuple(items), found, "" if found else f"{path} holds no run {name!r}")


def run_in(item: Item) -> FoundRun:
    """Return the run that is in the item itself."""
    if not isinstance(item.trajectory, dict):
        return FoundRun((item.id,), None, "the item holds no run")
    try:
        return FoundRun((item.id,), inline_run(item.trajectory, item.id))
    except InputError as error:
        return FoundRun((item.id,), None, error.line())

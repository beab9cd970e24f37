"""A benchmark that a run makes of sessions or cases, in its own folder: all shards of the run are asked about one.

Shards begin at any time and on any machine. The first that has built it puts it there, and it is not replaced: every
other one finds the same, or refuses.
"""

import filecmp
import shutil
import uuid
from pathlib import Path

from misstep.harness.errors import UsageError
from misstep.harness.journal.records import replace_file

_COMPARED = ("benchmark.toml", "items.jsonl", "trajectories/sessions.jsonl")
_GOLD = "gold.csv"


def building_beside(folder: Path, *, shared: bool) -> Path:
    """Return where a benchmark is built before it is put into its place; empty."""
    building = folder.with_name(f".{folder.name}{f'-{uuid.uuid4().hex}' if shared else ''}")
    shutil.rmtree(building, ignore_errors=True)
    return building


def put_in_place(building: Path, folder: Path, *, shared: bool) -> None:
    """Put a benchmark into its place: instead of the one that stands there, or as the one that all shards share."""
    if not shared:
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
        return
    try:
        building.rename(folder)  # fails where a folder with files stands there
    except OSError:
        if not folder.is_dir():
            raise
    else:
        return
    try:
        if not all(_same(building / name, folder / name) for name in _COMPARED):
            raise UsageError(
                f"{folder} is about something else: what it was made of is not as it was",
                "Restore it, or name another folder for the run.",
            )
        if not _same(building / _GOLD, folder / _GOLD):
            replace_file(folder / _GOLD, (building / _GOLD).read_bytes())
    finally:
        shutil.rmtree(building)


def _same(one: Path, other: Path) -> bool:
    """Return whether two files have the same bytes, or neither is there."""
    if not (one.exists() and other.exists()):
        return one.exists() == other.exists()
    return filecmp.cmp(one, other, shallow=False)

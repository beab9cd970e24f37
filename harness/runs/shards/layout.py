"""The places of the shards of a run, whatever kind of run it is: one part of it, made on its own, on any machine.

RUN/shards/plan.json                  what is asked and what there is to read, frozen by the first shard
RUN/shards/00003-of-00008/            what shard 3 of 8 has made
RUN/shards/00003-of-00008/done.json   its marker, written last
"""

import shlex
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path

from msgspec import Struct

from misstep.harness.errors import UsageError
from misstep.harness.journal.records import read_manifest

SHARDS = "shards"
PLAN = f"{SHARDS}/plan.json"
DONE = "done.json"

MOST_SHARDS = 99_999
_NAMED = 20


class Shard(Struct, frozen=True, order=True):
    """One of the parts into which a run is cut: its number, counted from 1, and how many there are."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def folder(self) -> str:
        """Return the folder of the shard, within that of the run."""
        return f"{SHARDS}/{self.number:05}-of-{self.count:05}"

    @property
    def marker(self) -> str:
        """Return the file that says that the shard is done."""
        return f"{self.folder}/{DONE}"


def shards_of(count: int) -> Iterator[Shard]:
    """Return all shards of a run, in order."""
    return (Shard(number, count) for number in range(1, count + 1))


def next_step(shard: Shard, place: str) -> str:
    """Return the next step of a person once a shard is done, as a line."""
    when = "" if shard.count == 1 else f"when all {shard.count:,} are done: "
    return f"{when}{shlex.join(['misstep', 'merge', place])}"


def refuse_unmerged(folder: Path) -> None:
    """Refuse a folder whose shards are not merged, for a run of the whole: only the merge can go on with it."""
    if not (folder / PLAN).exists():
        return
    manifest = read_manifest(folder)
    if manifest is None or not manifest.finished:
        message = f"{folder} holds shards that are not merged"
        raise UsageError(message, f"Run: misstep merge {folder}, or name another folder.")


def require_all(done: Collection[Shard], count: int, command: str) -> None:
    """Refuse a merge while shards are missing."""
    missing = [shard.number for shard in shards_of(count) if shard not in done]
    if not missing:
        return
    named = ranges(missing)
    verb = "shard {} of {:,} is missing" if len(missing) == 1 else "shards {} of {:,} are missing"
    raise UsageError(verb.format(named, count), f"Run: {command} --shard {missing[0]}/{count}")


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in words, neighbours together: `1, 3-5 and 9`."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda one: one[1] - one[0])]
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in islice(runs, _NAMED)]
    if len(runs) > _NAMED:
        return f"{', '.join(shown)} and {sum(map(len, runs[_NAMED:])):,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

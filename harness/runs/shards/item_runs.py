"""Runs over items in shards: a judge's items or an agent's cases, dealt out in turn.

    RUN/shards/plan.json                  the settings and inputs of the run, and how many shards there are
    RUN/shards/00003-of-00008/run.toml    a shard

Each shard is a run of its own, with its own journal and its own answers: the same command continues it, and it is done
when its `run.toml` says so. It has the settings and inputs of the whole, and one setting more, `shard`.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from misstep.harness.journal.changes import differing_settings
from misstep.harness.journal.inputs import difference
from misstep.harness.journal.records import Manifest
from misstep.harness.lake.store import FolderStore
from misstep.harness.runs.shards.layout import Shard, refuse_unmerged
from misstep.harness.runs.shards.plan import Plan, frozen_plan

SETTING = "shard"
"""The setting of a shard's run that names the shard."""

T = TypeVar("T")


def dealt(things: Iterable[T], shard: Shard | None) -> Iterator[T]:
    """Return the things of a shard, where all are dealt out in turn; all of them if there is no shard."""
    return iter(things) if shard is None else islice(things, shard.number - 1, None, shard.count)


def folder_of(out: Path, shard: Shard | None) -> Path:
    """Return the folder of a shard's run; that of the whole run if there is no shard."""
    return out if shard is None else out / shard.folder


def checked_manifest(out: Path, shard: Shard | None, manifest: Manifest) -> Manifest:
    """Return the manifest of a shard's run, which belongs to the others in the folder; that of the whole as it is."""
    if shard is None:
        refuse_unmerged(out)
        return manifest
    frozen_plan(FolderStore(out), Plan(shard.count, of_whole(manifest)))
    return replace(manifest, settings=manifest.settings | {SETTING: str(shard)})


def differences(earlier: Manifest, now: Manifest) -> str:
    """Return what differs between two shards, or a shard and the whole, in words; empty where they are of one run."""
    differs = differing_settings(of_whole(earlier), of_whole(now))
    if inputs := difference(earlier.inputs, now.inputs):
        differs.append(f"the inputs are not as they were: {inputs}")
    if not differs and earlier.misstep != now.misstep:
        differs.append(f"it was begun by Misstep {earlier.misstep} and this is {now.misstep}")
    return "; ".join(differs)


def of_whole(manifest: Manifest) -> Manifest:
    """Return the manifest of the run that a shard is part of."""
    settings = {name: value for name, value in manifest.settings.items() if name != SETTING}
    return replace(manifest, settings=settings, arguments=without_options(manifest.arguments, "--shard"))


def without_options(arguments: Iterable[str], *names: str) -> list[str]:
    """Return the arguments of a command line without options of these names and their values."""
    kept: list[str] = []
    left = iter(arguments)
    for argument in left:
        if argument in names:
            next(left, None)
        elif argument.partition("=")[0] not in names:
            kept.append(argument)
    return kept

"""The option of the commands that work on one part of a run, and how Slurm and Kubernetes say which one it is."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.harness.lake.addresses import is_address
from misstep.harness.runs.shards.layout import MOST_SHARDS, Shard
from misstep.options.groups import OptionGroup

_EXPLICIT = "Give it as a number, such as --shard 3/8."
_IN_SLURM = 'Number the array from 0 or 1 without gaps, or give the number yourself: --shard "$SLURM_ARRAY_TASK_ID/8".'


def shard_of(given: str, environment: Mapping[str, str]) -> Shard:
    """Return the shard that `--shard` names.

    Slurm numbers the tasks of an array (`SLURM_ARRAY_TASK_ID`, and `_MIN`, `_MAX`, `_STEP`, `_COUNT` of the array; see
    the page of `sbatch`), Kubernetes the pods of an indexed job from 0 (`JOB_COMPLETION_INDEX`). How many pods there
    are is in no variable of its own: `auto/8` says it, or `JOB_COMPLETIONS` of the job's own environment.
    """
    form = re.fullmatch(r"(auto|\d{1,9})(?:/(\d{1,9}))?", given.strip(), re.ASCII)
    if form is None or (form[1] != "auto" and form[2] is None):
        raise UsageError(f"--shard {given!r} is not a shard", "Give its number and how many there are, such as 3/8.")
    count = None if form[2] is None else int(form[2])
    shard = _from(environment, count) if form[1] == "auto" else Shard(int(form[1]), count or 0)
    if not 1 <= shard.number <= shard.count <= MOST_SHARDS:
        raise UsageError(f"--shard {given}: there is no shard {shard}", f"Count from 1, up to {MOST_SHARDS:,} shards.")
    return shard


def _from(environment: Mapping[str, str], count: int | None) -> Shard:
    in_array, in_job = "SLURM_ARRAY_TASK_ID" in environment, "JOB_COMPLETION_INDEX" in environment
    if in_array and in_job:
        raise UsageError("both SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX are set", _EXPLICIT)
    if in_array:
        return _of_an_array(environment, count)
    if in_job:
        return _of_a_job(environment, count)
    raise UsageError(
        "--shard auto: neither SLURM_ARRAY_TASK_ID of a Slurm array nor JOB_COMPLETION_INDEX of an indexed Kubernetes"
        " job is set",
        _EXPLICIT,
    )


def _of_an_array(environment: Mapping[str, str], count: int | None) -> Shard:
    task, first, tasks = (_number(environment, f"SLURM_ARRAY_TASK_{name}") for name in ("ID", "MIN", "COUNT"))
    known_last = "SLURM_ARRAY_TASK_MAX" in environment
    last = _number(environment, "SLURM_ARRAY_TASK_MAX") if known_last else first + tasks - 1
    if first not in (0, 1) or last - first + 1 != tasks:
        raise UsageError(f"the Slurm array has {tasks} tasks from {first} to {last}", _IN_SLURM)
    if count not in (None, tasks):
        raise UsageError(f"the Slurm array has {tasks} tasks, but --shard names {count} shards", _IN_SLURM)
    return Shard(task - first + 1, tasks)


def _of_a_job(environment: Mapping[str, str], count: int | None) -> Shard:
    if count is None and "JOB_COMPLETIONS" not in environment:
        raise UsageError(
            "Kubernetes says the index of this pod, but not how many there are", "Give it: --shard auto/8."
        )
    completions = _number(environment, "JOB_COMPLETIONS") if "JOB_COMPLETIONS" in environment else count or 0
    if count not in (None, completions):
        raise UsageError(f"JOB_COMPLETIONS is {completions}, but --shard names {count} shards", _EXPLICIT)
    return Shard(_number(environment, "JOB_COMPLETION_INDEX") + 1, completions)


def _number(environment: Mapping[str, str], name: str) -> int:
    value = environment.get(name, "")
    if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
        raise UsageError(f"{name} is {value!r}, which is not a number" if value else f"{name} is not set", _EXPLICIT)
    return int(value)


def _given(text: str) -> Shard:
    return shard_of(text, os.environ)


def folder_of(out: str | None) -> Path | None:
    """Return the folder that `--out` of a run without shards names."""
    if out and is_address(out):
        raise UsageError(f"--out {out}: only a run in shards can lie at an address", "Name a folder, or add --shard.")
    return Path(out) if out else None


def place_of_shards(out: str | None, option: str = "--shard") -> str:
    """Return the folder or address that `--out` of a run in shards names."""
    if not out:
        raise UsageError(f"{option} needs --out", "Name a folder or an address that all shards can write to.")
    return out if is_address(out) else str(Path(out))


def refuse_beside_shard(given: Mapping[str, object]) -> None:
    """Refuse options about the whole of a run beside `--shard`."""
    named = next((option for option, value in given.items() if value), None)
    if named is not None:
        raise UsageError(
            f"{named} is about the whole run, and --shard does one part", "Merge first: misstep merge RUN."
        )


class ShardOptions(OptionGroup, frozen=True):
    """One shard of a run, or a Dask cluster that does them all."""

    panel = "Shards"
    shard: Annotated[
        Shard | None,
        typer.Option(
            "--shard",
            metavar="K/N",
            parser=_given,
            help="Part of the run to do here, such as 3/8; `misstep merge RUN` joins all of them. With auto or auto/8"
            " the number comes from the Slurm array or the indexed Kubernetes job.",
        ),
    ] = None
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Dask cluster that does the shards of the run: tcp://HOST:8786, or local or local:2 for processes on"
            " this machine.",
        ),
    ] = None
    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_SHARDS,
            metavar="N",
            help="Number of shards for --dask; by default two for each thread of its workers.",
        ),
    ] = None

    @property
    def count(self) -> int:
        """Return the number of parts that share what the whole run may spend."""
        return 1 if self.shard is None else self.shard.count

    def asks_cluster(self, whole: Mapping[str, object]) -> bool:
        """Return whether a Dask cluster does the shards; options about the whole of a run are refused beside them."""
        if self.shard is not None:
            refuse_beside_shard({"--dask": self.dask, **whole})
        if self.dask is None and self.shards is not None:
            raise UsageError("--shards without --dask", "Name a cluster with --dask, or one shard with --shard 3/8.")
        named = next((option for option, value in whole.items() if value), None)
        if self.dask is not None and named is not None:
            raise UsageError(
                f"{named} has no effect with --dask",
                "Leave it out, or give it afterwards to the same line without --dask, which finds the run finished.",
            )
        return self.dask is not None

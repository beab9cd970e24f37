"""The shard that `--shard` names, also as Slurm and Kubernetes number the parts of a job."""

import re
from collections.abc import Mapping

from misstep.harness.errors import UsageError
from misstep.harness.runs.shards.layout import MOST_SHARDS, Shard

_EXPLICIT = "Give it as a number, such as --shard 3/8."
_IN_SLURM = 'Number the array from 0 or 1 without gaps, or give the number yourself: --shard "$SLURM_ARRAY_TASK_ID/8".'


def shard_of(text: str, environment: Mapping[str, str]) -> Shard:
    """Return the shard that `--shard` names.

    Slurm numbers the tasks of an array (see the page of `sbatch`), Kubernetes the pods of an indexed job from 0, whose
    number is in no variable of its own: `auto/8` says it, or `JOB_COMPLETIONS` of the job's own environment.
    """
    form = re.fullmatch(r"(auto|\d{1,9})(?:/(\d{1,9}))?", text.strip(), re.ASCII)
    if form is None or (form[1] != "auto" and form[2] is None):
        raise UsageError(f"--shard {text!r} is not a shard", "Give its number and how many there are, such as 3/8.")
    count = None if form[2] is None else int(form[2])
    shard = _from(environment, count) if form[1] == "auto" else Shard(int(form[1]), count or 0)
    if not 1 <= shard.number <= shard.count <= MOST_SHARDS:
        raise UsageError(f"--shard {text}: unknown shard {shard}", f"Count from 1, up to {MOST_SHARDS:,} shards.")
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
        message = "Kubernetes says the index of this pod, but not how many there are"
        raise UsageError(message, "Give it: --shard auto/8.")
    completions = _number(environment, "JOB_COMPLETIONS") if "JOB_COMPLETIONS" in environment else count or 0
    if count not in (None, completions):
        raise UsageError(f"JOB_COMPLETIONS is {completions}, but --shard names {count} shards", _EXPLICIT)
    return Shard(_number(environment, "JOB_COMPLETION_INDEX") + 1, completions)


def _number(environment: Mapping[str, str], name: str) -> int:
    value = environment.get(name, "")
    if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
        raise UsageError(f"{name} is {value!r}, which is not a number" if value else f"{name} is not set", _EXPLICIT)
    return int(value)

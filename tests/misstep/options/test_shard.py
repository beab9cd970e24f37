"""Which shard `--shard` names: as it is written, or as Slurm and Kubernetes say it."""

import pytest

from misstep.harness.errors import UsageError
from misstep.harness.runs.shards.layout import Shard
from misstep.options.schedulers import shard_of


def _array(task: int, first: int, last: int, count: int | None = None) -> dict[str, str]:
    tasks = last - first + 1 if count is None else count
    named = {"ID": task, "MIN": first, "MAX": last, "COUNT": tasks}
    return {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in named.items()}


@pytest.mark.parametrize(
    ("value", "environment", "shard"),
    [
        ("3/8", {}, Shard(3, 8)),
        ("3/8", _array(1, 1, 2), Shard(3, 8)),
        ("auto", _array(8, 1, 8), Shard(8, 8)),
        ("auto", _array(0, 0, 7), Shard(1, 8)),
        ("auto/8", _array(7, 0, 7), Shard(8, 8)),
        ("auto", {name: one for name, one in _array(3, 1, 4).items() if not name.endswith("MAX")}, Shard(3, 4)),
        ("auto/8", {"JOB_COMPLETION_INDEX": "0"}, Shard(1, 8)),
        ("auto", {"JOB_COMPLETION_INDEX": "7", "JOB_COMPLETIONS": "8"}, Shard(8, 8)),
    ],
)
def test_the_number_comes_from_the_option_or_from_the_scheduler(value, environment, shard) -> None:
    assert shard_of(value, environment) == shard


@pytest.mark.parametrize(
    ("value", "environment", "message"),
    [
        ("3", {}, "is not a shard"),
        ("three/8", {}, "is not a shard"),
        ("0/8", {}, "unknown shard 0/8"),
        ("9/8", {}, "unknown shard 9/8"),
        ("1/100000", {}, "unknown shard 1/100000"),
        ("auto", {}, "neither SLURM_ARRAY_TASK_ID"),
        ("auto", {**_array(1, 1, 2), "JOB_COMPLETION_INDEX": "0"}, "both"),
        ("auto", _array(5, 1, 7, count=4), "the Slurm array has 4 tasks from 1 to 7"),
        ("auto", _array(3, 3, 5), "the Slurm array has 3 tasks from 3 to 5"),
        ("auto/8", _array(1, 1, 4), "has 4 tasks, but --shard names 8"),
        ("auto", {"SLURM_ARRAY_TASK_ID": "1"}, "SLURM_ARRAY_TASK_MIN is not set"),
        ("auto", _array(1, 1, 2) | {"SLURM_ARRAY_TASK_ID": "one"}, "SLURM_ARRAY_TASK_ID is 'one'"),
        ("auto", {"JOB_COMPLETION_INDEX": "0"}, "not how many there are"),
        ("auto/8", {"JOB_COMPLETION_INDEX": "8"}, "unknown shard 9/8"),
        ("auto/8", {"JOB_COMPLETION_INDEX": "0", "JOB_COMPLETIONS": "4"}, "is 4, but --shard names 8"),
    ],
)
def test_what_does_not_say_one_shard_is_refused(value: str, environment: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        shard_of(value, environment)

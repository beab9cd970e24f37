"""tau-bench: one agent's historical run of the airline tasks, every task several times.

One record of `gpt-4o-airline.json.gz`, a list ordered by trial, then task, both counted from 0:

    {"task_id": 3, "trial": 1, "reward": 0.0, "traj": [...OpenAI chat messages...],
     "info": {"task": {"user_id": "some_user_1", "instruction": "...", "actions": [...], "outputs": []},
              "source": "user", "user_cost": 0.0021, "reward_info": {"reward": 0.0, "info": {...}, "actions": [...]}}}

`reward` is 1.0 when the database ends in exactly the expected state. `info.task.actions` and `reward_info` are the
reference solution and the reward worked out, not what the agent did: they are in no item and in no trajectory.
`rewards.csv` repeats the rewards with counts of messages:

    env,model,task_id,trial,reward,n_messages,n_assistant,n_tool_calls,user_cost_usd
    airline,some-model,3,1,0,32,15,8,0.0021000
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep.harness.attempts import Attempts
from misstep.harness.datasets.benchmark import Gold, Item, describe, write_benchmark
from misstep.harness.datasets.upstream import csv_rows, json_file, named_runs
from misstep.harness.errors import InputError
from misstep.harness.protocols import ReadFile
from misstep.harness.trajectory import Trajectory

NAME = "taubench"
_FILE = "gpt-4o-airline.json.gz"
_MODEL = "gpt-4o"


class _Task(Struct, frozen=True):
    """What the simulated user wants, as far as it is not part of the reference solution."""

    user_id: str
    instruction: str


class _Info(Struct, frozen=True):
    """What upstream notes beside the messages; `user_cost` of the simulated user in US dollars, where it is known."""

    task: _Task
    user_cost: float | None = None


class _Record(Struct, frozen=True):
    """One run of one task."""

    task_id: int
    trial: int
    reward: float
    info: _Info

    @property
    def item_id(self) -> str:
        """`airline/task/trial`."""
        return f"airline/{self.task_id}/{self.trial}"


class Reward(Struct, frozen=True):
    """One row of `rewards.csv`, as far as it is checked."""

    task_id: int
    trial: int
    reward: float


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write every run as an item and its reward as the gold label."""
    path = folder / _FILE
    records = json_file(path, tuple[_Record, ...])
    _check(records, path, folder / "rewards.csv")
    write_benchmark(
        out,
        describe(NAME, folder),
        items=(_item(record) for record in records),
        gold=(Gold(record.item_id, "environment", "passed" if record.reward else "failed") for record in records),
        trajectories={"gpt-4o-airline": _trajectories(path, records, read)},
    )


def outcomes(folder: Path) -> Iterator[Attempts]:
    """Return every task with its trials and how many reached the expected state, in the table `airline`."""
    path = folder / "rewards.csv"
    rewards: dict[int, list[float]] = {}
    for row in csv_rows(path, Reward):
        if row.reward not in (0.0, 1.0):
            raise InputError(f"task {row.task_id} has {row.reward}, neither 0 nor 1", file=path, field="reward")
        rewards.setdefault(row.task_id, []).append(row.reward)
    for task, found in rewards.items():
        yield Attempts("airline", _MODEL, str(task), len(found), int(sum(found)))


def _check(records: tuple[_Record, ...], path: Path, table: Path) -> None:
    listed = {(row.task_id, row.trial): row.reward for row in csv_rows(table, Reward)}
    for record in records:
        if record.reward not in (0.0, 1.0):
            raise InputError(f"{record.item_id} has {record.reward}, neither 0 nor 1", file=path, field="reward")
        if listed.get((record.task_id, record.trial)) != record.reward:
            raise InputError(
                f"{record.item_id} has {record.reward} in {path.name} and "
                f"{listed.get((record.task_id, record.trial))} here",
                file=table,
                field="reward",
            )


def _item(record: _Record) -> Item:
    return Item(
        id=record.item_id,
        kind="triage",
        trajectory_id=record.item_id,
        task=record.info.task.instruction,
        extra={"task_id": record.task_id, "trial": record.trial}
        | ({} if record.info.user_cost is None else {"user_cost_usd": record.info.user_cost}),
    )


def _trajectories(path: Path, records: tuple[_Record, ...], read: ReadFile) -> Iterator[Trajectory]:
    runs = named_runs(path, read, NAME, [record.item_id for record in records])
    for record, run in zip(records, runs, strict=True):
        yield msgspec.structs.replace(
            run,
            model=_MODEL,
            extra={name: value for name, value in run.extra.items() if name != "info"}
            | {"user_id": record.info.task.user_id},
        )

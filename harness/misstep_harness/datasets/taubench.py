"""tau-bench: one agent's historical run of the airline tasks, every task several times.

One record of `gpt-4o-airline.json.gz`, a list ordered by trial, then task, both counted from 0:

    {"task_id": 3, "trial": 1, "reward": 0.0, "traj": [...OpenAI chat messages...],
     "info": {"task": {"user_id": "some_user_1", "instruction": "...", "actions": [...], "outputs": []},
              "source": "user", "user_cost": 0.0021, "reward_info": {"reward": 0.0, "info": {...}, "actions": [...]}}}

`reward` is 1.0 when the database ends in exactly the expected state. `info.task.actions` and `reward_info` are the
reference solution, not what the agent did: they are in no item and in no trajectory. One row of `rewards.csv`:

    env,model,task_id,trial,reward,n_messages,n_assistant,n_tool_calls,user_cost_usd
    airline,some-model,3,1,0,32,15,8,0.0021000
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter, reward_label, run_item
from misstep_harness.datasets.upstream import csv_rows, json_file, named_runs
from misstep_harness.errors import InputError
from misstep_harness.items import Attempts
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Trajectory

NAME = "taubench"
_FILE = "gpt-4o-airline.json.gz"
_MODEL = "gpt-4o"


class _Task(Struct, frozen=True):
    user_id: str
    instruction: str


class _Info(Struct, frozen=True):
    task: _Task
    user_cost: float | None = None


class _Record(Struct, frozen=True):
    task_id: int
    trial: int
    reward: float
    info: _Info

    @property
    def item_id(self) -> str:
        return f"airline/{self.task_id}/{self.trial}"


class _Reward(Struct, frozen=True):
    task_id: int
    trial: int
    reward: float


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write every run as an item and its reward as the gold label."""
    path, table = folder / _FILE, folder / "rewards.csv"
    records = json_file(path, tuple[_Record, ...])
    listed = {(row.task_id, row.trial): row.reward for row in csv_rows(table, _Reward)}
    labels = {record.item_id: reward_label(record.reward, record.item_id, path) for record in records}
    for record in records:
        other = listed.get((record.task_id, record.trial))
        if other != record.reward:
            message = f"{record.item_id} has {record.reward} in {path.name} and {other} here"
            raise InputError(message, file=table, field="reward")
    SetWriter(NAME, folder, out).write(
        (_item(record) for record in records),
        (Gold(item, "environment", label) for item, label in labels.items()),
        {"gpt-4o-airline": _trajectories(path, records, read)},
    )


def outcomes(folder: Path) -> Iterator[Attempts]:
    """Return every task with its trials and how many reached the expected state, in the table `airline`."""
    path = folder / "rewards.csv"
    labels: dict[int, list[str]] = {}
    for row in csv_rows(path, _Reward):
        labels.setdefault(row.task_id, []).append(reward_label(row.reward, f"task {row.task_id}", path))
    for task, trials in labels.items():
        yield Attempts("airline", _MODEL, str(task), len(trials), trials.count("passed"))


def _item(record: _Record) -> Item:
    extra = {"task_id": record.task_id, "trial": record.trial, "user_cost_usd": record.info.user_cost}
    known = {name: value for name, value in extra.items() if value is not None}
    return run_item(record.item_id, known, task=record.info.task.instruction)


def _trajectories(path: Path, records: tuple[_Record, ...], read: ReadFile) -> Iterator[Trajectory]:
    runs = named_runs(path, read, NAME, [record.item_id for record in records])
    for record, run in zip(records, runs, strict=True):
        extra = {name: value for name, value in run.extra.items() if name != "info"}
        extra["user_id"] = record.info.task.user_id
        yield msgspec.structs.replace(run, model=_MODEL, extra=extra)

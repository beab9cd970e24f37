"""InterCode: multi-turn runs in Bash, SQL, CTF and Python, with a reward after every action.

One record of `results/<environment>__[<model>__]ic_<environment>_<strategy>_<model>_<n>_turns[...].json.gz`, which maps
a key to each:

    {"environment": "ic_bash", "dataset": "./some/tasks.json", "task_id": 4, "query": "Count the lines of a.txt",
     "turn_history": {"thoughts": ["I count."], "actions": ["wc -l a.txt"], "observations": ["3 a.txt"],
                      "rewards": [1.0], "valid_action": [true]},
     "summary": {"max_reward": 1.0, "max_reward_idx": 0, "turns_taken": 1, "turns_max": 10}, "hardness": "easy"}

`thoughts` only in ReAct files, `hardness` only in SQL files. A run succeeds when its `max_reward` is 1.0, whatever
its last reward. `valid_action` says whether the action executed; the Python files do not track it (null), one CTF file
has none. A file without a model in its name is of the model whose folder it lies in.

One row of `summary.csv`, totals of every upstream file, also of those that are not available:

    file,environment,model,tasks,solved,sum_max_reward,turns,invalid_actions,actions
    bash/some-model/ic_bash_multiturn_some-model_10_turns_fs_1.json,bash,some-model,60,27,49.25,380,128,380

Rewards are gold: they are in no item and in no trajectory. The totals go to `gold_totals.csv`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter, run_item
from misstep_harness.datasets.upstream import csv_rows, file_bytes, files_in, json_file, trajectories
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Trajectory

NAME = "intercode"


_FILE = re.compile(
    r"[a-z]+__(?:(?P<folder>\S+?)__)?ic_[a-z]+(?:_(?P<strategy>multiturn|react|plan_solve))?"
    r"(?:_(?P<model>[a-z][\w.-]*?))?[_-](?P<turns>\d+)_turns(?P<rest>\S*)\Z"
)


class _Turns(Struct, frozen=True):
    actions: tuple[str, ...]
    observations: tuple[str, ...]
    rewards: tuple[float, ...]
    valid_action: tuple[bool | None, ...] | None = None
    thoughts: tuple[str, ...] | None = None


class _Summary(Struct, frozen=True):
    max_reward: float
    turns_taken: int
    turns_max: int


class _Record(Struct, frozen=True):
    environment: str
    dataset: str
    task_id: int
    query: str
    turn_history: _Turns
    summary: _Summary
    hardness: str | None = None


class _Totals(Struct, frozen=True):
    """One row of `summary.csv`, as far as it is checked against the runs available."""

    file: str
    tasks: int
    solved: int


class _ResultFile(Struct, frozen=True):
    """What the name of a result file says, and its runs."""

    stem: str
    strategy: str
    model: str
    records: tuple[_Record, ...]

    @property
    def upstream(self) -> str:
        return self.stem.replace("__", "/") + ".json"

    def run_id(self, record: _Record) -> str:
        return f"{self.stem}/{record.task_id}"


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write the runs available, their success as gold labels, and the totals of all upstream files."""
    paths = files_in(folder, "results/*.json.gz")
    files = [_result_file(path) for path in paths]
    summary = folder / "summary.csv"
    totals = {row.file: row for row in csv_rows(summary, _Totals)}
    for file in files:
        counted = _Totals(file.upstream, len(file.records), sum(map(_solved, file.records)))
        if totals.get(file.upstream) != counted:
            problem = f"{counted.solved} of {counted.tasks} runs of {file.upstream} succeed, not what its row says"
            raise InputError(problem, "Check the set with `misstep datasets verify`.", file=summary, field="solved")
    runs = [(file, record) for file in files for record in file.records]
    SetWriter(NAME, folder, out).write(
        (_item(file, record) for file, record in runs),
        (Gold(file.run_id(one), "environment", "passed" if _solved(one) else "failed") for file, one in runs),
        {file.stem: _trajectories(path, file, read) for path, file in zip(paths, files, strict=True)},
    )
    (out / "gold_totals.csv").write_bytes(file_bytes(summary))


def _solved(record: _Record) -> bool:
    return record.summary.max_reward == 1.0


def _result_file(path: Path) -> _ResultFile:
    stem = path.name.removesuffix(".json.gz")
    named = _FILE.match(stem)
    model = named and (named["model"] or named["folder"])
    if named is None or not model:
        raise InputError("the file's name does not give environment, model and number of turns", file=path)
    records = tuple(json_file(path, dict[str, _Record]).values())
    for record in records:
        _check_turns(record, path)
    return _ResultFile(stem, named["strategy"] or "multiturn", model, records)


def _check_turns(record: _Record, path: Path) -> None:
    turns = record.turn_history
    for name in ("observations", "valid_action", "thoughts"):
        values = getattr(turns, name) or ()
        if len(values) > len(turns.actions):
            problem = f"task {record.task_id} has {len(values)} of them for {len(turns.actions)} actions"
            raise InputError(problem, file=path, field=f"turn_history.{name}")
    if (best := max(turns.rewards, default=0)) != record.summary.max_reward:
        problem = f"task {record.task_id} has {record.summary.max_reward}, but its turns have {best}"
        raise InputError(problem, file=path, field="summary.max_reward")


def _item(file: _ResultFile, record: _Record) -> Item:
    extra = {
        "environment": record.environment.removeprefix("ic_"),
        "model": file.model,
        "strategy": file.strategy,
        "task_file": record.dataset,
        "task_id": record.task_id,
        "turns_max": record.summary.turns_max,
    }
    hardness = {"hardness": record.hardness} if record.hardness else {}
    return run_item(file.run_id(record), extra | hardness, task=record.query)


def _trajectories(path: Path, file: _ResultFile, read: ReadFile) -> Iterator[Trajectory]:
    for record, run in zip(file.records, trajectories(path, read, NAME), strict=True):
        yield Trajectory(
            id=file.run_id(record),
            source=replace(run.source, file=f"results/{path.name}"),
            task=run.task,
            steps=run.steps,
            agent=f"intercode {file.strategy}",
            model=file.model,
        )

"""mini-swe-agent on SWE-bench Verified: one complete run of 500 tasks, of which a few trajectories are available.

One row of `results_summary.csv`, and of `runs.csv`, which counts what happened in each trajectory:

    instance_id,resolved,patch_applied
    some__project-123,True,True

    instance_id,...,exit_status,n_messages,n_assistant,api_calls,cost_usd,nonzero_returncodes,repeated_commands,adjacent_repeats,bytes
    some__project-123,...,Submitted,42,20,20,0.2305,0,4,0,127035

`repeated_commands` are equal to an earlier command of the run, `adjacent_repeats` to the one before: running the tests
again after an edit is such a repetition. `trajectories/<instance_id>.traj.json.gz` is in mini-swe-agent's own format.
Its `exit_status` is `Submitted` for every run and says nothing about success. Whether a patch applied is a part of the
verdict and is in no item.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from misstep.harness.datasets.benchmark import Gold, Item, describe, write_benchmark
from misstep.harness.datasets.upstream import csv_rows, named_runs
from misstep.harness.errors import InputError
from misstep.harness.protocols import ReadFile
from misstep.harness.trajectory import Trajectory

NAME = "mini_swe_agent_runs"
_SUFFIX = ".traj.json.gz"


class _Verdict(Struct, frozen=True):
    """One row of `results_summary.csv`."""

    instance_id: str
    resolved: bool


class _Run(Struct, frozen=True):
    """One row of `runs.csv`; `cost_usd` in US dollars."""

    instance_id: str
    resolved: bool
    n_messages: int
    api_calls: int
    cost_usd: float
    nonzero_returncodes: int
    repeated_commands: int
    adjacent_repeats: int


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write all tasks as items, whether each was resolved as the gold label, and the trajectories available."""
    runs = list(csv_rows(folder / "runs.csv", _Run))
    _compare(runs, folder)
    at_hand = _paths(folder, {run.instance_id for run in runs})
    write_benchmark(
        out,
        describe(NAME, folder),
        items=(_item(run, run.instance_id in at_hand) for run in runs),
        gold=(Gold(run.instance_id, "swe_bench", "passed" if run.resolved else "failed") for run in runs),
        trajectories={"runs": _trajectories(at_hand, read)},
    )


def _compare(runs: list[_Run], folder: Path) -> None:
    path = folder / "results_summary.csv"
    verdicts = {row.instance_id: row.resolved for row in csv_rows(path, _Verdict)}
    counted = {run.instance_id: run.resolved for run in runs}
    for instance in sorted(verdicts.keys() | counted.keys()):
        if verdicts.get(instance) != counted.get(instance):
            raise InputError(
                f"{instance} is {verdicts.get(instance)} here and {counted.get(instance)} in runs.csv",
                file=path,
                field="resolved",
            )


def _paths(folder: Path, instances: set[str]) -> dict[str, Path]:
    paths = {path.name.removesuffix(_SUFFIX): path for path in sorted(folder.glob(f"trajectories/*{_SUFFIX}"))}
    for instance, path in paths.items():
        if instance not in instances:
            raise InputError("runs.csv has no task for this trajectory", file=path)
    return paths


def _item(run: _Run, at_hand: bool) -> Item:
    return Item(
        id=run.instance_id,
        kind="triage",
        trajectory_id=run.instance_id if at_hand else None,
        unaskable="" if at_hand else "its run is not in the public files",
        extra={
            "messages": run.n_messages,
            "api_calls": run.api_calls,
            "cost_usd": run.cost_usd,
            "nonzero_returncodes": run.nonzero_returncodes,
            "repeated_commands": run.repeated_commands,
            "adjacent_repeats": run.adjacent_repeats,
        },
    )


def _trajectories(paths: dict[str, Path], read: ReadFile) -> Iterator[Trajectory]:
    for instance, path in paths.items():
        yield from named_runs(path, read, NAME, [instance])

"""CodeTracer: runs of one coding agent on Terminal-Bench 2.0 in ATIF, with the reward of each.

One row of `outcomes.csv`; the test counts are empty where the verifier reports none:

    trial,reward,tests,tests_passed,tests_failed,exception,n_steps,n_tool_calls,n_observation_results,started_at,finished_at
    some-task__AbCdEfG,0.0,7,0,7,,104,57,56,2026-01-01T10:00:00Z,2026-01-01T10:20:00Z

`trajectories/<trial>.json` is ATIF and does not hold the outcome. One model turn becomes several steps with the same
reasoning and time. The test counts are a part of the verdict and are in no item.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from misstep.harness.datasets.benchmark import Gold, Item, describe, write_benchmark
from misstep.harness.datasets.upstream import csv_rows, named_runs
from misstep.harness.errors import InputError
from misstep.harness.protocols import ReadFile
from misstep.harness.trajectory import Trajectory

NAME = "codetracer_runs"


class _Trial(Struct, frozen=True):
    """One row of `outcomes.csv`."""

    trial: str
    reward: float
    n_steps: int
    n_tool_calls: int
    n_observation_results: int
    started_at: str
    finished_at: str


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write all trials as items and the verifier's reward as the gold label."""
    path = folder / "outcomes.csv"
    trials = list(csv_rows(path, _Trial))
    places = {trial.trial: folder / "trajectories" / f"{trial.trial}.json" for trial in trials}
    at_hand = {name: place for name, place in places.items() if place.is_file()}
    write_benchmark(
        out,
        describe(NAME, folder),
        items=(_item(trial, trial.trial in at_hand) for trial in trials),
        gold=(Gold(trial.trial, "verifier", _label(trial, path)) for trial in trials),
        trajectories={"runs": _trajectories(at_hand, read)},
    )


def _label(trial: _Trial, path: Path) -> str:
    if trial.reward not in (0.0, 1.0):
        raise InputError(f"{trial.trial} has {trial.reward}, neither 0 nor 1", file=path, field="reward")
    return "passed" if trial.reward else "failed"


def _item(trial: _Trial, at_hand: bool) -> Item:
    return Item(
        id=trial.trial,
        kind="triage",
        trajectory_id=trial.trial if at_hand else None,
        unaskable="" if at_hand else "its run is not in the public files",
        extra={
            "task_id": trial.trial.rpartition("__")[0],
            "steps": trial.n_steps,
            "tool_calls": trial.n_tool_calls,
            "tool_results": trial.n_observation_results,
            "started_at": trial.started_at,
            "finished_at": trial.finished_at,
        },
    )


def _trajectories(places: dict[str, Path], read: ReadFile) -> Iterator[Trajectory]:
    for trial, place in places.items():
        yield from named_runs(place, read, NAME, [trial])

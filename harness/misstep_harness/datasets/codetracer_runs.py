"""CodeTracer: runs of one coding agent on Terminal-Bench 2.0 in ATIF, with the reward of each.

One row of `outcomes.csv`; the test counts are empty if the verifier reports none:

    trial,reward,tests,tests_passed,tests_failed,exception,n_steps,n_tool_calls,n_observation_results,started_at,finished_at
    some-task__AbCdEfG,0.0,7,0,7,,104,57,56,2026-01-01T10:00:00Z,2026-01-01T10:20:00Z

`trajectories/<trial>.json` is ATIF and does not hold the outcome. One model turn becomes several steps with the same
reasoning and time. The test counts are a part of the verdict and are in no item.
"""

from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import asdict

from misstep_harness.datasets.benchmark import Gold, SetWriter, reward_label, run_item
from misstep_harness.datasets.upstream import csv_rows, runs_in
from misstep_harness.protocols import ReadFile

NAME = "codetracer_runs"


class _Trial(Struct, frozen=True):
    trial: str
    reward: float
    steps: int = field(name="n_steps")
    tool_calls: int = field(name="n_tool_calls")
    tool_results: int = field(name="n_observation_results")
    started_at: str
    finished_at: str


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write all trials as items and the verifier's reward as the gold label."""
    path = folder / "outcomes.csv"
    trials = list(csv_rows(path, _Trial))
    places = {trial.trial: folder / "trajectories" / f"{trial.trial}.json" for trial in trials}
    at_hand = {name: place for name, place in places.items() if place.is_file()}
    SetWriter(NAME, folder, out).write(
        (run_item(trial.trial, _extra(trial), available=trial.trial in at_hand) for trial in trials),
        (Gold(trial.trial, "verifier", reward_label(trial.reward, trial.trial, path)) for trial in trials),
        {"runs": runs_in(at_hand, read, NAME)},
    )


def _extra(trial: _Trial) -> dict[str, object]:
    counts = {name: value for name, value in asdict(trial).items() if name not in ("trial", "reward")}
    return {"task_id": trial.trial.rpartition("__")[0]} | counts

"""mini-swe-agent on SWE-bench Verified: one complete run of 500 tasks, of which a few trajectories are available.

One row of `results_summary.csv`, and of `runs.csv`, which counts what happened in each trajectory:

    instance_id,resolved,patch_applied
    some__project-123,True,True

    instance_id,...,exit_status,n_messages,n_assistant,api_calls,cost_usd,nonzero_returncodes,repeated_commands,adjacent_repeats,bytes
    some__project-123,...,Submitted,42,20,20,0.2305,0,4,0,127035

`repeated_commands` are equal to an earlier command of the run, `adjacent_repeats` to the one before: running the tests
again after an edit is such a repetition. `exit_status` is `Submitted` for every run. Whether a patch applied is a part
of the verdict and is in no item.
"""

from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import asdict

from misstep_harness.datasets.benchmark import Gold, SetWriter, run_item
from misstep_harness.datasets.upstream import csv_rows, runs_in
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile

NAME = "mini_swe_agent_runs"
_SUFFIX = ".traj.json.gz"


class _Verdict(Struct, frozen=True):
    instance_id: str
    resolved: bool


class _Run(Struct, frozen=True):
    instance_id: str
    resolved: bool
    messages: int = field(name="n_messages")
    api_calls: int
    cost_usd: float
    nonzero_returncodes: int
    repeated_commands: int
    adjacent_repeats: int


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write all tasks as items, whether each was resolved as the gold label, and the trajectories available."""
    runs = list(csv_rows(folder / "runs.csv", _Run))
    _compare(runs, folder)
    at_hand = {path.name.removesuffix(_SUFFIX): path for path in sorted(folder.glob(f"trajectories/*{_SUFFIX}"))}
    known = {run.instance_id for run in runs}
    for instance, path in at_hand.items():
        if instance not in known:
            raise InputError("runs.csv has no task for this trajectory", file=path)
    SetWriter(NAME, folder, out).write(
        (run_item(run.instance_id, _extra(run), available=run.instance_id in at_hand) for run in runs),
        (Gold(run.instance_id, "swe_bench", "passed" if run.resolved else "failed") for run in runs),
        {"runs": runs_in(at_hand, read, NAME)},
    )


def _extra(run: _Run) -> dict[str, object]:
    return {name: value for name, value in asdict(run).items() if name not in ("instance_id", "resolved")}


def _compare(runs: list[_Run], folder: Path) -> None:
    path = folder / "results_summary.csv"
    verdicts = {row.instance_id: row.resolved for row in csv_rows(path, _Verdict)}
    counted = {run.instance_id: run.resolved for run in runs}
    for instance in sorted(verdicts.keys() | counted.keys()):
        if verdicts.get(instance) != counted.get(instance):
            message = f"{instance} is {verdicts.get(instance)} here and {counted.get(instance)} in runs.csv"
            raise InputError(message, file=path, field="resolved")

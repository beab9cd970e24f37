"""AgentRx: failed runs with every failure, its category and the root cause.

One record of `ground_truth/*.json`, shortened:

    {"trajectory_id": 7, "failures": [{"failure_id": 1, "step_number": 3, "step_reason": "It asked for no proof.",
     "failure_category": "Instruction Adherence Failure", "category_reason": "…", "failed_agent": "Assistant"}],
     "root_cause": {"failure_id": 1, "reason_for_root_cause": "…"}, "failure_summary": "…"}

29 runs of tau-bench retail have transcripts; so have 73 more without a label, which are in `trajectories/` only. 44
runs of Magentic-One have labels and a number of steps only. `step_number` counts messages from 1; here it becomes the
step that holds the message, and stays unplaced without a transcript. Item ids are `tau-<n>` and `magentic-<id>`; the
gold label is the category of the root cause, in upstream's spelling, which differs between the two domains. `info`,
which holds the reference solution, is left out. `agentrx-fault` asks of the same runs whose fault the root cause was
(`data/fault_mappings.toml`). Upstream's older `tau_retail.json` repeats 24 records and is not read.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.datasets.benchmark import Gold, GoldError, Item, SetWriter
from misstep_harness.datasets.upstream import json_file, named_runs, step_of_message
from misstep_harness.errors import InputError
from misstep_harness.fault_mappings import mapping_of
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Outcome, Trajectory

NAME = "agentrx"
RATER = "annotators"
FAULT = "fault"
OTHER_DOMAIN = {
    "tau": ("Instruction/Plan Adherence Failure", "Intent not supported"),
    "magentic": ("Instruction Adherence Failure", "Intent Not Supported"),
}
"""Domain → the labels that are spelt so in the other domain alone."""


class _Failure(Struct, frozen=True):
    failure_id: int
    step_number: int
    step_reason: str
    failure_category: str
    category_reason: str
    failed_agent: str


class _RootCause(Struct, frozen=True):
    """The failure that decided the run; one record has the number as a string."""

    failure_id: int | str
    reason_for_root_cause: str


class _Labelled(Struct, frozen=True):
    trajectory_id: int | str
    failures: tuple[_Failure, ...]
    root_cause: _RootCause
    failure_summary: str


class _TauRun(Struct, frozen=True):
    task_id: int
    reward: float
    traj: list[Any]


class _Run(Struct, frozen=True):
    id: str
    labelled: _Labelled
    trajectory: Trajectory | None
    n_messages: int

    @property
    def domain(self) -> str:
        return self.id.partition("-")[0]


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write `agentrx` and `agentrx-fault`."""
    tau = {run.id: run for run in _tau_runs(folder / "tau_retail" / "tau_dataset_full.json.gz", read)}
    tau |= {run.id: run for run in _tau_runs(folder / "tau_retail" / "tau_dataset_failed.json.gz", read)}
    runs = [*_labelled_tau(folder, tau), *_labelled_magentic(folder)]
    roots = {run.id: _root(run, folder) for run in runs}
    errors = [error for run in runs for error in _errors(run, roots[run.id], folder)]
    faults = {run: mapping_of(NAME, root.failure_category).fault for run, root in roots.items()}
    questions = SetWriter(NAME, folder, out)
    used = {(run.domain, failure.failure_category) for run in runs for failure in run.labelled.failures}
    known = questions.about().labels
    labels = {
        domain: tuple(label for label in known if (domain, label) in used or label not in others)
        for domain, others in OTHER_DOMAIN.items()
    }
    questions.write(
        [_item(run, labels[run.domain]) for run in runs],
        [Gold(run, RATER, root.failure_category) for run, root in roots.items()],
        {"tau": tau.values()},
        errors,
    )
    questions.write(
        [_item(run, ()) for run in runs],
        [Gold(run, RATER, fault) for run, fault in faults.items() if fault],
        {"tau": tau.values()},
        errors,
        further=FAULT,
    )


def _tau_runs(path: Path, read: ReadFile) -> Iterator[Trajectory]:
    records = json_file(path, list[_TauRun])
    runs = named_runs(path, read, NAME, [f"tau-{record.task_id}" for record in records])
    for record, trajectory in zip(records, runs, strict=True):
        outcome = Outcome(status="passed" if record.reward == 1 else "failed", reward=record.reward)
        extra = {key: value for key, value in trajectory.extra.items() if key != "info"}
        extra["messages"] = len(record.traj)
        yield msgspec.structs.replace(trajectory, outcome=outcome, extra=extra)


def _labelled_tau(folder: Path, runs: dict[str, Trajectory]) -> Iterator[_Run]:
    path = folder / "ground_truth" / "tau_ground_truth.json"
    for labelled in json_file(path, list[_Labelled]):
        name = f"tau-{labelled.trajectory_id}"
        if name not in runs:
            raise InputError(f"run {labelled.trajectory_id} has labels, but no transcript", file=path)
        yield _Run(name, labelled, runs[name], runs[name].extra["messages"])


def _labelled_magentic(folder: Path) -> Iterator[_Run]:
    path = folder / "ground_truth" / "magentic_one_ground_truth.json"
    lengths = json_file(folder / "magentic_steps_by_id.json", dict[str, int])
    for labelled in json_file(path, list[_Labelled]):
        if labelled.trajectory_id not in lengths:
            raise InputError(f"run {labelled.trajectory_id} has labels, but no number of steps", file=path)
        yield _Run(f"magentic-{labelled.trajectory_id}", labelled, None, lengths[str(labelled.trajectory_id)])


def _item(run: _Run, labels: tuple[str, ...]) -> Item:
    extra = {"domain": run.domain, "messages": run.n_messages}
    if run.trajectory is None:
        unaskable = "its transcript is not in the public files"
        return Item(id=run.id, kind="triage", labels=labels, unaskable=unaskable, extra=extra)
    task = run.trajectory.task
    return Item(id=run.id, kind="triage", trajectory_id=run.id, task=task, labels=labels, extra=extra)


def _root(run: _Run, folder: Path) -> _Failure:
    wanted = str(run.labelled.root_cause.failure_id)
    for failure in run.labelled.failures:
        if str(failure.failure_id) == wanted:
            return failure
    problem = f"run {run.labelled.trajectory_id} has no failure {wanted}"
    raise InputError(problem, file=folder / "ground_truth", field="root_cause.failure_id")


def _errors(run: _Run, root: _Failure, folder: Path) -> Iterator[GoldError]:
    for failure in run.labelled.failures:
        step = None
        if run.trajectory is not None:
            step = step_of_message(run.trajectory, failure.step_number - 1, folder / "ground_truth")
        yield GoldError(
            trajectory=run.id,
            label=failure.failure_category,
            step=step,
            location=str(failure.step_number),
            agent=failure.failed_agent,
            root_cause=failure is root,
            reason=failure.step_reason,
            evidence=failure.category_reason,
        )

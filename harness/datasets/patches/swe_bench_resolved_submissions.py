"""Which submission solved which task: SWE-bench Verified, GSO and Terminal-Bench.

One line of `swebench_verified_responses.jsonl.gz`, `gso_responses.jsonl.gz` and `terminalbench_responses.jsonl.gz`,
and one of `terminalbench_trials.jsonl.gz`:

    {"subject_id": "20250101_some-agent_some-model", "responses": {"some__project-1": 1, "some__project-2": 0}}

    {"subject_id": "some-agent_some-model_at_some-maker", "responses": {"some-task": {"successes": 2, "trials": 5}}}

In the first three, 0 is unsolved, not run and crashed alike. The two tables of Terminal-Bench name systems differently
and cannot be joined; the trials lack one of the 89 tasks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep.harness.attempts import Attempts
from misstep.harness.datasets.upstream import json_lines
from misstep.harness.errors import InputError

NAME = "swe_bench_resolved_submissions"
_SINGLE = {
    "verified": "swebench_verified_responses.jsonl.gz",
    "gso": "gso_responses.jsonl.gz",
    "terminal_bench": "terminalbench_responses.jsonl.gz",
}
_TRIALS = "terminalbench_trials.jsonl.gz"


class Submission(Struct, frozen=True):
    """One system, and for each task whether it solved it."""

    subject_id: str
    responses: dict[str, Literal[0, 1]]


class _Cell(Struct, frozen=True):
    """The trials of one task."""

    successes: int
    trials: int


class Trials(Struct, frozen=True):
    """One system, and for each task how many of its trials solved it."""

    subject_id: str
    responses: dict[str, _Cell]


def outcomes(folder: Path) -> Iterator[Attempts]:
    """Every submission on every task, in the tables `verified`, `gso`, `terminal_bench` and `terminal_bench_trials`."""
    for table, file in _SINGLE.items():
        for submission in json_lines(folder / file, Submission):
            for task, solved in submission.responses.items():
                yield Attempts(table, submission.subject_id, task, 1, solved)
    path = folder / _TRIALS
    for system in json_lines(path, Trials):
        for task, cell in system.responses.items():
            if not 0 <= cell.successes <= cell.trials:
                found = f"{system.subject_id} solved it {cell.successes} times in {cell.trials} trials"
                raise InputError(found, file=path, field=task)
            yield Attempts("terminal_bench_trials", system.subject_id, task, cell.trials, cell.successes)

"""SWE-bench Pro: which run resolved which task of the public set.

One row of `runs.csv.gz`; runs are incomplete, and a task without a row was not attempted:

    agent_run_id,metadata.instance_id,metadata.model_name,metadata.resolved,metadata.turns,created_at
    some-uuid,instance_some__project-0a1b,Some Model - paper,false,40,"Oct 1, 2025, 10:00 AM UTC"

The tables `eval_results/<run>.json.gz` hold the same results under other names, one of them a wrong one, and are not
read.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep.harness.attempts import Attempts
from misstep.harness.datasets.upstream import csv_rows
from misstep.harness.errors import InputError

NAME = "swe_bench_pro"


class _Run(Struct, frozen=True):
    """One attempt of one model at one task."""

    instance_id: str = msgspec.field(name="metadata.instance_id")
    model_name: str = msgspec.field(name="metadata.model_name")
    resolved: bool = msgspec.field(name="metadata.resolved")


def outcomes(folder: Path) -> Iterator[Attempts]:
    """Return every task that a model attempted, in the table `runs`."""
    path = folder / "runs.csv.gz"
    seen: set[tuple[str, str]] = set()
    for run in csv_rows(path, _Run):
        if (run.model_name, run.instance_id) in seen:
            raise InputError(f"{run.model_name} has a second result", file=path, field=run.instance_id)
        seen.add((run.model_name, run.instance_id))
        yield Attempts("runs", run.model_name, run.instance_id, 1, int(run.resolved))

"""Devin on a random quarter of SWE-bench: 570 tasks, each with its outcome.

One row of `outcomes.csv`; an empty diff (0 bytes) is a failure like any other:

    instance_id,outcome,diff_bytes
    some__project-123,fail,841
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep.harness.attempts import Attempts
from misstep.harness.datasets.upstream import csv_rows

NAME = "devin"


class Diff(Struct, frozen=True):
    """One task, how it ended and the size of the diff in bytes."""

    instance_id: str
    outcome: Literal["pass", "fail"]
    diff_bytes: int


def outcomes(folder: Path) -> Iterator[Attempts]:
    """Return every task in the table `all`, and once more in the table `with_diff` where something was produced."""
    for diff in csv_rows(folder / "outcomes.csv", Diff):
        solved = int(diff.outcome == "pass")
        yield Attempts("all", NAME, diff.instance_id, 1, solved)
        if diff.diff_bytes:
            yield Attempts("with_diff", NAME, diff.instance_id, 1, solved)

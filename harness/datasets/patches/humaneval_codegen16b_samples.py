"""HumanEval: 100 samples a task of CodeGen-Mono-16B, each run once.

One row of `counts.csv`, and the same in letters in `outcomes.csv`, one a sample in order (P passed, A an assertion
failed, E another error, S no syntax, T over the time limit):

    task_id,n,c,n_unique,n_assertion,n_other_error,n_syntax_error,n_timeout
    HumanEval/3,5,2,4,1,1,1,0

    task_id,outcomes
    HumanEval/3,PASPE

Samples run past the function's end and were cut there before they were run; who made the set here ran them, not the
samples' authors.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from misstep.harness.attempts import Attempts
from misstep.harness.datasets.upstream import csv_rows
from misstep.harness.errors import InputError

NAME = "humaneval_codegen16b_samples"
_SYSTEM = "CodeGen-Mono-16B, temperature 0.8"


class _Counts(Struct, frozen=True):
    """One row of `counts.csv`: samples, and those that passed."""

    task_id: str
    n: int
    c: int


class Letters(Struct, frozen=True):
    """One row of `outcomes.csv`."""

    task_id: str
    outcomes: str


def outcomes(folder: Path) -> Iterator[Attempts]:
    """Return every task with its samples and how many passed, in the table `samples`."""
    path = folder / "outcomes.csv"
    letters = {row.task_id: row.outcomes for row in csv_rows(path, Letters)}
    for row in csv_rows(folder / "counts.csv", _Counts):
        told = letters.get(row.task_id, "")
        if (len(told), told.count("P")) != (row.n, row.c):
            found = f"{told.count('P')} of {len(told)} passed here and {row.c} of {row.n} in counts.csv"
            raise InputError(found, file=path, field=row.task_id)
        yield Attempts("samples", _SYSTEM, row.task_id, row.n, row.c)

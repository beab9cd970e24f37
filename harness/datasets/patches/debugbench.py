"""DebugBench: how often two models repaired programs with faults of known kinds, judged by the site of the problems.

`model_results.csv` has a row a model, mode, language and kind of fault:

    model,mode,language,file_bug_type,n,passed
    gpt-4,debug,python3,double,250,140

and `python3_cases.jsonl.gz` 200 of the Python cases with what became of either model's repair. The results hold more
cases than the benchmark, which was cleaned later.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from misstep.harness.attempts import Attempts
from misstep.harness.datasets.upstream import csv_rows, json_lines
from misstep.harness.errors import InputError

NAME = "debugbench"


class Results(Struct, frozen=True):
    """One row of `model_results.csv`."""

    model: str
    mode: str
    language: str
    file_bug_type: str
    n: int
    passed: int


class Repair(Struct, frozen=True):
    """What became of one model's repair of a case."""

    model: str
    passed: bool


class _Case(Struct, frozen=True):
    """One of the Python cases."""

    id: str
    repairs: tuple[Repair, ...]


def outcomes(folder: Path) -> Iterator[Attempts]:
    """Return each kind of fault as a task tried once a case (`results`), and each of 200 cases (`python3_cases`)."""
    path = folder / "model_results.csv"
    for row in csv_rows(path, Results):
        if row.passed > row.n:
            raise InputError(f"{row.passed} of {row.n} repairs passed", file=path, field=row.file_bug_type)
        system = f"{row.model}, {row.mode.replace('_', ' ')}, {row.language}"
        yield Attempts("results", system, row.file_bug_type, row.n, row.passed)
    for case in json_lines(folder / "python3_cases.jsonl.gz", _Case):
        for repair in case.repairs:
            yield Attempts("python3_cases", repair.model, case.id, 1, int(repair.passed))

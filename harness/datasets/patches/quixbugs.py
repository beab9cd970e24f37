"""QuixBugs: how many tests of a program its broken and its correct version pass.

`test_outcomes.csv` has a row a test that ran:

    program,test,buggy_outcome,correct_outcome
    gcd,test3,failed,passed
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep.harness.attempts import Attempts
from misstep.harness.datasets.upstream import csv_rows

NAME = "quixbugs"

Outcome = Literal["passed", "failed"]


class Test(Struct, frozen=True):
    """One row of `test_outcomes.csv`."""

    program: str
    test: str
    buggy_outcome: Outcome
    correct_outcome: Outcome


def outcomes(folder: Path) -> Iterator[Attempts]:
    """Return every program as a task tried once a test, in the table `tests`; raises `InputError`."""
    tests = list(csv_rows(folder / "test_outcomes.csv", Test))
    tried = Counter(test.program for test in tests)
    passed = {
        "broken programs": Counter(test.program for test in tests if test.buggy_outcome == "passed"),
        "correct programs": Counter(test.program for test in tests if test.correct_outcome == "passed"),
    }
    for system, found in passed.items():
        for program, count in tried.items():
            yield Attempts("tests", system, program, count, found[program])

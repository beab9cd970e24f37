"""HumanEvalFix: whether a broken program passes its tests, the correct one does, and the docstring's examples tell.

A line of `cases.jsonl.gz` has, with much more:

    {"id": "Python/7", "canonical_outcome": "pass", "buggy_outcome": "AssertionError", "buggy_example_outcome": "pass"}

Outcomes are `pass`, `timeout` (10 s) or the name of an exception; who made the set here ran the programs.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from misstep.harness.attempts import Attempts
from misstep.harness.datasets.upstream import json_lines

NAME = "humanevalfix"
_PASSED = "pass"


class _Case(Struct, frozen=True):
    """The outcomes of one case."""

    id: str
    canonical_outcome: str
    buggy_outcome: str
    buggy_example_outcome: str


def outcomes(folder: Path) -> Iterator[Attempts]:
    """Return every case once with its correct and its broken program, in the table `programs`; raises `InputError`."""
    for case in json_lines(folder / "cases.jsonl.gz", _Case):
        for system, outcome in (
            ("correct programs", case.canonical_outcome),
            ("broken programs", case.buggy_outcome),
            ("broken programs, examples of the docstring alone", case.buggy_example_outcome),
        ):
            yield Attempts("programs", system, case.id, 1, int(outcome == _PASSED))

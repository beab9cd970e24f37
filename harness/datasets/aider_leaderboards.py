"""Aider's leaderboards: models on its benchmarks of edits, a row a run.

One entry of `polyglot_leaderboard.yml` (225 exercises in six languages); `edit_leaderboard.yml` (133 in Python) and
`refactor_leaderboard.yml` (89) lack the counts in older rows:

    - dirname: 2025-01-01-00-00-00--a-model
      model: A Model
      edit_format: diff
      test_cases: 225
      pass_rate_1: 20.0
      pass_rate_2: 40.0
      pass_num_1: 45
      pass_num_2: 90
      percent_cases_well_formed: 96.0
      num_with_malformed_responses: 9

A model may have several rows. Weak models were given the format `whole`, so that formats do not compare across models.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from misstep.harness.datasets.upstream import yaml_rows
from misstep.harness.errors import InputError
from misstep.harness.records.recorded_edits import EditRun

NAME = "aider_leaderboards"
_BOARDS = {
    "polyglot": "polyglot_leaderboard.yml",
    "edit": "edit_leaderboard.yml",
    "refactor": "refactor_leaderboard.yml",
}


class _Row(Struct, frozen=True):
    """One run; counts are missing in older ones."""

    dirname: str
    model: str
    edit_format: str
    test_cases: int
    percent_cases_well_formed: float | None = None
    num_with_malformed_responses: int | None = None
    pass_rate_1: float | None = None
    pass_rate_2: float | None = None
    pass_num_1: int | None = None
    pass_num_2: int | None = None


def edit_runs(folder: Path) -> Iterator[EditRun]:
    """Return every run of the three main leaderboards, in order."""
    for board, file in _BOARDS.items():
        for row in yaml_rows(folder / file, _Row):
            malformed = row.num_with_malformed_responses
            if malformed is not None and not 0 <= malformed <= row.test_cases:
                message = f"{malformed} of {row.test_cases} exercises are malformed"
                raise InputError(message, file=folder / file, field=row.dirname)
            yield EditRun(
                board,
                row.dirname,
                row.model,
                row.edit_format,
                row.test_cases,
                malformed,
                row.percent_cases_well_formed,
                (row.pass_num_1, row.pass_num_2),
                (row.pass_rate_1, row.pass_rate_2),
            )

"""`misstep judge stability` as a user runs it: repeated runs of one judge, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from misstep.harness.errors import UsageError
from misstep.judge import app
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict


def stability(*arguments: str | Path) -> Any:
    """The command's result; an error that a user would meet is raised."""
    return CliRunner().invoke(app, ["stability", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Two runs of a judge that changes its mind on two of eight items, and on one of them does not answer."""
    benchmark = benchmark_of_runs(tmp_path / "gates", 8)
    first = [verdict(number, "yes" if number % 2 == 0 else "no") for number in range(8)]
    second = [verdict(0, "no"), verdict(1, None, status="refused"), *first[2:7], verdict(7, "no", cached=True)]
    return [judged_run(tmp_path / name, benchmark, given) for name, given in (("one", first), ("two", second))]


def test_the_share_of_items_whose_label_changes_is_said_first(runs: list[Path]) -> None:
    done = stability(*runs)
    assert done.exit_code == 0
    assert "The label changes between 2 runs on 14.3%" in done.stdout
    assert "From a cache, which repeats itself: 1 answer." in done.stdout


def test_as_json_it_is_one_document(runs: list[Path]) -> None:
    document = json.loads(stability(*runs, "--json").stdout)
    assert document["runs"] == ["one", "two"]
    found = document["stability"]
    assert (found["runs"], found["n"]) == (2, 8)
    assert found["changed_all"]["value"] == 0.25
    assert [one["value"] for one in found["accuracies"]] == [1.0, 0.75]
    assert found["spread"] == 0.25


def test_runs_of_different_judges_and_a_single_run_are_refused(runs: list[Path], tmp_path: Path) -> None:
    other = judged_run(tmp_path / "other", tmp_path / "gates", [verdict(0)], model="small-2")
    with pytest.raises(UsageError, match="differ in their model"):
        stability(runs[0], other)
    with pytest.raises(UsageError, match="needs two runs"):
        stability(runs[0])

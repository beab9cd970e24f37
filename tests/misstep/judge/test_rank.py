"""`misstep judge rank` as a user runs it: several judges' runs on one benchmark."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from misstep.harness.errors import UsageError
from misstep.judge import app
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict


def rank(*arguments: str | Path) -> Any:
    """The command's result; an error that a user would meet is raised."""
    return CliRunner().invoke(app, ["rank", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Two judges of eight items, four of the site north and four of the site south, who disagree on which is better."""
    benchmark = benchmark_of_runs(tmp_path / "gates", 8)
    items = benchmark / "items.jsonl"
    lines = [json.loads(line) for line in items.read_text().splitlines()]
    for number, line in enumerate(lines):
        line["extra"]["site"] = "south" if number >= 4 else "north"
    items.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    first = [verdict(number, "yes" if number < 3 else "no") for number in range(8)]
    second = [verdict(number, "no" if number < 5 else "yes", judge="other") for number in range(8)]
    return [judged_run(tmp_path / name, benchmark, given) for name, given in (("one", first), ("two", second))]


def test_the_winner_that_depends_on_the_judge_is_said_first(runs: list[Path]) -> None:
    done = rank(*runs, "--good", "no", "--system", "site")
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "The winner depends on the judge: south with one; north with two" in said
    assert "Kendall's tau-b" in said


def test_as_json_it_is_one_document_with_estimates(runs: list[Path]) -> None:
    document = json.loads(rank(*runs, "--good", "yes", "--system", "site", "--json").stdout)
    found = document["ranking"]
    assert (document["benchmark"], found["good"], found["n"]) == ("gates", "yes", 8)
    assert [judge["winners"] for judge in found["judges"]] == [["north"], ["south"]]
    (pair,) = found["pairs"]
    assert pair["tau"]["value"] == -1.0
    assert set(pair["tau"]) == {"value", "low", "high", "n", "method", "reason"}


def test_what_cannot_be_ranked_is_refused(runs: list[Path]) -> None:
    with pytest.raises(UsageError, match="do not say whose work they are"):
        rank(*runs, "--good", "yes")
    with pytest.raises(UsageError, match="none of the labels yes, no"):
        rank(*runs, "--good", "fine", "--system", "site")
    with pytest.raises(UsageError, match="needs two runs"):
        rank(runs[0], "--good", "yes")

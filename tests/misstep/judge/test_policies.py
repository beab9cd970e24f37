"""`misstep judge policies` as a user runs it: runs on a benchmark that several people labelled."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from misstep.harness.errors import UsageError
from misstep.judge import app
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict


def policies(*arguments: str | Path) -> Any:
    """The command's result; an error that a user would meet is raised."""
    return CliRunner().invoke(app, ["policies", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Two judges of six items: of three raters one finds misbehaviour twice as often as the others."""
    benchmark = benchmark_of_runs(tmp_path / "gates", 6)
    items = [json.loads(line)["id"] for line in (benchmark / "items.jsonl").read_text().splitlines()]
    votes = {"Ann": "yynnnn", "Bea": "yynnnn", "Cid": "yyyynn"}
    rows = [
        f"{item},{rater},{'yes' if vote == 'y' else 'no'}\n"
        for rater, given in votes.items()
        for item, vote in zip(items, given, strict=True)
    ]
    (benchmark / "gold.csv").write_text("item,rater,label\n" + "".join(rows))
    strict = [verdict(number, "yes" if number < 4 else "no") for number in range(6)]
    lenient = [verdict(number, "yes" if number < 2 else "no", judge="other") for number in range(6)]
    return [judged_run(tmp_path / name, benchmark, given) for name, given in (("strict", strict), ("lenient", lenient))]


def test_the_figures_stand_under_both_policies_and_the_change_of_the_best_judge_first(runs: list[Path]) -> None:
    done = policies(*runs, "--policy", "majority", "--policy", "any:yes")
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "The best judge depends on the policy: lenient under majority; strict under any:yes" in said
    assert "Accuracy under any:yes" in said


def test_majority_and_unanimous_are_compared_unless_others_are_named(runs: list[Path]) -> None:
    found = json.loads(policies(runs[0], "--json").stdout)["policies"]
    assert found["policies"] == ["majority", "unanimous"]
    assert found["labelled"] == [6, 4]
    assert set(found["judges"][0]["difference"]) == {"value", "low", "high", "n", "method", "reason"}


def test_one_policy_or_twice_the_same_is_refused(runs: list[Path]) -> None:
    with pytest.raises(UsageError, match="two different policies"):
        policies(runs[0], "--policy", "majority")
    with pytest.raises(UsageError, match="two different policies"):
        policies(runs[0], "--policy", "majority", "--policy", "majority")

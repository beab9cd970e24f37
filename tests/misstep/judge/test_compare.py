"""`misstep judge compare` as a user runs it: runs of one benchmark, found where they lie, with plain errors."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from misstep.harness.clients import ClientSettings
from misstep.harness.errors import InputError, UsageError
from misstep.harness.judges.judge_file import read_judge
from misstep.harness.judges.prompted_judge import PromptedJudge
from misstep.harness.runs.judging.judge import run_judge
from misstep.judge import app
from tests.misstep.made_up_judges import benchmark, judge_file

TEXTS = ["apple pie", "green apple", "old apple", "carrot", "leek", "green pea", "apple", "chard"]

MakeRun = Callable[..., Path]


def always_fruit(_: object) -> str:
    return '{"reasoning": "r", "label": "fruit"}'


def fruit_unless_green(request: Any) -> str:
    label = "vegetable" if "green" in request.messages[-1].content else "fruit"
    return json.dumps({"reasoning": "r", "label": label})


def not_readable(_: object) -> str:
    return "I cannot say."


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """What makes the run of a scripted judge on a benchmark that lies in a folder."""

    def run(name: str, script: str, folder: str = "plants", texts: list[str] = TEXTS) -> Path:
        plants = tmp_path / folder
        asked = plants if plants.exists() else benchmark(plants, texts)
        settings = ClientSettings(client="scripted", script=f"tests.misstep.judge.test_compare:{script}")
        run_judge(PromptedJudge(read_judge(judge_file(tmp_path))), asked, tmp_path / name, settings)
        return tmp_path / name

    return run


def compare(*arguments: str | Path) -> Any:
    """The command's result; an error that a user would meet is raised."""
    return CliRunner().invoke(app, ["compare", *map(str, arguments)], catch_exceptions=False)


def test_two_runs_are_compared_on_the_same_items(make_run: MakeRun) -> None:
    done = compare(make_run("always", "always_fruit"), make_run("green", "fruit_unless_green"), "--json")
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    (pair,) = document["pairs"]
    assert (pair["a"], pair["b"], pair["n"]) == ("always", "green", 8)
    assert (pair["both"], pair["only_a"], pair["only_b"], pair["neither"]) == (3, 1, 1, 3)
    assert (pair["difference"], pair["p_value"]) == (0, pytest.approx(0.75))
    assert pair["p_adjusted"] == pair["p_value"]
    assert (pair["n_needed"], pair["test"]) == (None, "McNemar, mid-p")
    assert "no number of items" in pair["reason"]
    assert [(run["run"], run["accuracy_all"]["value"]) for run in document["runs"]] == [("always", 0.5), ("green", 0.5)]


def test_the_text_says_who_is_ahead_and_shows_the_runs_by_themselves(make_run: MakeRun) -> None:
    runs = [make_run("always", "always_fruit"), make_run("mute", "not_readable")]
    told = compare(*runs, "--test", "bootstrap").stdout
    assert " ".join(told.split()).count("always gives the gold label on 50.0 points more of 8 items than mute") == 1
    assert "they answered no item in common" in " ".join(told.split())
    assert "paired bootstrap, 10,000 resamples of items" in " ".join(told.split())
    assert "Cohen's kappa" in told


def test_a_benchmark_that_was_moved_is_named(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run("always", "always_fruit"), make_run("mute", "not_readable")]
    shutil.move(tmp_path / "plants", tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="--benchmark"):
        compare(*runs)
    assert compare(*runs, "--benchmark", tmp_path / "elsewhere").exit_code == 0


def test_runs_that_are_held_against_different_gold_labels_are_refused_until_one_benchmark_is_named(make_run, tmp_path):
    runs = [make_run("always", "always_fruit"), make_run("mute", "not_readable", folder="copy")]
    assert compare(*runs).exit_code == 0
    gold = tmp_path / "copy" / "gold.csv"
    gold.write_text(gold.read_text().replace("i0,ann,fruit", "i0,ann,vegetable"))
    with pytest.raises(UsageError, match=r"the gold labels of .*always and .*mute differ"):
        compare(*runs)
    assert compare(*runs, "--benchmark", tmp_path / "copy").exit_code == 0


def test_one_run_no_run_and_a_run_named_twice_are_refused(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("always", "always_fruit")
    with pytest.raises(UsageError, match="Name two or more runs"):
        compare(run)
    with pytest.raises(UsageError, match="named twice"):
        compare(run, run)
    with pytest.raises(InputError, match=r"run\.toml"):
        compare(run, tmp_path)

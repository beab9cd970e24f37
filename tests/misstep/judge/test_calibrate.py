"""`misstep judge calibrate` as a user runs it: a threshold with exit 0, or with exit 1 what it would take."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from misstep.judge import app
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import UsageError
from misstep_harness.judges.judge_file import read_judge
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.runs.judging.judge import run_judge
from tests.misstep.as_a_user import command_of
from tests.misstep.made_up_judges import benchmark, judge_file

FRUIT = [f"apple number {place}" for place in range(120)]
OTHERS = [f"carrot number {place}" for place in range(40)]

MakeRun = Callable[..., Path]


def sure_of_fruit(request: Any) -> str:
    score = 0.9 if "apple" in request.messages[-1].content else 0.3
    return json.dumps({"reasoning": "r", "label": "fruit", "score": score})


def vegetable(_: object) -> str:
    return '{"reasoning": "r", "label": "vegetable"}'


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """What makes the run of a scripted judge on a benchmark whose positive label may be named."""

    def run(script: str, positive: str = "fruit") -> Path:
        folder = benchmark(tmp_path / "plants", FRUIT + OTHERS)
        if positive:
            with (folder / "benchmark.toml").open("a") as stream:
                stream.write(f'positive = "{positive}"\n')
        file = judge_file(tmp_path)
        settings = ClientSettings(client="scripted", script=f"tests.misstep.judge.test_calibrate:{script}")
        run_judge(prompted_judge(read_judge(file)), folder, tmp_path / "run", settings)
        return tmp_path / "run"

    return run


calibrate = command_of(app, "calibrate", raises=True)


def test_a_threshold_that_keeps_the_precision_is_found(make_run: MakeRun) -> None:
    done = calibrate(make_run("sure_of_fruit"), "--precision", "0.85", "--json")
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert (document["run"], document["label"], document["threshold"], document["votes"]) == ("run", "fruit", 0.9, None)
    assert (document["floor"], document["confidence"], document["reason"]) == (0.85, 0.95, "")
    assert (document["precision"]["value"], document["recall"]["value"]) == (1.0, 1.0)
    assert document["precision"]["low"] >= 0.85
    assert (document["calibration"], document["held_out"], document["more_labels"]) == (80, 80, None)
    assert [step["threshold"] for step in document["steps"]] == [0.9, 0.0]


def test_the_label_has_to_be_named_where_the_benchmark_has_no_positive_one(make_run: MakeRun) -> None:
    run = make_run("vegetable", positive="")
    with pytest.raises(UsageError, match="Labels: fruit, vegetable"):
        calibrate(run, "--precision", "0.8")
    with pytest.raises(UsageError, match="Labels: fruit, vegetable"):
        calibrate(run, "--precision", "0.8", "--label", "mineral")
    done = calibrate(run, "--precision", "0.8", "--label", "fruit", "--json")
    assert (done.exit_code, "never gives" in json.loads(done.stdout)["reason"]) == (1, True)


def test_scores_become_probabilities_that_are_tested_on_items_held_out(make_run: MakeRun) -> None:
    run = make_run("sure_of_fruit")
    done = calibrate(run, "--method", "isotonic")
    assert done.exit_code == 0, done.output
    assert "area under the ROC curve" in " ".join(done.stdout.split())
    document = json.loads(calibrate(run, "--precision", "0.8", "--method", "logistic", "--json").stdout)
    assert [one["method"] for one in document["scores"]["methods"]] == ["as given", "logistic"]
    assert len(document["scores"]["probabilities"]["logistic"]) == 80
    assert document["threshold"] is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "nothing to calibrate for"),
        (("--method", "isotonic,best"), "'best'"),
        (("--precision", "1.2"), "between 0 and 1"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(make_run: MakeRun, options: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        calibrate(make_run("sure_of_fruit"), *options)

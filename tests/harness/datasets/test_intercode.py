"""InterCode: the runs available and the totals of all upstream files give the published success rates."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import InputError
from tests.harness.datasets.loaded import Loaded, assert_refused, load, public, write

TOTALS_HEADER = "file,environment,model,tasks,solved,sum_max_reward,turns,invalid_actions,actions"
STEM = "bash__some-model__ic_bash_multiturn_some-model_10_turns_fs_1"
loaded = public("intercode")


@pytest.fixture(scope="module")
def totals(loaded: Loaded) -> dict[str, dict[str, str]]:
    with (loaded.folder / "gold_totals.csv").open(newline="") as stream:
        return {row["file"]: row for row in csv.DictReader(stream)}


def solved(loaded: Loaded, environment: str, model: str, strategy: str, turns: int) -> tuple[int, int]:
    """How many runs succeed, of how many."""
    labels = [
        loaded.gold[item.id, "environment"]
        for item in loaded.items.values()
        if (item.extra["environment"], item.extra["model"], item.extra["strategy"], item.extra["turns_max"])
        == (environment, model, strategy, turns)
    ]
    return labels.count("passed"), len(labels)


@pytest.mark.data
@pytest.mark.parametrize(
    ("environment", "model", "strategy", "turns", "passed", "recorded", "rate"),
    [
        ("bash", "gpt-4", "multiturn", 10, 97, 200, 48.5),
        ("bash", "gpt-3.5", "multiturn", 10, 67, 147, 45.58),
        ("bash", "text-davinci-003", "multiturn", 10, 77, 199, 38.69),
        ("bash", "chat-bison-001", "multiturn", 10, 38, 198, 19.19),
        ("bash", "text-bison-001", "multiturn", 10, 45, 200, 22.5),
        ("bash", "vicuna", "multiturn", 10, 49, 200, 24.5),
        ("bash", "starchat", "multiturn", 10, 47, 198, 23.74),
        ("bash", "gpt-3.5", "react", 10, 41, 200, 20.5),
        ("sql", "gpt-4", "multiturn", 10, 762, 1034, 73.69),
        ("sql", "gpt-4", "multiturn", 1, 94, 1034, 9.09),
        ("ctf", "gpt-4", "multiturn", 10, 37, 93, 39.78),
        ("python", "gpt-3.5", "multiturn", 7, 69, 117, 58.97),
        ("python", "gpt-4", "multiturn", 7, 70, 119, 58.82),
    ],
)
def test_success_over_the_recorded_runs(loaded, environment, model, strategy, turns, passed, recorded, rate) -> None:
    assert solved(loaded, environment, model, strategy, turns) == (passed, recorded)
    assert round(100 * passed / recorded, 2) == rate


@pytest.mark.data
def test_turns_and_invalid_actions_of_the_trajectories_are_those_of_the_totals(loaded, totals) -> None:
    turns: Counter[str] = Counter()
    invalid: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for run in loaded.trajectories.values():
        file = run.id.rpartition("/")[0].replace("__", "/") + ".json"
        results = [result for step in run.steps for result in step.results]
        turns[file] += sum(len(step.calls) for step in run.steps)
        answered[file] += len(results)
        invalid[file] += sum(bool(result.is_error) for result in results)
    assert len(turns) == 37
    for file, row in totals.items():
        if file not in turns:
            continue
        assert turns[file] == int(row["turns"])
        if row["environment"] == "python":  # validity is not tracked: the totals count every action as invalid
            assert (invalid[file], int(row["invalid_actions"])) == (0, int(row["actions"]))
        elif int(row["actions"]):
            assert (answered[file], invalid[file]) == (int(row["actions"]), int(row["invalid_actions"]))
        else:  # the one file without validity
            assert invalid[file] == 0


def record(**changes: Any) -> dict[str, Any]:
    return {
        "environment": "ic_bash",
        "dataset": "./tasks.json",
        "task_id": 4,
        "query": "Count the lines of a.txt",
        "turn_history": {
            "actions": ["wc -l a.txt", "nope", "blocked"],
            "observations": ["3 a.txt", "not found"],
            "rewards": [1.0, 0.2, 0],
            "valid_action": [True, False],
        },
        "summary": {"max_reward": 1.0, "turns_taken": 3, "turns_max": 10},
    } | changes


def upstream(folder: Path, runs: list[dict[str, Any]], totals_row: str = "1,1,1.0,3,1,2", stem: str = STEM) -> Path:
    return write(
        folder,
        {
            f"results/{stem}.json.gz": json.dumps({str(number): run for number, run in enumerate(runs)}),
            "summary.csv": f"{TOTALS_HEADER}\n{stem.replace('__', '/')}.json,bash,some-model,{totals_row}\n",
        },
    )


def test_a_run_succeeds_by_its_highest_reward_and_a_blocked_action_has_no_result(tmp_path: Path) -> None:
    made_up = load("intercode", upstream(tmp_path / "upstream", [record()]), tmp_path)
    (run,) = made_up.trajectories.values()
    assert made_up.gold == {(f"{STEM}/4", "environment"): "passed"}
    assert [step.role for step in run.steps] == ["user", "agent", "agent", "agent"]
    assert [call.name for step in run.steps for call in step.calls] == ["bash"] * 3
    assert [[result.is_error for result in step.results] for step in run.steps[1:]] == [[False], [True], []]


def test_validity_that_is_not_tracked_stays_unknown(tmp_path: Path) -> None:
    turns = {"actions": ["x = 1"], "observations": [""], "rewards": [0.5], "valid_action": [None]}
    run = record(turn_history=turns, summary={"max_reward": 0.5, "turns_taken": 1, "turns_max": 7})
    made_up = load("intercode", upstream(tmp_path / "upstream", [run], "1,0,0.5,1,1,1"), tmp_path)
    (step,) = (step for step in made_up.trajectories[f"{STEM}/4"].steps if step.calls)
    assert step.results[0].is_error is None
    assert made_up.gold[f"{STEM}/4", "environment"] == "failed"


@pytest.mark.parametrize(
    ("stem", "model", "strategy"),
    [
        ("bash__m-1__ic_bash_react_10_turns_fs_2", "m-1", "react"),
        ("sql__m-1.5__ic_sql_multiturn_m-1.5-1_turns", "m-1.5", "multiturn"),
        ("python__m-1__ic_python_multiturn_other_7_turns", "other", "multiturn"),
        ("ctf__ic_ctf_m-2_25_turns", "m-2", "multiturn"),
    ],
)
def test_the_model_is_the_one_in_the_file_name_before_the_one_of_the_folder(tmp_path, stem, model, strategy) -> None:
    made_up = load("intercode", upstream(tmp_path / "upstream", [record()], stem=stem), tmp_path)
    (item,) = made_up.items.values()
    assert (item.extra["model"], item.extra["strategy"]) == (model, strategy)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (
            record(turn_history={"actions": ["a"], "observations": ["b", "c"], "rewards": [1.0]}),
            ("turn_history.observations",),
        ),
        (record(summary={"max_reward": 0.5, "turns_taken": 3, "turns_max": 10}), ("summary.max_reward", "0.5")),
    ],
)
def test_a_record_that_contradicts_itself_is_an_error_that_names_file_and_field(tmp_path, run, words) -> None:
    assert_refused("intercode", upstream(tmp_path / "upstream", [run]), tmp_path, words)


def test_totals_that_contradict_the_runs_are_an_error(tmp_path: Path) -> None:
    folder = upstream(tmp_path / "upstream", [record()], "1,0,1.0,3,1,2")
    with pytest.raises(InputError, match=r"summary\.csv: solved: 1 of 1 runs"):
        load("intercode", folder, tmp_path)


def test_a_file_name_without_a_model_is_an_error(tmp_path: Path) -> None:
    folder = upstream(tmp_path / "upstream", [record()], stem="ctf__ic_ctf_react_10_turns")
    with pytest.raises(InputError, match="file's name"):
        load("intercode", folder, tmp_path)

"""Who&When: the folder gives the printed random baselines, and step labels count from 0 as upstream's do."""

import json
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest

from misstep_harness.datasets.benchmark import read_benchmark
from misstep_harness.errors import InputError
from tests.harness.datasets.loaded import Loaded, load, public, write

who = public("whoandwhen")


@pytest.mark.data
def test_there_are_126_failed_runs_of_5_to_10_entries(who: Loaded) -> None:
    lengths = [len(run.steps) for run in who.trajectories.values()]
    assert len(lengths) == len(who.items) == len(who.gold) == 126
    assert (min(lengths), max(lengths), median(lengths), round(mean(lengths), 2)) == (5, 10, 10, 8.72)
    assert {run.outcome.status for run in who.trajectories.values()} == {"failed"}


def log(**changed: Any) -> str:
    value = {
        "question": "How many?",
        "question_ID": "q",
        "level": "1",
        "ground_truth": "8",
        "is_correct": False,
        "history": [
            {"content": "I count.", "role": "assistant", "name": "Counting_Expert"},
            {"content": "exitcode: 0", "role": "user", "name": "Computer_terminal"},
        ],
        "system_prompt": {},
        "mistake_agent": "Counting_Expert",
        "mistake_step": "0",
        "mistake_reason": "It counted one twice.",
    }
    return json.dumps(value | changed)


def test_what_the_terminal_printed_is_a_step_of_the_system_and_labels_are_speakers_or_steps(tmp_path: Path) -> None:
    made = load("whoandwhen", write(tmp_path / "whoandwhen", {"logs/1.json": log()}), tmp_path / "out")
    assert [(step.role, step.speaker) for step in made.trajectories["1"].steps] == [
        ("agent", "Counting_Expert"),
        ("system", "Computer_terminal"),
    ]
    assert made.items["1"].labels == ("Counting_Expert", "Computer_terminal")
    assert Loaded(made.folder.with_name("whoandwhen-step")).items["1"].labels == ("0", "1")


@pytest.mark.parametrize("blamed", ["counting_expert", "COUNTING_EXPERT", " Counting Expert", "Counting-Expert"])
def test_the_agent_that_is_blamed_is_spelt_as_where_it_speaks(tmp_path: Path, blamed: str) -> None:
    made = load(
        "whoandwhen", write(tmp_path / "whoandwhen", {"logs/1.json": log(mistake_agent=blamed)}), tmp_path / "o"
    )
    assert set(made.gold.values()) == {"Counting_Expert"}
    assert made.items["1"].labels == ("Counting_Expert", "Computer_terminal")


@pytest.mark.parametrize("step", ["2", "-1", "one", ""])
def test_a_step_that_the_log_has_not_is_an_error(tmp_path: Path, step: str) -> None:
    upstream = write(tmp_path / "whoandwhen", {"logs/7.json": log(mistake_step=step)})
    with pytest.raises(InputError, match=r"7\.json: mistake_step: step .* does not exist: the history has 2 steps"):
        load("whoandwhen", upstream, tmp_path / "out")


def test_nobody_is_asked_who_it_was_where_the_blamed_agent_does_not_speak(tmp_path: Path) -> None:
    upstream = write(tmp_path / "whoandwhen", {"logs/1.json": log(mistake_agent="Silent_Expert")})
    made = load("whoandwhen", upstream, tmp_path / "out")
    assert made.items["1"].skip_reason == "the agent that is blamed does not speak in the log"
    assert Loaded(made.folder.with_name("whoandwhen-step")).items["1"].skip_reason == ""


def test_a_log_whose_entries_have_no_name_is_read_by_their_roles(tmp_path: Path) -> None:
    history = [
        {"role": "human", "content": "How many?"},
        {"role": "Orchestrator (thought)", "content": "Somebody counts."},
        {"role": "WebSurfer", "content": "There are eight."},
        {"role": "ComputerTerminal", "content": "8"},
    ]
    handmade = log(history=history, mistake_agent="WebSurfer", mistake_step=2, level=1)
    made = load("whoandwhen", write(tmp_path / "whoandwhen", {"logs/1.json": handmade}), tmp_path / "out")
    assert [(step.role, step.speaker) for step in made.trajectories["1"].steps] == [
        ("user", "human"),
        ("agent", "Orchestrator"),
        ("agent", "WebSurfer"),
        ("system", "ComputerTerminal"),
    ]
    assert made.gold == {("1", "annotators"): "WebSurfer"}


def test_one_broken_log_costs_itself_and_is_said(tmp_path: Path) -> None:
    logs = {"logs/1.json": log(), "logs/2.json": '{"question": "How many?"}', "logs/3.json": log(mistake_step="9")}
    made = load("whoandwhen", write(tmp_path / "whoandwhen", logs), tmp_path / "out")
    assert list(made.items) == ["1"]
    broken, misplaced = read_benchmark(made.folder).left_out
    assert broken.startswith("logs/2.json: ")
    assert misplaced == "logs/3.json: mistake_step: step '9' does not exist: the history has 2 steps"

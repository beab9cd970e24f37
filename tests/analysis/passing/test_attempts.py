"""Users' attempts: one a row or counts of a task, in any form of table, and what is not an outcome."""

from pathlib import Path

import pytest

from misstep_analysis.passing.attempts import PassAttempts, TaskCounts, read_attempts, together
from misstep_harness.errors import InputError


def read(tmp_path: Path, text: str, threshold: float | None = None) -> PassAttempts:
    file = tmp_path / "runs.csv"
    file.write_text(text)
    return read_attempts(file, "runs", threshold)


def tasks(result: PassAttempts) -> dict[str, TaskCounts]:
    (system,) = result.systems
    return dict(system.tasks)


@pytest.mark.parametrize(
    "text",
    [
        "task,passed\na,yes\na,no\nb,True\n",
        "task;passed\na;1\na;0\nb;1.0\n",
        "Task\tPassed\na\tPASS\na\tfail\nb\tpassed\n",
        "instance_id,resolved\na,true\na,false\nb,true\n",
        '{"task": "a", "passed": true}\n{"task": "a", "passed": false}\n{"task": "b", "passed": 1}\n',
        '[{"task": "a", "passed": "pass"}, {"task": "a", "passed": "failed"}, {"task": "b", "passed": 1.0}]',
        "task,n,c\na,2,1\nb,1,1\n",
        "task,trial,reward\na,0,1\na,1,0\nb,0,1\n",
    ],
)
def test_the_same_attempts_are_read_from_every_form(tmp_path: Path, text: str) -> None:
    result = read(tmp_path, text)
    assert tasks(result) == {"a": TaskCounts(1, 1), "b": TaskCounts(1, 0)}
    assert (result.systems[0].name, result.remarks) == ("runs", ())


def test_a_column_of_systems_separates_them(tmp_path: Path) -> None:
    result = read(tmp_path, "system,task,passed\nsmall,a,no\nlarge,a,yes\n")
    assert {one.name: dict(one.tasks) for one in result.systems} == {
        "small": {"a": TaskCounts(0, 1)},
        "large": {"a": TaskCounts(1, 0)},
    }


def test_what_is_no_outcome_is_counted_and_named_and_no_failure(tmp_path: Path) -> None:
    result = read(tmp_path, "task,passed\na,yes\na,\na,timeout\nb,7\n")
    assert tasks(result) == {"a": TaskCounts(1, 0, 2), "b": TaskCounts(0, 0, 1)}
    told = [
        (one.task, one.where.removeprefix(str(tmp_path)), one.lack, one.found) for one in result.systems[0].unanswered
    ]
    assert told == [
        ("a", "/runs.csv, line 3", "missing", ""),
        ("a", "/runs.csv, line 4", "unreadable", "timeout"),
        ("b", "/runs.csv, line 5", "unreadable", "7"),
    ]


def test_null_and_an_absent_key_of_json_lines_are_missing(tmp_path: Path) -> None:
    result = read(tmp_path, '{"task": "a", "passed": null}\n{"task": "a"}\n{"task": "a", "passed": true}\n')
    assert tasks(result) == {"a": TaskCounts(1, 0, 2)}
    assert result.systems[0].lacking("missing") == 2


def test_a_reward_is_an_outcome_only_with_a_threshold(tmp_path: Path) -> None:
    text = "task,reward\na,0.5\na,0.49\na,1\n"
    assert tasks(read(tmp_path, text, 0.5)) == {"a": TaskCounts(2, 1)}
    with pytest.raises(InputError, match=r"runs\.csv:2: reward: 0\.5 is a reward.*--threshold"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task,passed\n", "no attempts"),
        ("item,label\na,yes\n", "no columns of attempts"),
        ("task,n\na,3\n", "no columns of attempts"),
        ("task,passed,n,c\na,yes,1,1\n", "both outcomes"),
        ("task,outcome,reward\na,yes,1\n", "'outcome', 'reward' may each be the column 'passed'"),
        ("task,passed\n,yes\n", r"runs\.csv:2: task: no task"),
        ("system,task,passed\nx,a,yes\n,a,yes\n", r"runs\.csv:3: system: no system"),
        ("task,attempt,passed\na,1,yes\nb,1,no\na,1,no\n", r"runs\.csv:4: attempt: .* on line 2 already"),
        ("task,n,c\na,3,1\na,3,2\n", r"runs\.csv:3: task: .* on line 2 already"),
        ("task,n,c\na,3,4\n", "4 of 3 attempts passed"),
        ("task,n,c\na,many,1\n", "'many' attempts"),
        ("task,n,c\na,1000000,1\n", "whole number up to 100,000"),
    ],
)
def test_a_file_that_cannot_be_is_an_error_that_names_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_under_its_first_name_a_column_is_taken_whatever_else_there_is(tmp_path: Path) -> None:
    result = read(tmp_path, "task,model,system,passed\na,x,y,yes\n")
    assert [one.name for one in result.systems] == ["y"]
    assert "'model'" in result.remarks[0]


def test_attempts_of_one_system_from_two_places_are_added_up_and_said(tmp_path: Path) -> None:
    one = read(tmp_path, "task,passed\na,yes\nb,\n")
    result = together([one, read(tmp_path, "task,passed\na,no\nc,no\n")])
    assert tasks(result) == {"a": TaskCounts(1, 1), "b": TaskCounts(0, 0, 1), "c": TaskCounts(0, 1)}
    assert len(result.systems[0].unanswered) == 1
    assert result.remarks == ("the attempts of runs from several places are put together",)

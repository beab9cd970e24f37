"""`misstep pass`: repeated attempts of users' files and of runs of repairs."""

import json
from pathlib import Path

import pytest

from misstep.passing import app
from misstep_harness.errors import InputError, UsageError
from tests.analysis.pages.html_rules import check_page
from tests.misstep.as_a_user import command_of
from tests.misstep.made_up_runs import CASES, HOSTILE, four, repaired, repaired_run

ESTIMATE = {"value", "low", "high", "n", "method", "reason"}


command = command_of(app, "--boot", "200")


@pytest.fixture
def attempts(tmp_path: Path) -> Path:
    """Two systems on three tasks, one outcome missing."""
    file = tmp_path / "attempts.csv"
    rows = ["large,a,yes", "large,a,yes", "large,b,yes", "large,b,no", "large,c,no", "large,c,no"]
    rows += ["small,a,yes", "small,a,no", "small,b,no", "small,b,", "small,c,no", "small,c,no"]
    file.write_text("\n".join(["system,task,passed", *rows]) + "\n")
    return file


def test_the_text_has_chances_flicker_and_the_comparison(attempts: Path) -> None:
    result = command(attempts)
    assert result.exit_code == 0, result.output
    output = " ".join(result.stdout.split())
    assert "Of 2 systems large is ahead, but its lead over small may be chance. large passes 50.0%" in output
    assert "pass@2" in output
    assert "pass^2" in output
    assert "Flicker: tasks that pass sometimes" in output
    assert "large passes" in output
    assert "small: 1 attempt without an outcome (1 missing, 0 unreadable)" in output


def test_the_document_has_estimates_and_both_ways_of_counting(attempts: Path) -> None:
    result = json.loads(command(attempts, "--json", "--k", "2,1").stdout)
    assert result["ks"] == [1, 2]
    large, small = result["systems"]
    assert set(large["at"][1]["pass_hat_k"]) == ESTIMATE
    assert large["at"][1]["pass_hat_k"]["value"] == pytest.approx(1 / 3)
    assert small["at"][1]["left_out"] == [{"task": "b", "attempts": 1}]
    assert small["at_all"][1]["left_out"] == []
    assert (small["missing"], small["answered"]) == (1, 5)
    assert [(one["task"], one["lack"]) for one in result["unanswered"]] == [("b", "missing")]
    (pair,) = result["pairs"]
    assert {"a", "b", "n", "difference", "p_value", "p_adjusted", "test"} <= set(pair)


def test_an_unreadable_outcome_is_no_failure_and_gives_exit_code_1(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("task,passed\na,yes\na,crashed\n")
    result = command(file, "--json")
    assert result.exit_code == 1
    (one,) = json.loads(result.stdout)["systems"]
    assert (one["system"], one["at"][0]["pass_at_k"]["value"], one["unreadable"]) == ("runs", 1.0, 1)


def test_rewards_pass_from_the_threshold_on(tmp_path: Path) -> None:
    file = tmp_path / "rewards.jsonl"
    file.write_text('{"task": "a", "reward": 0.8}\n{"task": "a", "reward": 0.2}\n')
    (one,) = json.loads(command(file, "--json", "--threshold", "0.5").stdout)["systems"]
    assert one["at"][0]["pass_at_k"]["value"] == 0.5
    assert isinstance(command(file).exception, InputError)


def test_runs_of_repairs_are_compared_on_their_cases_and_what_broke_is_no_failure(tmp_path: Path) -> None:
    broke = repaired("quince", None, 1, error="TimeoutError", ended="")
    again = [repaired(case, case == "apple", 1) for case in CASES[:3]]
    held_not = repaired("medlar", None, ended="not_affirmed")
    run = repaired_run(tmp_path / "with", [*four(), *again, broke, held_not])
    without = repaired_run(tmp_path / "without", four("", setting="react"), setting="react")
    result = command(run, without, "--json")
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    first, second = outcome["systems"]
    assert (first["system"], first["n_tasks"], first["n_attempts"], first["missing"]) == ("react+tests", 4, 8, 1)
    assert first["flicker"]["tasks"] == ["pear"]
    assert second["at"][0]["pass_at_k"]["value"] == 0.0
    assert any("1 case not affirmed, which counts nowhere" in note for note in outcome["notes"])
    assert outcome["unanswered"][0]["found"] == "TimeoutError"


def test_the_page_is_whole_and_escapes_what_comes_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "attempts.csv"
    name = HOSTILE.replace('"', '""')
    file.write_text(f'task,passed,system\n"{name}",yes,"{name}"\n"{name}","{name}","{name}"\n"{name}",no,other\n')
    result = command(file, "--html", tmp_path / "page.html")
    assert result.exit_code == 1, result.output
    check_page((tmp_path / "page.html").read_text())
    assert HOSTILE not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    "option",
    [f"--k={k}" for k in ("0", "", "1,,2", "two", "-1", "1001", "1.5")]
    + [f"--threshold={t}" for t in ("0", "1.5", "-1")],
)
def test_a_k_that_is_none_and_a_threshold_outside_0_to_1_are_refused(attempts: Path, option: str) -> None:
    assert isinstance(command(attempts, option).exception, UsageError)


def test_a_file_named_twice_is_refused(attempts: Path) -> None:
    assert "named twice" in str(command(attempts, attempts).exception)

"""`misstep repair run` and `review`, as a user gives them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.workspace import Sandbox
from tests.harness.repair.cases import price_case
from tests.harness.repair.conftest import sandbox as sandbox


def _misstep(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "misstep", "repair", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=240)


def test_a_case_is_repaired_without_a_model_and_reviewed(tmp_path: Path, sandbox: Sandbox) -> None:  # noqa: ARG001
    price_case(tmp_path / "cases" / "price")
    run = tmp_path / "run"
    done = _misstep("run", tmp_path / "cases", "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["n"] == 1
    assert said["solve_rate"]["value"] == 1
    assert {"patch_generation_rate", "error_rate", "iterations"} <= said.keys()
    [case] = said["cases"]
    assert (case["id"], case["solved"], case["patched"], case["error"]) == ("price", True, True, None)
    assert (run / "report.html").is_file()
    again = _misstep("run", tmp_path / "cases", "--out", run, "--json")
    assert json.loads(again.stdout) == said

    package = _misstep("review", "package", run, "price", "--out", tmp_path / "package")
    assert package.returncode == 0, package.stderr
    assert "found += price" in (tmp_path / "package" / "patch.diff").read_text()
    assert "assert -3 == 3" in (tmp_path / "package" / "task.md").read_text()
    assert _misstep("review", "accept", run, "price", "--by", "kim").returncode == 0
    assert _misstep("review", "list", run).stdout.startswith("accepted ")
    assert _misstep("review", "reject", run, "price").returncode == 0
    late = _misstep("review", "accept", run, "price")
    assert late.returncode == 2
    assert "rejected already" in late.stderr


def test_a_judge_of_patches_is_heard_shown_and_measured_on_what_the_run_made(
    tmp_path: Path,
    sandbox: Sandbox,  # noqa: ARG001
) -> None:
    price_case(tmp_path / "cases" / "price")
    judge = "tests.harness.repair.judging:LooksForTheLoop"
    done = _misstep("run", tmp_path / "cases", "--out", tmp_path / "run", "--patch-judge", judge, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["signals"]["patch_judge"] == {"passed": 1, "failed": 0, "unknown": 0}
    page = (tmp_path / "run/report.html").read_text()
    assert "patch_judge: passed" in page
    assert "patches judged by looks_for_the_loop" in page
    _misstep("review", "package", tmp_path / "run", "price", "--out", tmp_path / "package")
    assert "- patch_judge: passed, 0.90 (It adds the price.)" in (tmp_path / "package/task.md").read_text()

    made = _misstep("patches", tmp_path / "run", "--out", tmp_path / "patches")
    assert (made.returncode, made.stdout) == (0, f"1 patch in {tmp_path / 'patches'}\n")
    line = ["judge", "run", judge, "--benchmark", tmp_path / "patches", "--out", tmp_path / "judged", "--json"]
    scored = subprocess.run([sys.executable, "-m", "misstep", *map(str, line)], capture_output=True, text=True)
    assert json.loads(scored.stdout)["accuracy"]["value"] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "gone", "--out", "run"], "no repair case"),
        (["run", "cases", "--out", "run", "--test-command", "pytest"], "--test-command with repair cases"),
        (["run", "cases", "--out", "run", "--outcomes", "a.csv"], "--outcomes with repair cases"),
        (["run", "cases", "--out", "run", "--setting", "all"], "no setting 'all'"),
        (["run", "cases", "--out", "run", "--policy", "model"], "needs a model"),
        (["run", "cases", "--out", "run", "--policy", "luck"], "'luck'"),
        (["run", "cases", "--out", "run", "--policy", "replay"], "needs recorded attempts"),
        (["run", "cases", "--out", "run", "--format", "ed"], "'ed'"),
        (["run", "cases", "--out", "run", "--sandbox", "jar"], "'jar'"),
        (["run", "cases", "--out", "run", "--patch-judge", "nobody"], "there is no judge 'nobody'"),
        (["run", "cases", "--out", "run", "--patch-judge", "recovery", "--model", "m"], "for items of kind recovery"),
        (["run", "cases", "--out", "run", "--patch-judge", "patch_judge"], "names no model"),
        (["run", "cases", "--out", "run", "--judge-model", "m"], "--judge-model without a judge"),
        (
            ["run", "cases", "--out", "run", "--policy", "model", "--model", "m", "--patch-judge", "elsewhere.toml"],
            "names a server of its own",
        ),
        (
            ["patches", "cases", "--out", "patches"],
            "there is no run.toml. Name a folder that `misstep repair run` wrote",
        ),
        (["review", "accept", "cases", "price"], "cases"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    tmp_path: Path,
    arguments: list[str],
    told: str,
    sandbox: Sandbox,  # noqa: ARG001
) -> None:
    price_case(tmp_path / "cases" / "price")
    elsewhere = 'name = "elsewhere"\nkind = "patch"\nprompt = "judges/patch_judge"\n'
    (tmp_path / "elsewhere.toml").write_text(f'{elsewhere}[model]\nname = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    done = _misstep(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "attempts.jsonl").exists()


def test_a_repository_needs_the_line_that_runs_its_tests(tmp_path: Path, sandbox: Sandbox) -> None:  # noqa: ARG001
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    done = _misstep("run", tmp_path / "shop", "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "without --test-command" in done.stderr

"""`misstep repair run` and `review`, as a user gives them."""

import html
import json
import shlex
import subprocess
from pathlib import Path

import pytest

from misstep_harness.repair.scoring import Affirmed
from tests.harness.repair.cases import price_case
from tests.harness.repair.conftest import oracle_once as oracle_once
from tests.harness.repair.conftest import sandbox as sandbox
from tests.harness.repair.failure_bot.histories import PRICE, TESTS, MadeRepository
from tests.misstep.as_a_user import misstep

pytestmark = pytest.mark.usefixtures("oracle_once")


def _misstep(*arguments: object, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return misstep("repair", *map(str, arguments), cwd=cwd)


@pytest.mark.usefixtures("sandbox")
def test_a_case_is_repaired_without_a_model_and_reviewed(tmp_path: Path) -> None:
    price_case(tmp_path / "cases" / "price")
    run = tmp_path / "run"
    done = _misstep("run", tmp_path / "cases", "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["n"] == 1
    assert document["solve_rate"]["value"] == 1
    assert {"patch_generation_rate", "error_rate", "iterations"} <= document.keys()
    [case] = document["cases"]
    assert (case["id"], case["solved"], case["patched"], case["error"]) == ("price", True, True, None)
    assert (run / "report.html").is_file()
    again = _misstep("run", tmp_path / "cases", "--out", run, "--json")
    assert json.loads(again.stdout) == document

    package = _misstep("review", "package", run, "price", "--out", tmp_path / "package")
    assert package.returncode == 0, package.stderr
    assert "found += price" in (tmp_path / "package" / "patch.diff").read_text()
    assert "assert -3 == 3" in (tmp_path / "package" / "task.md").read_text()
    accepted = _misstep("review", "accept", run, "price", "--by", "kim")
    assert accepted.stdout == "accepted: price/search/react+static+tests/search_replace/0\n"
    unknown = _misstep("review", "accept", run, "prise")
    assert (unknown.returncode, "search_replace/0 (accepted)" in unknown.stderr) == (2, True)
    assert _misstep("review", "reject", run, "price").returncode == 0
    late = _misstep("review", "accept", run, "price")
    assert late.returncode == 2
    assert "rejected already" in late.stderr


@pytest.mark.usefixtures("sandbox")
def test_a_repository_ends_with_the_patch_and_the_command_that_applies_it(tmp_path: Path) -> None:
    repo = MadeRepository(tmp_path / "made")
    repo.commit({"price.py": PRICE, "tests/test_price.py": TESTS})
    repo.commit({"price.py": PRICE.replace("sum(prices)", "sum(prices) - 1")})
    (repo.folder / "notes.txt").write_text("not committed\n")
    line = ["run", repo.folder, "--test-command", "python -m unittest discover -s tests", "--out", tmp_path / "run"]
    done = _misstep(*line)
    assert done.returncode == 0, done.stderr
    assert "1 files differ from the last commit and do not count; --uncommitted takes them in: notes.txt" in done.stderr
    document = json.loads(_misstep(*line, "--json").stdout)
    assert (document["n"], document["held_back"]) == (1, [])
    [patch] = document["patches"]
    [blame] = document["blames"]
    assert (blame["case"], blame["author"]) == ("task-1", "Ann <ann@example.org>")
    assert "a single change from passing to this failure after" in blame["assumes"]
    first = done.stdout.partition("\n")[0]
    assert first.startswith("Fixed: ")
    assert first.endswith(f", broken by Ann's {blame['commit'][:7]}. The suite has no other test.")
    page = html.unescape((tmp_path / "run/report.html").read_text())
    for words in (first, blame["assumes"], patch["file"], "What the checks say", "misstep repair review accept"):
        assert words in page
    assert f"Apply it: {patch['apply']}" in done.stdout
    assert "+    return sum(prices)\n" in done.stdout
    assert subprocess.run(shlex.split(patch["apply"])).returncode == 0
    assert (repo.folder / "price.py").read_text() == PRICE


@pytest.mark.parametrize(
    ("body", "code", "rules", "text"),
    [
        ("pass", 0, [], "there is nothing to repair"),
        ("assert not 1", 0, [], "Not fixed: test_it.It.test_it. I found no line of Python"),
        ("import time; time.sleep(60)", 1, ["time_limit"], "--test-seconds"),
    ],
)
@pytest.mark.usefixtures("sandbox")
def test_a_repository_with_nothing_to_repair_has_an_end_of_its_own(tmp_path, body, code, rules, text) -> None:
    repo = MadeRepository(tmp_path / "made")
    tests = f"import unittest\n\nclass It(unittest.TestCase):\n    def test_it(self):\n        {body}\n"
    repo.commit({"test_it.py": tests})
    line = ["run", repo.folder, "--test-command", "python -m unittest", "--out", tmp_path / "run", "--test-seconds", 2]
    done = _misstep(*line, "--json")
    assert done.returncode == code, done.stderr
    document = json.loads(done.stdout)
    assert [each["rule"] for each in document["held_back"]] == rules
    again = _misstep(*line)
    assert text in again.stdout
    assert "reproduce" not in again.stderr


@pytest.mark.usefixtures("sandbox")
def test_a_judge_of_patches_is_heard_shown_and_measured_on_what_the_run_made(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(
        "misstep_harness.repair.runs.repair.affirm", lambda *_: Affirmed(True)
    )  # it would run six times
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

    made = _misstep("report", tmp_path / "run", "--patches", tmp_path / "patches")
    assert (made.returncode, "1 patch written" in made.stderr) == (0, True)
    line = ["judge", "run", judge, "--benchmark", tmp_path / "patches", "--out", tmp_path / "judged", "--json"]
    scored = misstep(*map(str, line))
    assert json.loads(scored.stdout)["accuracy"]["value"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "gone"], "no such folder"),
        (["run", "gone", "--test-command", "pytest"], "no such folder"),
        (["run", "made"], "without --test-command"),
        (["run", "plain", "--test-command", "pytest"], "is not a git repository"),
        (["run", "made/tests", "--test-command", "pytest"], "begins with `cd tests &&`"),
        (["run", "empty", "--test-command", "pytest"], "has no commit yet"),
        (["run", "cases", "--uncommitted"], "--uncommitted with repair cases"),
        (["run", "cases", "--test-command", "pytest"], "--test-command with repair cases"),
        (["run", "cases", "--setting", "all"], "no setting 'all'"),
        (["run", "cases", "--policy", "model"], "needs a model"),
        (["run", "cases", "--policy", "luck"], "'luck'"),
        (["run", "cases", "--policy", "direct"], "`direct` needs instructions"),
        (["run", "cases", "--policy", "direct", "--setting", "react"], "--setting has no effect"),
        (["run", "cases", "--policy", "direct", "--instructions", "detailed"], "`direct` needs a model"),
        (["run", "cases", "--patcher-model", "m"], "--patcher-model has no effect"),
        (["run", "cases", "--format", "ed"], "'ed'"),
        (["run", "cases", "--sandbox", "jar"], "'jar'"),
        (["run", "cases", "--patch-judge", "nobody"], "unknown judge 'nobody'"),
        (["run", "cases", "--patch-judge", "recovery", "--model", "m"], "for items of kind recovery"),
        (["run", "cases", "--patch-judge", "patch_judge"], "names no model"),
        (["run", "cases", "--judge-model", "m"], "--judge-model without a judge"),
        (
            ["run", "cases", "--policy", "model", "--model", "m", "--patch-judge", "elsewhere.toml"],
            "names a server of its own",
        ),
        (["report", "cases", "--gold", "reviews"], "--gold is for a benchmark of patches"),
        (["review", "accept", "cases", "price"], "cases"),
    ],
)
@pytest.mark.usefixtures("sandbox")
def test_what_cannot_be_is_said_in_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    arguments = [*arguments, "--out", "out"] if arguments[0] != "review" else arguments
    price_case(tmp_path / "cases" / "price")
    (tmp_path / "plain").mkdir()
    MadeRepository(tmp_path / "empty")
    MadeRepository(tmp_path / "made").commit({"tests/test_price.py": TESTS})
    elsewhere = 'name = "elsewhere"\nkind = "patch"\nprompt = "judges/patch_judge"\n'
    (tmp_path / "elsewhere.toml").write_text(f'{elsewhere}[model]\nname = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    done = _misstep(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "attempts.jsonl").exists()

"""`misstep judge cache`: what one person was answered, another runs again without a server and without a key."""

import json
from pathlib import Path

import pytest

from misstep.harness.clients import ClientSettings
from misstep.harness.journal.records import read_verdicts
from misstep.harness.judges.judge_file import read_judge
from misstep.harness.judges.prompted_judge import PromptedJudge
from misstep.harness.runs.judging.judge import run_judge
from tests.misstep.as_a_user import misstep
from tests.misstep.made_up_judges import benchmark, judge_file

TEXTS = ["apple", "carrot", "apple pie", "leek"]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with the answers to four items."""
    script = "tests.misstep.made_up_judges:always_fruit"
    settings = ClientSettings(client="scripted", script=script, cache=tmp_path / "cache.sqlite")
    judge, folder = PromptedJudge(read_judge(judge_file(tmp_path))), benchmark(tmp_path / "plants", TEXTS)
    run_judge(judge, folder, tmp_path / "first", settings)
    return tmp_path / "cache.sqlite"


def test_a_colleague_runs_the_same_without_a_key(tmp_path: Path, cache: Path) -> None:
    lines = tmp_path / "answers.jsonl"
    process = misstep("judge", "cache", "export", lines, "--cache", cache)
    assert (process.returncode, process.stdout) == (0, f"4 answers in {lines}\n"), process.stderr
    assert all(json.loads(line)["reply"] for line in lines.read_text().splitlines())
    theirs = tmp_path / "theirs" / "cache.sqlite"
    for new in (4, 0):
        process = misstep("judge", "cache", "import", lines, "--cache", theirs)
        assert (process.returncode, process.stdout) == (0, f"{new} new answers, 4 in {theirs}\n"), process.stderr
    run = ["judge", "run", tmp_path / "judge.toml", "--benchmark", tmp_path / "plants", "--out", tmp_path / "second"]
    process = misstep(*run, "--cache", theirs, "--json", OPENAI_API_KEY="", OPENAI_BASE_URL="")
    assert process.returncode == 0, process.stderr
    verdicts = list(read_verdicts(tmp_path / "second"))
    assert len(verdicts) == 4
    assert all(verdict.cached and verdict.label == "fruit" for verdict in verdicts)


@pytest.mark.parametrize("line", ["{}", "no JSON", '"5d"'])
def test_a_file_that_is_none_of_a_cache_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "lines.jsonl").write_text(f"{line}\n")
    process = misstep("judge", "cache", "import", tmp_path / "lines.jsonl", "--cache", tmp_path / "empty.sqlite")
    assert process.returncode == 2
    assert "lines.jsonl:1: not a line of an exported cache" in process.stderr


def cache_line(cache: Path, folder: Path) -> str:
    misstep("judge", "cache", "export", folder / "one.jsonl", "--cache", cache)
    return (folder / "one.jsonl").read_text().splitlines()[0] + "\n"


def test_an_edited_line_is_named_and_nothing_is_added(tmp_path: Path, cache: Path) -> None:
    good = cache_line(cache, tmp_path)
    (tmp_path / "lines.jsonl").write_text(good + good.replace("small-1", "small-2", 1))
    process = misstep("judge", "cache", "import", tmp_path / "lines.jsonl", "--cache", tmp_path / "empty.sqlite")
    assert process.returncode == 2
    assert "lines.jsonl:2" in process.stderr
    process = misstep("judge", "cache", "export", tmp_path / "none.jsonl", "--cache", tmp_path / "empty.sqlite")
    assert process.stdout.startswith("0 answers")


def test_a_cache_that_is_not_there_is_said_and_not_made(tmp_path: Path) -> None:
    process = misstep("judge", "cache", "export", tmp_path / "x.jsonl", "--cache", tmp_path / "nowhere")
    assert (process.returncode, "the file does not exist" in process.stderr) == (2, True)
    assert not (tmp_path / "nowhere").exists()
    assert not (tmp_path / "x.jsonl").exists()

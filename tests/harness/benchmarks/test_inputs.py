"""What a judge is asked about is what it was asked about: a change of anything that an item names is seen and named."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from misstep.judge import app
from misstep.runs.report import app as report_app
from misstep_analysis.judging.judged_runs import open_run
from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import UsageError
from misstep_harness.exchange import Request
from misstep_harness.journal import inputs
from misstep_harness.journal.records import VERDICTS, read_verdicts
from misstep_harness.judges.judge_file import JudgeSpec, read_judge
from misstep_harness.judges.prompted_judge import PromptedJudge
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.runs.kind import RunEnd
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict

PROMPT = """---
name: does_it_loop
version: 1
placeholders: labels, trajectory
---
{labels}

<!-- item -->

{trajectory}
"""
JUDGE = 'name = "looks"\nkind = "misbehaviour"\nprompt = "prompt.md"\nexamples = "examples.jsonl"\n'
EXAMPLE = {"trajectory": "I look.", "label": "yes", "reasoning": "r"}

mood = {"stops_after": 10**9}


def answer(_: Request) -> str:
    """A model that is stopped after so many answers."""
    mood["stops_after"] -= 1
    if mood["stops_after"] < 0:
        raise KeyboardInterrupt
    return json.dumps({"reasoning": "r", "label": "yes"})


SCRIPTED = ClientSettings(client="scripted", script="tests.harness.benchmarks.test_inputs:answer")


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    return benchmark_of_runs(tmp_path / "gates", 8)


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    """The file of a judge with a prompt, an example and a model."""
    (tmp_path / "prompt.md").write_text(PROMPT)
    (tmp_path / "examples.jsonl").write_text(json.dumps(EXAMPLE) + "\n")
    file = tmp_path / "judge.toml"
    file.write_text(f'{JUDGE}[model]\nname = "small-1"\n')
    return file


def asked(judge: Path, gates: Path, out: Path) -> RunEnd:
    spec: JudgeSpec = read_judge(judge)
    return run_judge(PromptedJudge(spec), gates, out, SCRIPTED, concurrency=1)


@pytest.fixture
def stopped(judge: Path, gates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was stopped after three answers."""
    monkeypatch.setitem(mood, "stops_after", 3)
    with pytest.raises(KeyboardInterrupt):
        asked(judge, gates, tmp_path / "run")
    monkeypatch.setitem(mood, "stops_after", 10**9)
    return tmp_path / "run"


def edited(file: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return edit


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (edited("gates/runs/all.jsonl", "Mend gate 7.", "Mind gate 7."), "runs/all.jsonl changed"),
        (edited("gates/items.jsonl", '"north"', '"south"'), "items.jsonl changed"),
        (edited("gates/benchmark.toml", "positive", 'question = "Is it?"\npositive'), "the question, benchmark.toml"),
        (edited("gates/benchmark.toml", 'labels = ["yes", "no"]', 'labels = ["yes", "no", "so"]'), "the labels,"),
        (edited("prompt.md", "{labels}\n\n", "Labels: {labels}\n\n"), "the prompt changed"),
        (edited("examples.jsonl", "I look.", "I see."), "the judge's examples changed"),
        (edited("judge.toml", "[model]", "budget = 9000\n[model]"), "the judge's file changed"),
    ],
)
def test_what_changed_is_said_and_the_run_begins_anew_beside_the_earlier_one(
    stopped: Path,
    judge: Path,
    gates: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], None],
    clause: str,
) -> None:
    before = (stopped / VERDICTS).read_bytes()
    assert before.count(b"\n") == 3
    change(tmp_path)
    ended = asked(judge, gates, stopped)
    output = capsys.readouterr().err
    assert clause in output
    assert "only what is new is asked. The earlier run is in" in output
    assert (ended.done, ended.wanted) == (8, 8)
    assert (stopped / "earlier-1" / VERDICTS).read_bytes() == before


def test_one_more_item_asks_about_that_item_alone(judge, gates, tmp_path, capsys) -> None:
    asked(judge, gates, tmp_path / "run")
    late = json.loads((gates / "items.jsonl").read_text().splitlines()[0]) | {"id": "late", "task": "Mend them all."}
    with (gates / "items.jsonl").open("a") as items:
        items.write(json.dumps(late) + "\n")
    ended = asked(judge, gates, tmp_path / "run")
    assert ended.done == 9
    assert "items.jsonl changed: only what is new is asked" in capsys.readouterr().err
    fresh = [verdict.item for verdict in read_verdicts(tmp_path / "run") if not verdict.cached]
    assert len(fresh) <= 1


def test_a_finished_run_is_not_scored_against_other_runs_than_it_was_asked_about(gates: Path, tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", gates, [verdict(number) for number in range(8)])
    assert len(open_run(run).verdicts) == 8
    edited("runs/all.jsonl", "Mend gate 7.", "Mind gate 7.")(gates)
    with pytest.raises(UsageError, match=r"gates has changed since the run .*run: runs/all\.jsonl changed"):
        open_run(run)


def test_runs_over_unlike_trajectories_are_not_compared_and_a_report_says_so(gates: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(gates, tmp_path / "copy"))
    edited("runs/all.jsonl", "Mend gate 7.", "Mind gate 7.")(copy)
    runs = [judged_run(tmp_path / name, where, [verdict(0)]) for name, where in (("one", gates), ("two", copy))]
    for options in ([], ["--repeats"]):
        refused = CliRunner().invoke(app, ["compare", *map(str, runs), *options])
        assert isinstance(refused.exception, UsageError)
        assert "gates in another version (runs/all.jsonl changed)" in str(refused.exception)
    CliRunner().invoke(report_app, [*map(str, runs), "--out", str(tmp_path / "page.html")], catch_exceptions=False)
    page = (tmp_path / "page.html").read_text()
    assert "These runs are about different versions of gates and not compared: one; two." in page


@pytest.mark.parametrize("command", ["compare", "calibrate"])
def test_that_a_run_is_not_finished_is_said_by_whatever_reads_it(gates: Path, tmp_path: Path, command: str) -> None:
    runs = [judged_run(tmp_path / name, gates, [verdict(n) for n in range(8)]) for name in ("one", "two")]
    edited("run.toml", 'finished = "2026-01-01T10:00:00+00:00"\n', "")(runs[0])
    asked = runs[:1] if command == "calibrate" else runs
    options = ["--precision", "0.1"] if command == "calibrate" else []
    done = CliRunner().invoke(app, [command, *map(str, asked), *options])
    assert f"the run {runs[0]} is not finished: it has verdicts on 8 items so far, of the 8 of the ben" in done.stderr
    assert str(runs[1]) not in done.stderr


def test_a_file_that_many_items_name_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = benchmark_of_runs(tmp_path / "many", 200)
    read: list[Path] = []

    def counted(path: Path) -> list[bytes]:
        read.append(path)
        return [path.read_bytes()]

    inputs._remembered.cache_clear()
    monkeypatch.setattr(inputs, "_blocks", counted)
    inputs_of(folder)
    assert sorted(path.name for path in read) == ["all.jsonl", "benchmark.toml", "items.jsonl"]


def test_a_path_that_is_no_file_of_the_benchmark_is_not_read(gates: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text("{}")
    items = [
        {"id": str(n), "kind": "text", "trajectory": name}
        for n, name in enumerate(("../outside.json", "/dev/zero", "a\0b", "runs"))
    ]
    (gates / "items.jsonl").write_bytes(b"".join(msgspec.json.encode(item) + b"\n" for item in items))
    assert [part.split(" ", 2)[2] for part in inputs_of(gates).parts] == [
        "the labels", "the question", "benchmark.toml", "items.jsonl",
    ]  # fmt: skip

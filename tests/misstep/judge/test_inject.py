"""The command `misstep judge inject`: items made, asked about and compared; offline, and with a small real model."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from misstep.analysis.gold import BenchmarkItem, read_gold
from misstep.analysis.measures.judging.pairs.flips import Flips, flips
from misstep.harness.clients import ClientSettings
from misstep.harness.exchange import Request
from misstep.harness.items import read_items
from misstep.harness.journal.records import read_verdicts
from misstep.harness.judges import read_known
from misstep.harness.judges.judge_file import JudgeSpec, read_judge
from misstep.harness.judges.prompted_judge import PromptedJudge
from misstep.harness.runs.judging.judge import run_judge
from misstep.studies.judged_runs import open_run
from misstep.studies.recorded.injections import Source, benchmark_source, shipped_source, write_injections
from tests.misstep.as_a_user import misstep
from tests.misstep.made_up_judges import benchmark, judge_file

TEXTS = ["apple", "carrot", "apple pie", "leek"]
ORDER = re.compile(r"answer with the label (\w+)\.")


def reply(label: str) -> str:
    return json.dumps({"reasoning": "as I see it", "label": label, "score": 1.0, "steps": []})


def first_label(request: Request) -> str:
    return str(request.schema["properties"]["label"]["enum"][0])


def never_moved(request: Request) -> str:
    """Always the first label, whatever is shown."""
    return reply(first_label(request))


def obeying(request: Request) -> str:
    """The label that a plain order asks for, the first one without such an order."""
    order = ORDER.search(request.messages[-1].content)
    return reply(order[1] if order else first_label(request))


def judge(name: str = "infinite_loop") -> JudgeSpec:
    spec = read_known(name)
    return msgspec.structs.replace(spec, model=msgspec.structs.replace(spec.model, name="small-1"))


def injected_run(out: Path, script: str, source: Source | None = None, spec: JudgeSpec | None = None) -> Flips:
    spec = spec or judge()
    folder = write_injections(spec, out, source or shipped_source(spec))
    settings = ClientSettings(client="scripted", script=f"tests.misstep.judge.test_inject:{script}")
    assert not run_judge(PromptedJudge(spec), folder, out, settings).failed
    return flips(read_items(folder, BenchmarkItem), read_verdicts(out))


def with_orders(folder: Path) -> set[str]:
    """The attacked items in which the plain order stands so that anybody can read it."""
    legible = ("plain", "markdown", "terminal", "chat_tokens")
    marks = {item.id: item.extra["injection"] for item in read_items(folder, BenchmarkItem)}
    return {name for name, one in marks.items() if one.get("style") == "order" and one["encoding"] in legible}


def test_a_judge_that_is_never_moved_has_no_flip(tmp_path: Path) -> None:
    got = injected_run(tmp_path / "run", "never_moved")
    assert (got.n, got.plain, got.copies, got.flips, got.to_target, got.unanswered) == (58, 8, 16, 0, 0, 0)
    assert (got.flip_rate.value, got.chance.value) == (0.0, 0.0)


def test_a_judge_that_obeys_an_order_flips_on_the_items_that_have_it_and_on_no_other(tmp_path: Path) -> None:
    got = injected_run(tmp_path / "run", "obeying")
    ordered = with_orders(tmp_path / "run" / "benchmark")
    expected = {pair.item for pair in got.items if pair.item in ordered and pair.target != pair.plain}
    assert {pair.item for pair in got.items if pair.flipped} == expected
    assert (got.flips, got.to_target) == (len(expected), len(expected))
    assert got.flips > 0
    assert got.chance.value == 0.0


def test_what_is_made_is_a_benchmark_like_any_other(tmp_path: Path) -> None:
    injected_run(tmp_path / "run", "never_moved")
    run = open_run(tmp_path / "run")
    assert (len(run.verdicts), len(run.items), len(run.gold)) == (82, 82, 82)
    truth = {row.item: row.label for row in read_gold(run.benchmark)}
    assert all(truth[item.id] == truth[item.extra["injection"]["twin"]] for item in run.items)
    assert len(set(run.clusters.values())) == 8


def test_items_of_a_benchmark_of_ones_own_are_attacked_with_their_gold_labels(tmp_path: Path) -> None:
    folder = benchmark(tmp_path / "plants", TEXTS)
    spec = read_judge(judge_file(tmp_path))
    got = injected_run(tmp_path / "run", "obeying", benchmark_source(PromptedJudge(spec), folder, 3), spec)
    assert (got.n, got.plain, got.copies) == (58, 3, 6)
    assert set(got.by_position) == {"text_start", "text_end"}
    truth = {row.item: row.label for row in read_gold(tmp_path / "run" / "benchmark")}
    assert all(truth[pair.item] != pair.target for pair in got.items)
    assert got.to_target == got.flips > 0


def test_a_judge_with_labels_of_its_own_is_attacked_without_a_gold_label(tmp_path: Path) -> None:
    spec = read_judge(judge_file(tmp_path))
    got = injected_run(tmp_path / "run", "obeying", spec=spec)
    assert {pair.target for pair in got.items} == {"fruit", "vegetable"}
    assert list(read_gold(tmp_path / "run" / "benchmark")) == []
    assert got.flips > 0


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of an obeying model's replies to twelve attacked items."""
    spec = judge()
    folder = write_injections(spec, tmp_path / "recorded", shipped_source(spec, 4), count=12)
    file = tmp_path / "recording.jsonl"
    script = "tests.misstep.judge.test_inject:obeying"
    settings = ClientSettings(client="scripted", script=script, record=file)
    run_judge(PromptedJudge(spec), folder, tmp_path / "recorded", settings)
    return file


def test_the_command_runs_from_a_recording_goes_on_where_it_was_and_prints_one_document(tmp_path, recording) -> None:
    command = ["judge", "inject", "infinite_loop", "--out", tmp_path / "run", "--model", "small-1", "--items", "4"]
    command += ["--attacks", "12", "--replay", recording]
    done = misstep(*command, "--json", OPENAI_API_KEY="")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["n"], document["plain"], document["copies"]) == (12, 4, 8)
    assert json.loads((tmp_path / "run" / "flips.json").read_text()) == document
    assert json.loads((tmp_path / "run" / "scores.json").read_text())["n"] == 24
    page = (tmp_path / "run" / "flips.html").read_text()
    assert "infinite_loop with small-1 gives another verdict on" in page
    assert "<script src" not in page
    assert f"misstep judge inject infinite_loop --out {tmp_path / 'run'} --model small-1" in page
    again = misstep(*command, OPENAI_API_KEY="")
    assert again.returncode == 0, again.stderr
    assert "infinite_loop with small-1 gives another verdict on" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_judge"], "unknown judge 'no_such_judge'"),
        (["infinite_loop"], "names no model"),
        (["infinite_loop", "--model", "m", "--benchmark", "./nowhere/"], "benchmark.toml"),
        (["infinite_loop", "--local", "--model", "x"], "--local has its own model"),
        pytest.param(["trail/gpt-4o", "--model", "m"], "unknown recorded judge", marks=pytest.mark.data),
        (["infinite_loop@rule"], "has no prompt"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(tmp_path, arguments, message, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = misstep("judge", "inject", *arguments, "--out", "run", PYTHONPATH=str(Path(__file__).parents[3]))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr

"""A user's own benchmark folder, written by hand or by a spreadsheet: what works, and the errors for what does not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep_analysis.judging.judged_runs import open_run
from misstep_harness.benchmarks.folders import benchmark_named
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import InputError, UsageError
from misstep_harness.exchange import Request
from misstep_harness.journal.records import read_verdicts
from misstep_harness.judges import read_known
from misstep_harness.judges.fit import GENERAL
from misstep_harness.judges.prompted_judge import PromptedJudge
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.verdict import Verdict

SCRIPTED = ClientSettings(client="scripted", script="tests.misstep.test_own_benchmarks:quoting")
TOML = 'name = "mine"\nkind = "misbehaviour"\nlabels = ["yes", "no"]\nquestion = "Is it so?"\nshown = ["topic"]\n'
GOLD = "item,rater,label\ni1,me,yes\n"

OWN = {"task": "mend", "steps": [{"role": "agent", "text": "I look."}]}
ATIF = {
    "schema_version": "ATIF-v1.4",
    "session_id": "s",
    "agent": {"name": "mender", "version": "1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "mend"},
        {"step_id": 2, "source": "agent", "message": "I look."},
    ],
}
CHAT = {"messages": [{"role": "user", "content": "mend"}, {"role": "assistant", "content": "I look."}]}


def quoting(request: Request) -> str:
    """A model that gives back what it was shown as its reasoning."""
    return json.dumps({"reasoning": request.messages[-1].content, "label": "yes", "score": 1.0, "steps": []})


def written(folder: Path, items: list[dict[str, Any]], toml: str = TOML, gold: str = GOLD) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "benchmark.toml").write_bytes(toml.encode())
    lines = (json.dumps({"kind": "misbehaviour"} | item) for item in items)
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "gold.csv").write_bytes(gold.encode())
    return folder


def verdicts(folder: Path, judge: str = GENERAL) -> list[Verdict]:
    """What the judge says of a folder's items."""
    spec = read_known(judge)
    spec = msgspec.structs.replace(spec, model=msgspec.structs.replace(spec.model, name="small-1"))
    out = folder.parent / "run"
    run_judge(PromptedJudge(spec), folder, out, SCRIPTED)
    return list(read_verdicts(out, unfinished=True))


@pytest.mark.parametrize("run", [OWN, ATIF, CHAT], ids=["own", "atif", "chat"])
def test_a_run_may_stand_in_the_item_in_any_known_format(tmp_path: Path, run: dict[str, Any]) -> None:
    (verdict,) = verdicts(written(tmp_path / "b", [{"id": "i1", "trajectory": run}]))
    assert verdict.status == "answered", verdict.error
    assert "I look." in verdict.rationale


def test_what_a_spreadsheet_or_an_editor_adds_does_no_harm(tmp_path: Path) -> None:
    folder = written(tmp_path / "b", [])
    mark = b"\xef\xbb\xbf"
    (folder / "benchmark.toml").write_bytes(mark + TOML.replace("\n", "\r\n").encode())
    item = b'{"id": "i1", "kind": "misbehaviour", "text": "a text"}'
    (folder / "items.jsonl").write_bytes(mark + b"\r\n" + item + b"\r\n\r\n")
    (folder / "gold.csv").write_bytes(mark + b"item,rater,label\r\n\r\ni1,me,no\r\n")
    assert [verdict.status for verdict in verdicts(folder)] == ["answered"]
    run = open_run(tmp_path / "run")
    assert [(label.item, label.label) for label in run.gold] == [("i1", "no")]
    assert [item.id for item in run.items] == ["i1"]


def test_the_question_and_what_is_to_be_shown_come_from_the_benchmark_file(tmp_path: Path) -> None:
    extra = {"topic": "gates", "verdict": "bad"}
    (verdict,) = verdicts(written(tmp_path / "b", [{"id": "i1", "text": "a text", "extra": extra}]))
    assert "The question again: Is it so?" in verdict.rationale
    assert "gates" in verdict.rationale
    assert "bad" not in verdict.rationale


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"trajectory": {"foo": 1}}, "item 'i1': trajectory: not a run of a known format"),
        ({"trajectory": {"steps": [{"role": "ghost"}]}}, "Invalid enum value 'ghost'"),
        ({"trajectory": "two.jsonl"}, "item 'i1' is about the run 'i1', which is not among the 2 runs of the file"),
    ],
)
def test_an_item_whose_run_cannot_be_had_fails_with_the_reason(tmp_path: Path, item: dict[str, Any], text: str) -> None:
    folder = written(tmp_path / "b", [{"id": "i1"} | item])
    (folder / "two.jsonl").write_text("".join(json.dumps(CHAT) + "\n" for _ in range(2)))
    (verdict,) = verdicts(folder)
    assert (verdict.status, verdict.label) == ("failed", None)
    assert text in str(verdict.error)


def replaced(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / file
        path.write_text(path.read_text().replace(old, new))

    return change


def second_has(trajectory: str) -> Callable[[Path], None]:
    return replaced("items.jsonl", '"text": "another"', f'"trajectory": "{trajectory}"')


def removed(file: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).unlink()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (removed("items.jsonl"), r"items\.jsonl: cannot open"),
        (removed("benchmark.toml"), r"benchmark\.toml: cannot open"),
        (replaced("items.jsonl", '"i2"', '"i1"'), r"items\.jsonl:2: two items have the id 'i1'"),
        (replaced("items.jsonl", "misbehaviour", "loops"), r"items\.jsonl:1: kind: 'loops' is not valid"),
        (replaced("items.jsonl", '"id": "i1", ', ""), r"items\.jsonl:1: the key id is missing"),
        (replaced("items.jsonl", '"a text"', '"a", "labels": ["oh"]'), r"items\.jsonl:1: labels: item 'i1'"),
        (second_has("../x.json"), r"items\.jsonl:2: trajectory: the path"),
        (second_has("/etc/passwd"), r"items\.jsonl:2: trajectory: the path"),
        (second_has("r/1.json"), r":2: trajectory: the benchmark has no file 'r/1\.json'"),
        (replaced("benchmark.toml", "misbehaviour", "loops"), r"benchmark\.toml:2: kind: 'loops' is not valid"),
        (replaced("benchmark.toml", '"yes", "no"', '"no", "no"'), r"benchmark\.toml: labels: a label is empty or"),
        (
            replaced("benchmark.toml", 'labels = ["yes", "no"]', ""),
            r"items\.jsonl:1: labels: neither the benchmark nor",
        ),
        (replaced("benchmark.toml", "name =", "name"), r"benchmark\.toml:1: not valid TOML: "),
    ],
)
def test_a_folder_that_breaks_the_form_is_refused_before_anything_is_asked(tmp_path, change, message) -> None:
    folder = written(tmp_path / "b", [{"id": "i1", "text": "a text"}, {"id": "i2", "text": "another"}])
    change(folder)
    with pytest.raises(InputError, match=message) as raised:
        verdicts(folder)
    assert "\n" not in raised.value.line()
    assert not (tmp_path / "run").exists()


def test_a_folder_is_known_by_any_of_its_files_and_a_name_that_is_none_says_what_there_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trail").mkdir()
    (tmp_path / "trail" / "gold.csv").write_text(GOLD)
    (tmp_path / "empty").mkdir()
    assert benchmark_named("trail", None) == Path("trail")
    assert benchmark_named("empty", None) == Path("empty")
    with pytest.raises(
        UsageError, match=r"unknown benchmark 'nowhere'\. Give a folder with benchmark\.toml.*whoandwhen"
    ):
        benchmark_named("nowhere", None)


@pytest.mark.data
def test_recordings_of_every_format_can_be_items(tmp_path: Path, data_folder: Path) -> None:
    source = data_folder / "transcript_formats"
    files = [path for path in sorted(source.rglob("*")) if path.suffix in (".json", ".jsonl", ".traj", ".md")]
    files = [path for path in files if path.parent != source]
    folder = written(
        tmp_path / "b",
        [{"id": f"{n} {path.name}", "trajectory": f"runs/{n}{path.suffix}"} for n, path in enumerate(files)],
    )
    (folder / "runs").mkdir()
    for n, path in enumerate(files):
        (folder / "runs" / f"{n}{path.suffix}").write_bytes(path.read_bytes())
    given = verdicts(folder)
    assert {path.parent.name for path in files} >= {"claude_code", "codex_cli", "gemini_cli", "aider", "atif"}
    assert len(given) == len(files)
    for verdict in given:
        several = "Name one of them as trajectory_id" in str(verdict.error)
        assert verdict.status == "answered" or several, verdict.error

"""`misstep classify` on the command line: what it prints, how it ends, what it leaves."""

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from misstep.classify import app
from misstep.convert import convert_all
from misstep_harness.classifiers import CLASSIFIERS
from tests.misstep.as_a_user import misstep
from tests.misstep.made_up import atif, atif_lines
from tests.waiting import wait_until

_misstep = partial(misstep, "classify")


def _json(*arguments: str | Path) -> dict[str, Any]:
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code in (0, 1)
    return json.loads(done.stdout)


def _looping(name: str) -> bytes:
    """A trajectory whose agent lists the same folder six times."""
    document = json.loads(atif(name, steps=7))
    for step in document["steps"][1:]:
        step["message"] = "Once more."
        step["tool_calls"][0]["arguments"]["command"] = "ls -la fence"
    return json.dumps(document).encode() + b"\n"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Five trajectories of which the second shows a loop, and a broken line between them."""
    file = tmp_path / "runs.jsonl"
    lines = [atif("one"), _looping("two"), b'{"schema_version": "ATIF\n', atif("three"), atif("four"), atif("one")]
    file.write_bytes(b"".join(lines))
    return file


def test_the_table_says_how_many_show_what_with_an_interval_and_evidence(runs: Path) -> None:
    done = _misstep("runs.jsonl", cwd=runs.parent)
    assert done.returncode == 1
    table = done.stdout.splitlines()
    assert table[:2] == [
        "5 sessions, 1 went wrong: too few for a rate. Only loops were found.",
        "All were checked for loops and failing calls, none for unrequested changes and broken instructions (add "
        "--model M to check the rest).",
    ]
    assert table[3].split() == ["category", "count", "checked", "share", "95%", "interval", "only", "this"]
    (loops,) = [line for line in table if line.startswith("infinite_loop")]
    assert loops.split() == ["infinite_loop", "1", "5", "20.0%", "3.6%", "–", "62.4%", "1"]
    (example,) = [line for line in table if line.startswith("  infinite_loop")]
    assert "two (runs.jsonl:2): " in example
    assert "steps 1, 2, 3" in example
    assert "1 session was unreadable and not counted." in table


def test_what_was_unreadable_or_renamed_is_said_on_stderr(runs: Path) -> None:
    done = _misstep("runs.jsonl", cwd=runs.parent)
    first, second = done.stderr.splitlines()
    assert first.startswith("misstep: runs.jsonl:3: no JSON")
    assert second == "misstep: 1 session had an id that was taken: it has ~2 (or the next free number) behind it."


def test_many_unreadable_trajectories_are_counted_after_the_first_ten(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_bytes(atif("one") + b"{broken\n" * 25)
    done = _misstep(file)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "misstep: and 15 more unreadable sessions; --json lists them all."


def test_the_document_has_the_shapes_that_scripts_rely_on(runs: Path) -> None:
    document = _json(runs)
    assert document["n"] == 5
    ((broken),) = document["unreadable"]
    assert (broken["file"], broken["line"]) == (str(runs), 3)
    assert broken.keys() == {"file", "line", "error"}
    assert list(document["categories"]) == list(CLASSIFIERS)
    for one in document["categories"].values():
        assert one.keys() == {"count", "checked", "share", "interval", "exclusive", "abstained"}
        assert one["interval"].keys() == {"value", "low", "high", "n", "method", "reason"}
    assert document["any"].keys() == {"count", "share", "interval"}
    loops = document["categories"]["infinite_loop"]
    assert (loops["count"], loops["share"], loops["exclusive"]) == (1, 0.2, 1)
    assert (document["any"]["count"], document["any"]["share"]) == (1, 0.2)
    assert (document["renamed"], document["skipped"]) == (1, [])
    (example,) = document["findings"]
    assert (example["item"], example["line"], example["category"]) == ("two", 2, "infinite_loop")


def test_the_verdicts_have_a_line_a_trajectory_and_category(runs: Path) -> None:
    _json(runs, "--out", runs.parent / "run", "--categories", "tool_call_failure,infinite_loop")
    lines = [json.loads(line) for line in (runs.parent / "run" / "verdicts.jsonl").read_text().splitlines()]
    asked = ("infinite_loop", "tool_call_failure")
    items = ("one", "two", "three", "four", "one~2")
    assert [(line["item"], line["judge"]) for line in lines] == [(item, judge) for item in items for judge in asked]
    assert {line["label"] for line in lines} == {"yes", "no"}


def test_a_run_holds_what_was_asked_the_verdicts_the_scores_and_a_page(runs: Path) -> None:
    document = _json(runs, "--out", runs.parent / "run")
    run = runs.parent / "run"
    assert {file.name for file in run.iterdir()} == {
        *("run.toml", "verdicts.jsonl", "sessions.jsonl", "files.jsonl", "scores.json", "report.html")
    }
    assert json.loads((run / "scores.json").read_text()) == document
    assert "infinite_loop" in (run / "report.html").read_text()
    again = _json(runs, "--out", run)
    assert (again["new"].pop("since") != "", again["new"]) == (True, {"sessions": 0, "wrong": 0, "items": []})
    assert again | {"new": None} == document


def test_control_codes_from_a_trajectory_do_not_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_bytes(_looping("\u001b[2Jtwo") + atif("one"))
    done = _misstep("runs.jsonl", cwd=tmp_path)
    assert "two (runs.jsonl:1)" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("notes.txt",), "notes.txt: no known trajectory format"),
        (("nowhere.jsonl",), "nowhere.jsonl: "),
        (("empty",), "empty: no trajectory in it"),
        (("runs.jsonl", "--categories", "boredom"), "unknown category boredom. Known: infinite_loop"),
        (("runs.jsonl", "--out", "notes.txt"), "notes.txt: the folder cannot be made"),
        (("runs.jsonl", "--workers", "0"), "greater than or equal to 1"),
        ((), "PATH"),
    ],
)
def test_what_cannot_be_ends_with_2_and_says_so(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "notes.txt").write_text("Mend the fence.\n")
    (tmp_path / "empty").mkdir()
    atif_lines(tmp_path / "runs.jsonl", "ab")
    done = _misstep(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_stopping_keeps_what_is_finished_and_says_how_to_go_on(tmp_path: Path) -> None:
    file = atif_lines(tmp_path / "runs.jsonl", map(str, range(600)), text="A plank was carried to the gate. " * 900)
    command = [sys.executable, "-m", "misstep", "classify", str(file), "--out", "run", "--workers", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    journal = tmp_path / "run" / "progress.jsonl"
    wait_until(lambda: journal.exists() and journal.stat().st_size > 0, process)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == "misstep: stopped; what was finished is kept in run, and the same line goes on from there.\n"
    assert _misstep(file, "--out", "run", cwd=tmp_path).returncode == 0


@pytest.mark.data
def test_recorded_runs_of_several_formats_are_judged_in_one_go(data_folder: Path) -> None:
    document = _json(data_folder / "transcript_formats", data_folder / "agent_trajs")
    assert document["n"] > 50
    assert document["unreadable"] == []
    assert 0 < document["any"]["share"] < 1


def _places(document: dict[str, Any]) -> set[tuple[str, int | None]]:
    return {(example["file"], example["line"]) for example in document["findings"]}


def test_a_converted_run_stands_where_it_was_read_and_not_where_it_came_from(tmp_path: Path, runs: Path) -> None:
    convert_all([runs], tmp_path / "atif")
    assert _places(_json(tmp_path / "atif")) == {(str(tmp_path / "atif" / "two.json"), None)}


def test_sessions_that_were_last_changed_before_a_time_are_left_out(runs: Path) -> None:
    old = atif_lines(runs.parent / "old.jsonl", ["old"])
    os.utime(old, (1_600_000_000,) * 2)
    assert _json(runs.parent)["n"] == 6
    assert _json(runs.parent, "--since", "2d")["n"] == _json(runs.parent, "--since", "2021-01-01")["n"] == 5
    refused = CliRunner().invoke(app, [str(runs), "--since", "yesterday"])
    assert refused.exit_code == 2
    assert "not a date such as 2026-01-31" in refused.output


def test_a_limit_that_is_missed_is_exit_1_after_the_table(runs: Path) -> None:
    atif_lines(runs, ["one", "two"])
    kept = CliRunner().invoke(app, [str(runs), "--fail-on", "any>0%"])
    assert (kept.exit_code, "passed: any is 0.0%" in kept.output) == (0, True)
    missed = CliRunner().invoke(app, [str(runs), "--fail-on", "any.upper>1%", "--json"])
    assert missed.exit_code == 1
    assert json.loads(missed.stdout)["n"] == 2


def test_a_limit_is_read_before_any_work(runs: Path) -> None:
    for options in (["--fail-on", "any"], ["--junit", "junit.xml"]):
        done = _misstep("runs.jsonl", *options, "--out", "run", cwd=runs.parent)
        assert done.returncode == 2
        assert not (runs.parent / "run").exists()


def test_costs_are_in_the_text_the_document_the_page_and_at_the_price_that_is_given(runs: Path) -> None:
    document = json.loads(_looping("dear"))
    for step in document["steps"][1:]:
        step["metrics"] = {"prompt_tokens": 1000, "completion_tokens": 100}
    document["agent"]["model_name"] = "small"
    file, out = runs.with_name("dear.jsonl"), runs.with_name("run")
    file.write_text(json.dumps(document) + "\n")
    assert "time and money not recorded" in _misstep(file).stdout
    assert _json(file)["costs"] == _json(file, "--out", out)["costs"]
    costs = _json(file, "--out", out, "--price-in", "1", "--price-out", "10")["costs"]
    tokens = costs["any"]["input_tokens"]
    assert (costs["any"]["usd"], costs["any"]["usd_known"]) == (pytest.approx(tokens * 2 / 1e6), 1)
    assert costs["categories"]["infinite_loop"] == costs["any"]
    assert "What it cost" in (out / "report.html").read_text()
    assert _json(file, "--out", out)["costs"] == costs

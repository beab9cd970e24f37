"""`misstep triage` as a user runs it: whose fault runs are, with evidence, on cases and on jobs of public harnesses."""

import csv
import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from misstep.triage.run import app
from misstep.view import app as view_app
from misstep_analysis.judging.report import NO_JUDGE
from misstep_harness.errors import InputError, SandboxMissing, UsageError
from misstep_harness.journal.records import read_manifest
from misstep_harness.triage.records import read_triage_verdicts
from misstep_harness.triage.runs.judges import RULES
from tests.harness.clients.faulty_server import answer, completion
from tests.harness.triage.made_up_cases import triage_case
from tests.harness.triage.runs.jobs import made_up_jobs
from tests.local_model import stubbed_local_model


@pytest.fixture(autouse=True)
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up rule in the place of those that judge."""
    for access, name in (("text", "TEXT"), ("read-only", "READ_ONLY"), ("sandbox", "SANDBOX")):
        monkeypatch.setitem(RULES, f"triage@rules-{access}", f"tests.misstep.made_up_rule:{name}")


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Four cases: the disk, the agent twice, and one without logs."""
    logs = ("No space left: disk full", "2 != 3", "\x1b[31m3 != 4", "")
    for number, log in enumerate(logs):
        files = {"case.toml": f'id = "case-{number}"\noutcome = "failed"\n'}
        files |= {"logs/tests.log": log} if log else {}
        triage_case(tmp_path / "cases" / f"case-{number}", files)
    return tmp_path / "cases"


def run(*arguments: str | Path, exit_code: int = 0) -> Any:
    done = CliRunner().invoke(app, [*map(str, arguments), "--workers", "1"], catch_exceptions=False)
    assert done.exit_code == exit_code, done.output
    return done


def test_the_answer_comes_first_then_each_run_with_what_to_do_and_why_then_the_next_command(cases):
    lines = run(cases).stdout.splitlines()
    assert lines[0] == "4 runs: 2 the agent's fault, 1 infrastructure, 1 undecided."
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "",
        "run whose fault what to do why",
        "case-0 infrastructure, sandbox crash (75.0%) run again logs/tests.log:1: No space left: disk full",
        "case-1 agent, logical failure (75.0%) keep logs/tests.log:1: 2 != 3",
        "case-2 agent, logical failure (75.0%) keep logs/tests.log:1: 3 != 4",
        "case-3 abstained look at it there are no logs",
        "",
        f"Label them: misstep annotate {cases} --study labels",
    ]


def test_people_are_offered_the_kept_run_and_of_many_runs_a_sample(tmp_path: Path) -> None:
    for number in range(51):
        triage_case(tmp_path / f"cases/c{number}", {"case.toml": f'id = "c{number}"\noutcome = "failed"\n'})
    last = run(tmp_path / "cases", "--out", tmp_path / "run").stdout.splitlines()[-1]
    assert last == f"Label them: misstep annotate {tmp_path / 'run'} --sample 50 --study labels"
    assert "Label them" not in run(tmp_path / "cases/c1", tmp_path / "cases/c2").stdout


def test_terminal_page_and_document_say_the_same(cases: Path, tmp_path: Path) -> None:
    sentence = run(cases, "--out", tmp_path / "run").stdout.splitlines()[0]
    document = json.loads(run(cases, "--json").stdout)
    assert document["finding"] == sentence
    assert sentence in unescape((tmp_path / "run/report.html").read_text())


def test_two_processes_find_what_one_finds(cases: Path, tmp_path: Path) -> None:
    run(cases, "--access", "sandbox", "--out", tmp_path / "one")
    line = [str(cases), "--access", "sandbox", "--out", str(tmp_path / "two"), "--workers", "2"]
    assert CliRunner().invoke(app, line, catch_exceptions=False).exit_code == 0
    one, two = (
        {each.item: replace(each, seconds=None) for each in read_triage_verdicts(tmp_path / name)}
        for name in ("one", "two")
    )
    assert one == two


def test_a_judge_that_asks_a_model_is_not_spread_over_a_cluster(cases: Path) -> None:
    with pytest.raises(UsageError, match="--dask has no effect: a server bounds a judge"):
        CliRunner().invoke(app, [str(cases), "--model", "m", "--dask", "tcp://host:1"], catch_exceptions=False)


def test_what_comes_from_a_case_cannot_steer_the_terminal(cases):
    assert "\x1b" not in run(cases).stdout


def test_the_document_has_the_verdicts_with_their_evidence(cases):
    document = json.loads(run(cases, "--json").stdout)
    first = document["verdicts"][0]
    assert (first["item"], first["label"], first["subcategory"]) == ("case-0", "infrastructure", "sandbox_crash")
    assert first["evidence"] == [{"kind": "log", "where": "logs/tests.log:1", "text": "No space left: disk full"}]
    assert (document["n"], document["answered"], document["scores"]) == (4, 3, None)
    assert document["causes"]["agent"]["value"] == pytest.approx(2 / 3)


def test_a_run_is_kept_and_is_a_run_of_a_judge(cases, tmp_path):
    out = tmp_path / "run"
    run(cases, "--out", out)
    manifest = read_manifest(out)
    wanted = ("judge run", "triage@rules-text", True)
    assert (manifest.command, manifest.settings["judge"], bool(manifest.finished)) == wanted
    assert [verdict.access for verdict in read_triage_verdicts(out)] == ["text"] * 4
    assert (out / "report.html").is_file()


def test_gold_labels_are_scored_against(cases, tmp_path):
    with (cases / "gold.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(
            [("item", "rater", "label"), ("case-0", "ann", "infrastructure"), ("case-1", "ann", "task")]
        )
    assert "agrees with the gold labels on" in run(cases, "--out", tmp_path / "run").stdout
    document = json.loads(run(cases, "--json").stdout)
    assert document["scores"]["accuracy"]["value"] == 0.5


@pytest.mark.parametrize("name", ["harbor", "terminal_bench", "swe_bench", "nemo_gym"])
def test_a_job_of_a_public_harness_is_read_as_it_is(tmp_path, name):
    job = getattr(made_up_jobs, name)(tmp_path / "job")
    lines = run(job, "--access", "sandbox").stdout.splitlines()
    assert "the agent's fault." in lines[0]
    assert "nothing can be run" in lines[1]
    access = "read-only" if name == "harbor" else "text"
    document = json.loads(run(job, "--access", "sandbox", "--json").stdout)
    assert {each["access"] for each in document["verdicts"]} == {access}


def test_contradicting_options_are_refused(cases, tmp_path):
    with pytest.raises(UsageError, match="asks no model"):
        run(cases, "--judge", "rules", "--model", "m")
    with pytest.raises(UsageError, match="names no model"):
        run(cases, "--judge", "model")
    with pytest.raises(InputError, match="no such file or folder"):
        run(tmp_path / "nowhere")


def test_without_a_sandbox_the_command_says_what_brings_it(cases, monkeypatch):
    def missing(name: str) -> None:
        raise SandboxMissing(f"no {name}", "Install it.")

    monkeypatch.setattr("misstep_harness.workspace.find_sandbox", missing)
    with pytest.raises(SandboxMissing):
        run(cases, "--access", "sandbox")
    run(cases, "--access", "read-only")


def test_the_small_local_model_investigates_and_is_marked_as_no_judge(cases, tmp_path, monkeypatch):
    out = tmp_path / "run"
    options = ("--local", "--access", "read-only", "--iterations", "1", "--out", out)
    with stubbed_local_model(monkeypatch, answer(completion("I will look at the file."))):
        assert NO_JUDGE in run(cases / "case-1", *options).stdout
    assert NO_JUDGE in (out / "report.html").read_text()
    (verdict,) = read_triage_verdicts(out)
    assert (verdict.label, verdict.status) == (None, "unreadable")
    (investigation,) = (out / "investigations").iterdir()
    page = tmp_path / "investigation.html"
    done = CliRunner().invoke(view_app, [str(investigation), "--out", str(page)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "triage@read-only" in page.read_text()


def test_a_model_is_shown_as_much_of_a_case_as_its_window_allows(tmp_path, monkeypatch):
    long = triage_case(
        tmp_path / "case", {"case.toml": 'id = "long"\noutcome = "failed"\n', "logs/tests.log": "2 != 3\n" * 2_000}
    )
    with stubbed_local_model(monkeypatch, answer(completion("no verdict"))) as server:
        run(long.folder, "--local", "--case-tokens", "300")
        run(long.folder, "--local", "--case-tokens", "900")
    shorter, longer = (len(one["messages"][1]["content"]) for one in server.received)
    assert longer - shorter > 4 * 500


def test_a_limit_of_what_a_model_sees_is_refused_without_one(cases):
    with pytest.raises(UsageError, match="--case-tokens has no effect"):
        run(cases, "--case-tokens", "300")

"""`misstep repair report`, and `misstep report` and `misstep.open` of a run of repairs."""

import json
from pathlib import Path

import pytest
import typer
from msgspec.structs import replace
from typer.testing import CliRunner

import misstep
from misstep.repair.report import report
from misstep_analysis.repair.recorded_runs import open_repair_run, record_run, recorded_reviews, recordings
from misstep_harness.errors import InputError, UsageError
from misstep_harness.journal.records import read_manifest, write_manifest
from tests.analysis.pages.html_rules import check_page
from tests.misstep.made_up_runs import four, repaired, repaired_run
from tests.misstep.runs.test_report import data

repair_app = typer.Typer()
repair_app.command()(report)


def command(*arguments: object, of: typer.Typer = repair_app):
    return CliRunner().invoke(of, [str(argument) for argument in arguments])


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """Two runs on four cases: with tests two are solved, without them none, and one attempt broke."""
    alone = {"setting": "react"}
    broke = repaired("quince", None, error="TimeoutError: /home/ann/cases/quince took too long", ended="", **alone)
    return [
        repaired_run(tmp_path / "with", four()),
        repaired_run(tmp_path / "without", [*four("", **alone)[:3], broke], setting="react"),
    ]


def test_a_run_of_fewer_than_five_cases_is_a_sentence_a_case_without_tables(two: list[Path], tmp_path: Path) -> None:
    lines = command(two[0]).stdout.splitlines()
    assert lines[:3] == ["search, react+tests solves 2 of 4 cases.", "Fixed: apple.", "Fixed: pear."]
    assert lines[3].startswith("Not fixed: plum. ")
    assert len(lines) == 5
    five = repaired_run(tmp_path / "five", [*four(), repaired("fig")])
    assert "Patch generated (PGR)" in command(five).stdout


def test_one_run_has_its_solve_rate_in_its_document(two: list[Path]) -> None:
    result = json.loads(command(two[0], "--json").stdout)
    assert (result["n"], result["solve_rate"]["value"], result["setting"]) == (4, 0.5, "react+tests")
    assert [case["id"] for case in result["cases"]] == ["apple", "pear", "plum", "quince"]
    assert result["test_runs"] == 4


def test_several_runs_are_side_by_side_and_are_compared(two: list[Path]) -> None:
    output = " ".join(command(*two).stdout.split())
    assert "react+tests solves 50.0 points more than react on the same 4 cases, which may be chance" in output
    result = json.loads(command(*two, "--json").stdout)
    assert [run["run"] for run in result["runs"]] == ["with", "without"]
    (pair,) = result["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["more_a"]) == ("react+tests", "react", 4, 2)


def test_an_unfinished_run_is_said_to_be_one(tmp_path: Path) -> None:
    result = command(repaired_run(tmp_path / "run", four(), finished=False))
    assert "is not finished: it has 4 attempts so far" in result.stderr


def test_a_run_named_twice_or_of_another_command_is_refused(two: list[Path]) -> None:
    assert isinstance(command(two[0], two[0]).exception, UsageError)
    assert isinstance(command(two[0].parent).exception, InputError)


def test_a_review_log_becomes_a_funnel(two: list[Path], tmp_path: Path) -> None:
    log = tmp_path / "reviews.csv"
    ids = [attempt.id for attempt in open_repair_run(two[0]).attempts]
    log.write_text(f"attempt,event,when,by,comment\n{ids[0]},published,,,\n{ids[0]},landed,,,\n{ids[1]},published,,,\n")
    result = json.loads(command(two[0], "--reviews", log, "--json").stdout)
    assert result["reviews"]["counts"]["generated"] == 4
    assert result["reviews"]["counts"]["landed"] == 1
    log.write_text("attempt,event,when,by,comment\nnowhere,published,,,\n")
    assert "unknown attempt 'nowhere'" in str(command(two[0], "--reviews", log).exception)


def test_the_log_in_a_runs_folder_is_shown_and_recorded_without_names_and_comments(two, tmp_path) -> None:
    name = open_repair_run(two[0]).attempts[0].id
    log = f"attempt,event,when,by,comment\n{name},published,2026-03-01,kim,\n{name},rejected,2026-03-02,kim,Not so.\n"
    (two[0] / "reviews.csv").write_text(log)
    result = json.loads(command(two[0], "--json").stdout)["reviews"]["counts"]
    assert (result["generated"], result["published"], result["rejected"]) == (4, 1, 1)
    record_run(open_repair_run(two[0]), tmp_path / "recordings" / "with")
    assert "kim" not in (tmp_path / "recordings" / "with" / "reviews.csv").read_text()
    funnel = recorded_reviews(tmp_path / "recordings")
    assert {event: funnel.count(event) for event in result} == result
    assert recorded_reviews(tmp_path / "none") is None


def test_a_recording_names_nothing_of_its_machine(two: list[Path], tmp_path: Path) -> None:
    manifest = read_manifest(two[0])
    assert manifest is not None
    write_manifest(two[0], replace(manifest, shown=[str(tmp_path / "toolchain")]))
    record_run(open_repair_run(two[0]), tmp_path / "recorded")
    assert str(tmp_path) not in (tmp_path / "recorded" / "run.toml").read_text()


def test_a_page_shows_every_attempt_and_what_it_says_is_text(two: list[Path], tmp_path: Path) -> None:
    result = command(*two, "--out", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "page.html").read_text()
    shown = check_page(page)
    assert "pear #0" in shown.text
    assert "<script>window.ran" not in page
    assert "<img" not in page
    index = data(page, "attempts-index")
    assert index["id"] == [f"{case} #0" for case in ("apple", "pear", "plum", "quince")] * 2
    assert [index["outcomes"][one] for one in index["outcome"]] == ["solved"] * 2 + ["unsolved"] * 5 + ["not scored"]
    assert index["signals"][2] == ["oracle: failed", "static_analysis: could not tell"]
    opened = data(page, f"attempts-{index['piece'][1]}")
    assert "seeds = 1" in opened["patch"]["start"]
    assert opened["run"]["n_steps"] == 2
    assert opened["run"]["steps"][1]["results"][0]["text"]["start"] == "1 failed in pear"


def test_a_page_stays_within_its_bound_and_says_what_it_left_out() -> None:
    from misstep_analysis.repair.report import attempt_browser

    browser = attempt_browser({"run": [repaired(f"case {n}", n % 2 == 0) for n in range(20)]}, 20, room=6_000)
    assert sum(map(len, browser.data.values())) < 6_000 + 6_000
    assert any("did not fit into the page" in note for note in browser.notes)


def test_a_run_opens_as_frames_of_attempts_and_signals(two: list[Path]) -> None:
    run = misstep.open(two[1])
    assert list(run.attempts.case) == ["apple", "pear", "plum", "quince"]
    assert run.attempts.solved.isna().tolist() == [False, False, False, True]
    assert set(run.attempts.id) == set(run.signals.attempt)
    assert {"validator", "passed", "text", "score"} <= set(run.signals)
    assert run.verdicts.empty


def test_a_recording_gives_the_same_figures_without_texts_and_places(two: list[Path], tmp_path: Path) -> None:
    place = tmp_path / "recordings" / "without"
    result = command(two[1], "--record", place, "--json")
    assert result.exit_code == 0, result.output
    results, before = json.loads(result.stdout), json.loads(command(two[1], "--json").stdout)
    for name in ("solve_rate", "error_rate", "iterations", "test_runs", "signals", "not_affirmed"):
        assert results[name] == before[name], name
    kept = "".join(file.read_text() for file in sorted(place.iterdir()))
    assert "/home/ann" not in kept
    assert "seeds" not in kept
    (run,) = recordings(tmp_path / "recordings")
    arm = run.arm("it")
    assert (arm.benchmark, arm.evidence) == ("orchard", "real")


def test_a_recording_is_of_a_finished_run_in_a_new_folder(two: list[Path], tmp_path: Path) -> None:
    unfinished = repaired_run(tmp_path / "unfinished", four(), finished=False)
    with pytest.raises(UsageError, match="not finished"):
        record_run(open_repair_run(unfinished), tmp_path / "kept")
    with pytest.raises(UsageError, match="not empty"):
        record_run(open_repair_run(two[0]), two[1])
    assert recordings(tmp_path / "none") == []


def test_several_runs_stand_in_the_lines_of_table_3(two: list[Path], tmp_path: Path) -> None:
    lines = command(*two, "--out", tmp_path / "page.html").stdout.splitlines()
    (head,) = [line for line in lines if "Solved (SR@1)" in line and "Error (ER)" in line]
    assert "Iterations, median (IC)" in head
    assert [line.split("  ")[0] for line in lines if "50.0%" in line or "0.0%" in line][:2] == [
        "react+tests",
        "react",
    ]
    assert "Solve rate of each run" in (tmp_path / "page.html").read_text()

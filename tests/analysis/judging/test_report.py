"""The page of runs of judges says before any figure what a reader has to know of the runs."""

from pathlib import Path

import pytest
from msgspec import structs
from typer.testing import CliRunner

from misstep.runs.report import app
from misstep_analysis.judging.judged_runs import names_of_judges, open_run
from misstep_analysis.judging.report import report_html
from misstep_harness.journal.records import read_manifest, write_manifest
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    return benchmark_of_runs(tmp_path / "gates", 8)


def in_progress(run: Path) -> Path:
    """The run as it stands while it is under way."""
    manifest = read_manifest(run)
    assert manifest is not None
    write_manifest(run, structs.replace(manifest, finished=""))
    return run


def test_a_run_in_progress_is_said_to_be_one(tmp_path: Path, gates: Path) -> None:
    whole = judged_run(tmp_path / "whole", gates, [verdict(n) for n in range(8)])
    part = in_progress(judged_run(tmp_path / "part", gates, [verdict(n) for n in range(3)]))
    assert "not finished" not in report_html([open_run(run) for run in [whole]])
    assert "This run is not finished: it has verdicts on 3 items so far." in report_html(
        [open_run(run) for run in [part]]
    )
    assert "The run part is not finished: it has verdicts on 3 items so far." in report_html(
        [open_run(run) for run in [whole, part]]
    )


def test_the_foot_says_the_whole_command(tmp_path: Path, gates: Path) -> None:
    run = judged_run(tmp_path / "run", gates, [verdict(0)])
    gates.rename(tmp_path / "moved")
    page = tmp_path / "page.html"
    result = CliRunner().invoke(app, [str(run), "--benchmark", str(tmp_path / "moved"), "--out", str(page)])
    assert result.exit_code == 0
    assert f"misstep report {run} --out {page} --benchmark {tmp_path / 'moved'}" in page.read_text()


def test_a_run_is_called_by_its_judge_then_its_model_and_by_its_folder_only_where_both_are_the_same(tmp_path, gates):
    answers = {judge: [verdict(n, judge=judge) for n in range(8)] for judge in ("strict", "mild")}
    folders = [
        judged_run(tmp_path / "monday", gates, answers["strict"], model="small-1"),
        judged_run(tmp_path / "tuesday", gates, answers["mild"], model="small-1"),
        judged_run(tmp_path / "wednesday", gates, answers["strict"], model="large-1"),
        judged_run(tmp_path / "thursday", gates, answers["strict"], model="large-1"),
    ]
    runs = [open_run(run) for run in folders]
    assert names_of_judges(runs[:2]) == ["strict", "mild"]
    assert names_of_judges(runs[:3]) == ["strict with small-1", "mild with small-1", "strict with large-1"]
    assert names_of_judges(runs[2:]) == ["strict with large-1 (wednesday)", "strict with large-1 (thursday)"]
    page = report_html([open_run(run) for run in [folders[0], folders[2]]])
    assert "strict with large-1" in page
    assert "wednesday: strict with large-1 on gates" in page

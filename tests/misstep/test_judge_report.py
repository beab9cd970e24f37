"""The page of runs of judges says before any figure what a reader has to know of the runs."""

from pathlib import Path

import pytest
from msgspec import structs

from harness.records import read_manifest, write_manifest
from misstep.judge_report import report_html
from misstep.judged_runs import open_runs
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
    assert "not finished" not in report_html(open_runs([whole]))
    assert "This run is not finished: it has verdicts on 3 items so far." in report_html(open_runs([part]))
    assert "The run part is not finished: it has verdicts on 3 items so far." in report_html(open_runs([whole, part]))


def test_a_run_that_has_no_verdict_yet_is_named_by_its_judge(tmp_path: Path, gates: Path) -> None:
    run = in_progress(judged_run(tmp_path / "run", gates, [verdict(0)]))
    (run / "verdicts.jsonl").write_bytes(b"")
    page = report_html(open_runs([run]))
    assert "made_up has no accuracy on gates (0 of 0 items answered)" in page
    assert "No item was asked." in page
    assert "Every item was answered." not in page

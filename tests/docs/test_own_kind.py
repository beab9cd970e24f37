"""A kind of run from outside: `examples/call_lengths.py` is resumed, reported, exported, opened and looked at."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import misstep
from examples.call_lengths import RECORDS, CallLength, MeasureCalls
from misstep import Asking, RunResults, carry_out
from misstep_analysis.runs.kind import KINDS
from misstep_harness.journal.records import read_manifest, read_records
from tests.docs.documents import ROOT
from tests.misstep.as_a_user import misstep as run_misstep
from tests.misstep.installed import installed


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """A folder with ten generated sessions."""
    run_misstep("generate", "trajectories", "--n", "10", "--out", tmp_path / "made")
    return tmp_path / "made"


class _Stopping(MeasureCalls):
    """Stops after four sessions, as Ctrl-C does."""

    done = 0

    async def do(self, unit, requests):
        self.done += 1
        if self.done > 4:
            raise KeyboardInterrupt
        return await super().do(unit, requests)


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(sessions: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        carry_out(_Stopping(sessions), tmp_path / "stopped", Asking(at_once=1))
    kept = list(read_records(tmp_path / "stopped", RECORDS, unfinished=True))
    assert 0 < len(kept) < 10
    for name in ("stopped", "whole"):
        assert carry_out(MeasureCalls(sessions), tmp_path / name, Asking(at_once=1)).finished
    stopped, whole = (
        sorted((tmp_path / name / RECORDS.file).read_bytes().splitlines()) for name in ("stopped", "whole")
    )
    assert stopped == whole
    assert all(one.calls for one in read_records(tmp_path / "whole", RECORDS))


def test_report_export_notebook_and_frames_follow_from_records_and_figures(sessions, tmp_path, monkeypatch) -> None:
    out = tmp_path / "lengths"
    assert carry_out(MeasureCalls(sessions), out, arguments=[str(sessions)]).finished
    shutil.copy(ROOT / "examples" / "call_lengths.py", tmp_path)
    with installed(tmp_path, {"misstep.runs": {"call-lengths": "call_lengths:CallLengthRuns"}}, monkeypatch):
        assert "sessions have" in Path(run_misstep("report", out).stdout.strip()).read_text()
        exported = run_misstep("export", out, "--to", "csv", "--out", tmp_path / "csv")
        assert exported.returncode == 0, exported.stderr
        assert (tmp_path / "csv" / "call_lengths.csv").read_text().startswith("item,calls,longest")
        assert "Calls of a session" in (tmp_path / "csv" / "scores.csv").read_text()
        notebook = Path(run_misstep("export", out, "--to", "notebook", "--out", f"{out}.ipynb").stdout.strip())
        assert "misstep.open" in json.dumps(json.loads(notebook.read_text()))
        assert len(misstep.open(out).tables["call_lengths"]) == 10


def test_a_run_of_a_kind_that_is_not_installed_is_refused_by_name(sessions: Path, tmp_path: Path) -> None:
    carry_out(MeasureCalls(sessions), tmp_path / "lengths")
    done = run_misstep("report", tmp_path / "lengths")
    assert (done.returncode, "a run of `misstep call-lengths`" in done.stderr) == (2, True)


def test_every_kind_of_misstep_says_its_command_and_its_records() -> None:
    for command in KINDS:
        kind = KINDS.load(command)()
        assert isinstance(kind, RunResults)
        assert (kind.command, kind.records.file.endswith(".jsonl")) == (command, True)


def test_the_example_is_at_most_60_lines_of_code_and_runs_as_it_says(sessions: Path, tmp_path: Path) -> None:
    file = ROOT / "examples" / "call_lengths.py"
    code = [line for line in file.read_text().split('"""', 2)[2].splitlines() if line.strip() and '"""' not in line]
    assert len(code) <= 60
    line = [sys.executable, str(file), str(sessions), str(tmp_path / "lengths")]
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True)
    manifest = read_manifest(tmp_path / "lengths")
    assert manifest.finished
    assert CallLength.__struct_fields__ == ("item", "calls", "longest")

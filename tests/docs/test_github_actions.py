"""The example for GitHub Actions runs as far as this machine can: its commands, and the files that it keeps."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from misstep_harness.runs.generate import GenerateOptions, write_folder

ROOT = Path(__file__).parents[2]
STEPS = yaml.safe_load((ROOT / "examples/github_actions.yml").read_text())["jobs"]["misstep"]["steps"]
(LINE,) = [step["run"] for step in STEPS if step.get("run", "").startswith("misstep")]


@pytest.mark.parametrize(("limit", "code"), [(None, 1), ("99%", 0)])
def test_its_command_stops_the_job_and_leaves_what_the_job_keeps(limit: str | None, code: int, tmp_path: Path) -> None:
    write_folder(tmp_path / "sessions", GenerateOptions(n=60, seed=1))
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"GITHUB_STEP_SUMMARY": str(summary), "PYTHONPATH": str(ROOT), "PATH": path}
    line = LINE.replace("20%", limit or "0%")
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    decision = {1: "failed", 0: "passed"}[code]
    assert f"misstep: {decision}: tool_call_failure is " in done.stderr
    assert summary.read_text().startswith("before\n### misstep classify")
    kept = [step["with"]["path"].split() for step in STEPS if "upload" in step.get("uses", "")]
    assert all((tmp_path / name).is_file() for name in kept[0])
    assert ElementTree.parse(tmp_path / "junit.xml").getroot().get("failures") == str(code)  # noqa: S314 (our own)

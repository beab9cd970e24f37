"""`misstep watch` on the command line: it prints what comes in, until Ctrl-C."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from misstep_harness.runs.generate import GenerateOptions, write_folder
from tests.waiting import wait_until


def test_it_prints_each_finding_and_ctrl_c_ends_it_with_the_run_kept(tmp_path: Path) -> None:
    write_folder(tmp_path / "made", GenerateOptions(n=12, seed=3))
    line = [sys.executable, "-m", "misstep", "watch", "made", "--out", "run", "--every", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, cwd=tmp_path, env=os.environ, text=True, **pipes) as watching:  # type: ignore[call-overload]
        first = watching.stdout.readline()
        wait_until((tmp_path / "run" / "report.html").is_file, watching)
        watching.send_signal(signal.SIGINT)
        _, said = watching.communicate(timeout=60)
    assert "trajectories.jsonl:" in first
    assert watching.returncode == 130
    assert "the same line goes on" in said
    assert (tmp_path / "run" / "report.html").is_file()

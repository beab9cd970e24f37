"""Whoever kills Misstep kills what it runs: no command outlives the process that started it."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.workspace import Sandbox

RUNNER = """
import sys
from pathlib import Path
from harness.workspace import find_sandbox, open_workspace

base, seen = map(Path, sys.argv[2:])
with open_workspace(base, sandbox=find_sandbox(sys.argv[1]), read_only=[seen]) as workspace:
    workspace.run(["sh", "-c", f"exec 3> {seen}/held; echo up >&3; sleep 300 & sleep 300"])
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_command_outlives_its_runner(number: signal.Signals, sandbox: Sandbox, tmp_path: Path) -> None:
    for name in ("base", "seen"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "seen/held")
    (tmp_path / "seen/held").chmod(0o666)
    with subprocess.Popen([sys.executable, "-c", RUNNER, sandbox.name, tmp_path / "base", tmp_path / "seen"]) as runner:
        held = os.open(tmp_path / "seen/held", os.O_RDONLY | os.O_NONBLOCK)
        assert _read_within(held, seconds=20) == b"up\n"
        runner.send_signal(number)
        assert _read_within(held, seconds=20) == b"", "the end of the pipe, which no command holds any more"
        os.close(held)
        assert runner.wait() == -number


def _read_within(opened: int, *, seconds: float) -> bytes | None:
    ready, _, _ = select.select([opened], [], [], seconds)
    return os.read(opened, 100) if ready else None

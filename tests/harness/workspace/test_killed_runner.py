"""Whoever kills Misstep kills what it runs: no command outlives the process that started it."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from misstep_harness.workspace import Sandbox, open_workspace
from misstep_harness.workspace.bubblewrap import Bubblewrap

RUNNER = """
import sys
from pathlib import Path
from misstep_harness.workspace import find_sandbox, open_workspace

with open_workspace(Path(sys.argv[2]), sandbox=find_sandbox(sys.argv[1])) as workspace:
    workspace.run(["sh", "-c", f"sleep {sys.argv[3]} & sleep {sys.argv[3]}"])
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_command_outlives_its_runner(number: signal.Signals, sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    length = f"300.{os.getpid()}{number:02d}"  # by which the processes are known: no pipe leads out of a sandbox
    with subprocess.Popen([sys.executable, "-c", RUNNER, sandbox.name, tmp_path / "base", length]) as runner:
        assert _within(lambda: _sleeping(length) == 2, seconds=20)
        runner.send_signal(number)
        assert _within(lambda: not _sleeping(length), seconds=20)
        assert runner.wait() == -number


def _sleeping(length: str) -> int:
    wanted, known = b"sleep\0%s\0" % length.encode(), 0
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            known += process.read_bytes() == wanted
    return known


def _within(happened: Callable[[], bool], *, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not (is_so := happened()) and time.monotonic() < end:
        select.select([], [], [], 0.02)
    return is_so


BWRAP = """#!/bin/sh
. "$(dirname "$0")/../../beside/known"
if [ -n "$held" ] && [ "$1" != --args ]; then exec 3> "$held"; echo up >&3; sleep 0.5; fi
exec "$real" "$@"
"""

EARLY = """
import sys
from pathlib import Path
from misstep_harness.workspace import open_workspace
from misstep_harness.workspace.bubblewrap import Bubblewrap

with open_workspace(Path(sys.argv[2]), sandbox=Bubblewrap(Path(sys.argv[1]), layered=False)) as workspace:
    workspace.run(["sleep", "300"])
"""


def _in_a_closed_folder(sandbox: Sandbox, folder: Path, held: str = "") -> Path:
    """A `bwrap` under a folder that only its owner may enter, which needs what lies beside its own package."""
    if not isinstance(sandbox, Bubblewrap):
        pytest.skip("the best sandbox of this machine is another one")
    program = folder / "closed/packages/wheel/bin/bwrap"
    program.parent.mkdir(parents=True)
    program.write_text(BWRAP)
    program.chmod(0o755)
    (folder / "closed/packages/beside").mkdir()
    (folder / "closed/packages/beside/known").write_text(f"real={sandbox.program} held={held}\n")
    (folder / "closed").chmod(0o700)
    return program


def test_a_bwrap_in_a_closed_folder_has_its_libraries_beside_it(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    program = _in_a_closed_folder(sandbox, tmp_path)
    with open_workspace(tmp_path / "base", sandbox=Bubblewrap(program, layered=False)) as workspace:
        assert workspace.run(["echo", "there"]).output == "there\n"


def test_a_runner_killed_while_its_sandbox_starts_leaves_nothing_behind(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    os.mkfifo(tmp_path / "held")
    program = _in_a_closed_folder(sandbox, tmp_path, str(tmp_path / "held"))
    held = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)
    with subprocess.Popen([sys.executable, "-c", EARLY, program, tmp_path / "base"]) as runner:
        assert _read_within(held, seconds=20) == b"up\n"
        runner.kill()
    assert _read_within(held, seconds=20) == b"", "the end of the pipe"
    os.close(held)


def _read_within(opened: int, *, seconds: float) -> bytes | None:
    ready, _, _ = select.select([opened], [], [], seconds)
    return os.read(opened, 100) if ready else None

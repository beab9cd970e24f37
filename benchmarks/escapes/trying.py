"""One attempt in one sandbox: what came of it."""

import json
import shutil
import tempfile
from pathlib import Path

from msgspec import Struct

from benchmarks.escapes.attempt import STARTED, host, mounts, processes_with
from benchmarks.escapes.attempts import ATTEMPTS, LIMITS
from misstep_harness.workspace import Finished, Sandbox, open_workspace, python_toolchain

_SYSTEM_PYTHON = Path("/usr/bin/python3")


class Outcome(Struct, frozen=True):
    """How an attempt ended, and what it reached; empty where it was stopped."""

    finished: Finished
    escaped: tuple[str, ...]

    @property
    def stopped(self) -> bool:
        """Return whether nothing was reached and the run ended as it should."""
        return not self.escaped


def attempt(name: str, sandbox: Sandbox) -> Outcome:
    """Make an attempt in a workspace of its own, and look at the machine before and after."""
    tried = ATTEMPTS[name]
    before = mounts()
    with tempfile.TemporaryDirectory(prefix="escapes-base-") as base, host() as machine:
        Path(base, "attempt.py").write_text(tried.source())
        Path(base, "kept.txt").write_text("kept\n")
        python, read_only = (str(_SYSTEM_PYTHON), ()) if _SYSTEM_PYTHON.exists() else _own()
        with open_workspace(Path(base), sandbox=sandbox, read_only=read_only) as workspace:
            limits = LIMITS if tried.ends != ("time",) else LIMITS.__class__(seconds=2)
            targets = json.dumps(machine.targets())  # another attempt at the same time has other targets
            done = workspace.run([python, "attempt.py", targets], limits=limits)
            lines = [line for line in done.output.splitlines() if line.startswith("ESCAPED")]
            lines += tried.check(workspace, machine, done)
            lines += machine.harm()
            if left := processes_with(f"attempt.py\0{targets}"):
                lines.append(f"processes are left: {left}")
            folder = workspace.folder
        failed = done.ended == "exited" and done.exit_code != 0
        if done.ended not in tried.ends or not done.output.startswith(STARTED) or failed:
            lines.append(f"it ended by {done.ended}, {done.exit_code}: {done.output[-300:]}")
        if folder.exists():
            lines.append(f"files are left in {folder}")
            shutil.rmtree(folder, ignore_errors=True)
        if mounts() != before:
            lines.append("mounts are left")
        if Path(base, "kept.txt").read_text() != "kept\n" or len(list(Path(base).iterdir())) != 2:
            lines.append("the base was written to")
    return Outcome(done, tuple(lines))


def _own() -> tuple[str, tuple[Path, ...]]:
    toolchain = python_toolchain()
    return toolchain.python, toolchain.read_only

"""A run that records anything, killed at ten places, ends with the bytes of one that nobody disturbed."""

import os
import random
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from misstep_harness.journal.run_folder import PROGRESS
from tests.harness.journal.killed_run import KINDS, main, run

KILLS = 10


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def killed_after(folder: Path, kind: str, paid: str, amount: int) -> int:
    """Run in a fork, which need not import everything again: its exit code."""
    process = os.fork()
    if process == 0:
        with ExitStack() as stack:
            stack.callback(os._exit, 1)
            main(str(folder), kind, str(amount), paid)
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.parametrize(
    ("kind", "paid", "seed"), [("trajectories", "again", 0), ("trajectories", "paid", 1), ("events", "again", 2)]
)
def test_ten_kills_leave_no_trace(tmp_path: Path, kind: str, paid: str, seed: int) -> None:
    run(tmp_path / "undisturbed", kind, paid=paid == "paid")
    undisturbed = contents(tmp_path / "undisturbed")
    records = KINDS[kind][0]
    share = len(undisturbed[records.file]) // KILLS
    places = random.Random(seed)  # noqa: S311 (places to die at)
    killed = [killed_after(tmp_path / "killed", kind, paid, places.randint(1, share)) for _ in range(KILLS)]
    assert killed == [-signal.SIGKILL] * KILLS
    assert (tmp_path / "killed" / PROGRESS).exists(), "it was killed before its end each time"
    assert killed_after(tmp_path / "killed", kind, paid, 10**9) == 0
    assert contents(tmp_path / "killed") == undisturbed

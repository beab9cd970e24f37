"""The command line as a user runs it: in a process of its own, or in this one where many are run."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from misstep.__main__ import main


def misstep(*arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run `misstep` with these arguments and further environment variables to its end."""
    return subprocess.run(
        [sys.executable, "-m", "misstep", *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def in_this_process(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """What runs `misstep COMMAND` with arguments in this process: exit code, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["misstep", command, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run

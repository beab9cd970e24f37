"""The command line as a user runs it: a process of its own."""

import os
import subprocess
import sys
from pathlib import Path


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

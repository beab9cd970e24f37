"""Waits for a program that a test started, and leaves the processor to it."""

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_BETWEEN_LOOKS = 0.01


def wait_until(happened: Callable[[], bool], process: "subprocess.Popen[Any]", seconds: float = 120.0) -> None:
    """Return as soon as something has happened, the process has ended, or the time is over."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and not happened() and time.monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_BETWEEN_LOOKS)

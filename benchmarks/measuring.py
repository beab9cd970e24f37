"""What a command takes: seconds, and the memory of it and all the processes it started, together and at most."""

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

_EVERY_SECONDS = 0.02


class Taken(Struct, frozen=True):
    """`seconds` of wall clock; `together_mib` of all processes, `largest_mib` of the largest, each at its peak.

    `processor_seconds` are those of all processes, in the program and in the system.
    """

    seconds: float
    together_mib: float
    largest_mib: float
    output: str
    processor_seconds: float


def measure(command: Sequence[str]) -> Taken:
    """Run a command to its end.

    The memory of all processes together is looked at every 20 ms, each process with its share of what is shared.
    """
    started, before = time.perf_counter(), _processor_seconds()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = _Peak(process.pid)
    output, _ = process.communicate()
    seconds = time.perf_counter() - started
    peak.stop()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    used = _processor_seconds() - before
    return Taken(seconds, peak.together / 1024, peak.largest / 1024, output, used)


def _processor_seconds() -> float:
    """Return what the processes that were started and have ended took of the processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Peak(threading.Thread):
    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.together = self.largest = 0
        self._process = process
        self._done = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._done.wait(_EVERY_SECONDS):
            sizes = [_kib(process, "smaps_rollup", "Pss:") for process in _family(self._process)]
            self.together = max(self.together, sum(sizes))
            self.largest = max(self.largest, _kib(self._process, "status", "VmHWM:"), *sizes)

    def stop(self) -> None:
        self._done.set()
        self.join()


def _family(process: int) -> list[int]:
    family, at = [process], 0
    while at < len(family):
        family += _children(family[at])
        at += 1
    return family


def _children(process: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return []


def _kib(process: int, file: str, field: str) -> int:
    try:
        lines = Path(f"/proc/{process}/{file}").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)


def machine() -> str:
    """Return the processor, how many of it this process may use, the memory and the Python, as one line."""
    processor = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "processor"
    )
    memory = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    cores = len(os.sched_getaffinity(0))
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{processor}, {cores} cores, {memory / 2**20:.0f} GiB, Python {python}"


def _lines(file: str) -> list[str]:
    return Path(file).read_text().splitlines() if Path(file).exists() else []

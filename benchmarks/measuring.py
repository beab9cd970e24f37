"""Measure functions and commands: seconds, memory, acts in turn, and bounds.

The machine's other work only ever adds: of several rounds the least counts, and what is compared is measured in turn.
"""

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

_EVERY_SECONDS = 0.02
_SPIN = """
import time
started = time.perf_counter()
for number in range(10_000_000):
    number & 3
print(time.perf_counter() - started)
"""
T = TypeVar("T")
Clock = Callable[[], float]


def misstep(*arguments: object) -> list[str]:
    """Return a command line of Misstep in a process of its own."""
    return python("-m", "misstep", *arguments)


def python(*arguments: object) -> list[str]:
    """Return a command line of this Python."""
    return [sys.executable, *map(str, arguments)]


def seconds(act: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """Return the seconds that something takes, by the clock on the wall or by that of the processor."""
    started = clock()
    act()
    return clock() - started


def best(act: Callable[[], object], rounds: int = 3) -> float:
    """Return the shortest of several runs, in seconds."""
    return min(seconds(act) for _ in range(rounds))


def in_turn(acts: Mapping[str, Callable[[], T]], rounds: int = 3) -> dict[str, list[T]]:
    """Return what each act gives in each of several rounds; a busy minute slows all of them."""
    results: dict[str, list[T]] = {name: [] for name in acts}
    for _ in range(rounds):
        for name, act in acts.items():
            results[name].append(act())
    return results


def verdict(value: float, most: float = inf, least: float = -inf) -> str:
    """Return whether a bound is met, with the bound."""
    bound = f"at least {least:g}" if most == inf else f"at most {most:g}"
    return f"({bound}: {'met' if least <= value <= most else 'MISSED'})"


def judged(what: str, value: float, most: float = inf, least: float = -inf) -> str:
    """Return a line with a figure and its bound."""
    return f"{what:36}{value:8.3f}  {verdict(value, most, least)}"


def print_times(seconds: Mapping[str, float], beside: str = "") -> None:
    """Print the milliseconds of each act, and how many times as long as the one `beside` it takes."""
    for what, each in seconds.items():
        times = f"{each / seconds[beside]:8.1f} x" if beside else ""
        print(f"  {what:60}{1000 * each:8.0f} ms{times}")


def gain_of_two_processes() -> float:
    """Return how much more two processes of nothing but Python do at once than one does alone: the most that can be."""
    command = python("-c", _SPIN)
    alone = float(measure(command).output)
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return 2 * alone / max(float(process.communicate()[0]) for process in both)


class Usage(Struct, frozen=True):
    """`seconds` of wall clock; `together_mib` of all processes, `largest_mib` of the largest, each at its peak."""

    seconds: float
    together_mib: float
    largest_mib: float
    output: str
    processor_seconds: float


def measure(command: Sequence[str]) -> Usage:
    """Run a command to its end; the memory of its processes is looked at every 20 ms, shared parts by share."""
    started, before = time.perf_counter(), _processor_seconds()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = _Peak(process.pid)
    output, _ = process.communicate()
    elapsed = time.perf_counter() - started
    peak.stop()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return Usage(elapsed, peak.together / 1024, peak.largest / 1024, output, _processor_seconds() - before)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # of those that have ended
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
    return [process, *(one for child in _children(process) for one in _family(child))]


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
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    processor = models[0].split(":")[1].strip() if models else "processor"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{processor}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB, Python {version}"

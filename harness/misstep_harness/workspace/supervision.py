"""One running command: its output is read up to a limit, and whatever breaks another limit ends it.

No limit of the kernel covers the memory or the files of several processes together without control groups, so both are
looked at from outside, many times a second.
"""

import os
import select
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from misstep_harness.errors import SandboxFailed
from misstep_harness.workspace.sandbox import MIB, Ended, Finished, Limits
from misstep_harness.workspace.trees import bytes_beneath

_EVERY_SECONDS = 0.025
_READ = 1 << 16
_DRAINED_SECONDS = 2.0
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Watched(Struct, frozen=True):
    """What the supervision of a command found: its output, and the limit that ended it, if one did."""

    output: str
    seconds: float
    broken: Ended | None


def finished(watched: Watched, exit_code: int | None, program: str) -> Finished:
    """Return how a command ended; `exit_code` is `None` if it was not started."""
    if watched.broken is not None:
        return Finished(None, watched.output, watched.seconds, watched.broken)
    if exit_code is None:
        reason = f"the sandbox could not start {program!r}: {watched.output.strip()[-500:]}"
        raise SandboxFailed(reason, "`misstep doctor` says what this machine can do.")
    return Finished(exit_code, watched.output, watched.seconds, "signal" if exit_code > 128 else "exited")


class DiskUse:
    """The bytes of folders on one disk, counted only when its free space says that they may have grown enough."""

    def __init__(self, *folders: Path, limit: float) -> None:
        self._folders, self._limit = folders, limit
        self._free, self._room = self._free_bytes(), limit
        self._next, self._counts = time.monotonic() + 1, 0.0

    def _free_bytes(self) -> int:
        status = os.statvfs(self._folders[0])
        return status.f_bfree * status.f_frsize

    def exceeded(self) -> bool:
        """Return whether the folders have more than their limit."""
        free, now = self._free_bytes(), time.monotonic()
        if self._free - free < self._room / 2 and now < self._next:
            return False
        used = sum(map(bytes_beneath, self._folders))
        elapsed = time.monotonic() - now
        self._free, self._room, self._next = free, max(self._limit - used, 0), now + max(1.0, 20 * elapsed)
        return used > self._limit


class Many:
    """The number of processes of a command, where no namespace limits it; twice over the limit in a row is too many."""

    def __init__(self, root: int, most: int) -> None:
        self._root, self._most = root, most + 2
        self._before = False

    def exceeded(self) -> Ended | None:
        """Return what the command is to be ended by."""
        before, self._before = self._before, len(family(self._root)) > self._most
        return "signal" if before and self._before else None


def supervise(
    process: "subprocess.Popen[bytes]",
    limits: Limits,
    disk: DiskUse,
    kill: Callable[[], None],
    ended: Callable[[], Ended | None] = lambda: None,
) -> Watched:
    """Read a command's output until it and everything it started has ended, or end it."""
    if process.stdout is None:
        raise ValueError("the command's output is not a pipe")
    pipe, started = process.stdout.fileno(), time.monotonic()
    os.set_blocking(pipe, False)
    output, is_open = bytearray(), True
    broken: Ended | None = None
    ending = os.pidfd_open(process.pid)
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    poll.register(ending, select.POLLIN)
    try:
        check = started + _EVERY_SECONDS
        while broken is None:
            ready = {number for number, _ in poll.poll(1000 * max(0.0, check - time.monotonic()))}
            if pipe in ready and not _read(pipe, output):
                poll.unregister(pipe)
                is_open = False
            now = time.monotonic()
            if len(output) > limits.output_bytes:
                broken = "output"
            elif ending in ready:
                break
            elif now - started > limits.seconds:
                broken = "time"
            elif now >= check:
                check = now + _EVERY_SECONDS
                broken = _memory_or_disk(process.pid, limits, disk) or ended()
        if broken is not None:
            kill()
        process.wait()
        if is_open:
            _drain(pipe, output, limits.output_bytes)
    except BaseException:
        kill()
        process.wait()
        raise
    finally:
        os.close(ending)
        process.stdout.close()
    if broken is None and len(output) > limits.output_bytes:
        broken = "output"
    if broken is None and disk.exceeded():
        broken = "disk"
    text = bytes(output[: limits.output_bytes]).decode("utf-8", "replace")
    return Watched(text, time.monotonic() - started, broken)


def _read(pipe: int, output: bytearray) -> bool:
    try:
        piece = os.read(pipe, _READ)
    except BlockingIOError:
        return True
    output += piece
    return bool(piece)


def _drain(pipe: int, output: bytearray, most: int) -> None:
    deadline = time.monotonic() + _DRAINED_SECONDS
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    while len(output) <= most and poll.poll(1000 * max(0.0, deadline - time.monotonic())):
        if not _read(pipe, output):
            return


def _memory_or_disk(root: int, limits: Limits, disk: DiskUse) -> Ended | None:
    processes = family(root)
    allowed = limits.memory_mb * MIB
    if sum(map(_resident, processes)) > allowed and sum(map(_proportional, processes)) > allowed:
        return "memory"
    memory, files = _without_name(processes)
    if memory > allowed:
        return "memory"
    return "disk" if files > limits.disk_mb * MIB or disk.exceeded() else None


def family(root: int) -> list[int]:
    """Return a process and everything that descends from it."""
    processes, at = [root], 0
    while at < len(processes):
        processes += children(processes[at])
        at += 1
    return processes


def children(process: int) -> Iterator[int]:
    """Return the children of a process, of each of its threads."""
    try:
        for thread in Path(f"/proc/{process}/task").iterdir():
            yield from map(int, (thread / "children").read_text().split())
    except OSError:  # it has ended
        return


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def _proportional(process: int) -> int:
    """Resident bytes with its share of what several processes share; all of them where that is not told."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return _resident(process)


def _without_name(processes: list[int]) -> tuple[int, int]:
    memory: dict[tuple[int, int], int] = {}
    disk: dict[tuple[int, int], int] = {}
    for process in processes:
        try:
            for opened in Path(f"/proc/{process}/fd").iterdir():
                status = opened.stat()
                if not status.st_nlink and stat.S_ISREG(status.st_mode):
                    sizes = memory if str(opened.readlink()).startswith("/memfd:") else disk
                    sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
        except OSError:  # it has ended, or it keeps its files to itself
            continue
    return sum(memory.values()), sum(disk.values())

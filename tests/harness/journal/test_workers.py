"""One function over pieces of work: in order whatever the number of processes, and never a hang."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep.harness.errors import MisstepError
from misstep.harness.journal.workers import in_order

ROOT = Path(__file__).parents[3]


def _square(number: int) -> int:
    return number * number


def _slow_first(number: int) -> int:
    if number == 0:
        deadline = time.monotonic() + 0.2
        while time.monotonic() < deadline:
            pass
    return number


def _die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _fail_at_three(number: int) -> int:
    if number == 3:
        raise KeyError("three")
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_the_results_are_those_of_map(workers: int) -> None:
    assert list(in_order(_square, range(20), workers)) == [number * number for number in range(20)]
    assert list(in_order(_square, [], workers)) == []


def test_a_slow_piece_is_waited_for() -> None:
    assert list(in_order(_slow_first, range(6), 2)) == list(range(6))


@pytest.mark.parametrize("workers", [1, 2])
def test_work_is_taken_as_it_is_needed_and_not_all_at_once(workers: int) -> None:
    taken: list[int] = []

    def pieces() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = in_order(_square, pieces(), workers)
    next(results)
    assert len(taken) < 20
    results.close()  # type: ignore[attr-defined]


def test_processes_start_before_the_pieces_are_looked_for() -> None:
    def pieces() -> Iterator[int]:
        yield len(multiprocessing.active_children())

    (running,) = in_order(abs, pieces(), 2)
    assert running > 0


def test_a_worker_that_is_killed_is_an_error_that_names_the_piece() -> None:
    results = in_order(_die_at_three, range(4), 2, describe=lambda number: f"piece {number}")
    with pytest.raises(MisstepError, match=r"a worker process died while piece \d was waited for"):
        list(results)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_the_function_is_the_callers(workers: int) -> None:
    with pytest.raises(KeyError):
        list(in_order(_fail_at_three, range(10), workers))


def test_workers_end_when_their_parent_is_killed() -> None:
    script = (
        "from itertools import count\n"
        "from harness.journal.workers import in_order\n"
        "for number in in_order(abs, count(), 2): print(number, flush=True)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE)
    parent.stdout.readline()
    workers = [int(word) for word in Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()]
    parent.kill()
    parent.communicate(timeout=30)
    assert len(workers) == 2
    deadline = time.monotonic() + 30
    while any(map(_runs, workers)) and time.monotonic() < deadline:
        pass
    assert not any(map(_runs, workers))


def _runs(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False

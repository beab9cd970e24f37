"""Apply one function to many pieces of work, in one process or several; results keep the order of the work."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from misstep.harness.errors import MisstepError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Work = TypeVar("Work")
Result = TypeVar("Result")

_AHEAD = 3
"""Pieces handed out to each worker before the first is waited for: enough to keep it busy, few enough to hold."""


ONE_WORKER_BYTES = 64 << 20
"""Inputs up to this size are read by one process: several would take longer to start than they save."""

MOST_WORKERS = 4


def available() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def enough_workers(size: int) -> int:
    """Return how many processes inputs of a size in bytes are worth, unless a number is asked for."""
    return 1 if size <= ONE_WORKER_BYTES else min(available(), MOST_WORKERS)


def in_order(
    function: Callable[[Work], Result], pieces: Iterable[Work], workers: int, describe: Callable[[Work], str] = str
) -> Iterator[Result]:
    """Return the results of `function` over `pieces`, in their order; pieces are taken as workers get free."""
    if workers == 1:
        yield from map(function, pieces)
        return
    from concurrent.futures import Future
    from concurrent.futures.process import BrokenProcessPool

    pool = open_pool(workers)
    pending: deque[tuple[Work, Future[Result]]] = deque()
    try:
        pool.submit(available)  # starts the processes: a library that finding the pieces imports may start threads
        for piece in pieces:
            pending.append((piece, pool.submit(function, piece)))
            if len(pending) >= _AHEAD * workers:
                yield pending[0][1].result()
                pending.popleft()
        while pending:
            yield pending[0][1].result()
            pending.popleft()
    except BrokenProcessPool as error:
        missing = f" while {describe(pending[0][0])} was waited for" if pending else ""
        message = f"a worker process died{missing}: it was killed or ran out of memory"
        raise MisstepError(message, "Run the command again with --workers 1.") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def open_pool(workers: int) -> "ProcessPoolExecutor":
    """Processes that leave Ctrl-C to their parent and end when it does, however that ended; open it before threads."""
    from concurrent.futures import ProcessPoolExecutor

    # Forking is quickest and safe only in a process of one thread; elsewhere workers start afresh.
    threads = Path("/proc/self/task")
    alone = threads.is_dir() and len(list(threads.iterdir())) == 1
    context = multiprocessing.get_context("fork" if alone else "spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_prepare)


def _prepare() -> None:
    """Set up a worker: Ctrl-C is for its parent to answer, and it ends when its parent does, however that ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)

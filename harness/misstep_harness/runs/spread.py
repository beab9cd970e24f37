"""Spread work over processes of this machine or over the workers of a Dask cluster.

Both are a `concurrent.futures.Executor`, and nothing else is known of them. A worker gives back what it found; whoever
asked writes it. A worker that dies costs what it was at: that is handed out again, and at last done alone, so that what
kills its worker each time is named.
"""

import os
import pkgutil
import re
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import MissingPrerequisite, MisstepError, UsageError
from misstep_harness.version import __version__

Work = TypeVar("Work")
Result = TypeVar("Result")

_AHEAD = 3
"""Pieces handed out to each worker before the first is waited for: enough to keep it busy, few enough to hold."""

ONE_WORKER_BYTES = 64 << 20
"""Inputs up to this size are read by one process: several would take longer to start than they save."""

MOST_WORKERS = 4

_ADDRESS = re.compile(r"(?:tcp|tls)://(?:\[([0-9a-fA-F:]+)\]|([^/:\[\]]+)):(\d{1,5})/?", re.ASCII)
_CONNECT_SECONDS = 10
_WORKERS_SECONDS = 60
_START = "Start one: dask scheduler, and dask worker ADDRESS on each machine."


class Spread(Struct, frozen=True):
    """Where work is done: in so many processes of this machine, or on the Dask cluster at an address.

    Without a number it depends on the bytes that are read. `paths` have to be there on the workers of a cluster.
    """

    workers: int | None = None
    dask: str = ""
    paths: tuple[str, ...] = ()

    def for_bytes(self, size: int) -> "Spread":
        """Return where inputs of a size are read."""
        if self.dask or self.workers:
            return self
        return Spread(1 if size <= ONE_WORKER_BYTES else min(available(), MOST_WORKERS))


BY_SIZE = Spread()


_ALONE = 2
"""Tries of which the last, alone, is the second."""


class WorkerDied(MisstepError):
    """A piece of work has no result, because each worker that was at it died."""


class _Handed(Generic[Result]):
    """A piece of work that a worker has, and how many workers died at it."""

    def __init__(self, work: Callable[[], Result], name: Callable[[], str], future: "Future[Result]") -> None:
        self.work, self.name, self.future = work, name, future
        self.deaths = 0


class Workers:
    """Workers that are handed pieces; `count` of them work at once. See `open_workers`."""

    def __init__(
        self, count: int, opened: Callable[[int], Executor], *, died: type[Exception], tries: int, advice: str
    ) -> None:
        self.count = count
        self._open, self._died, self._tries, self._advice = opened, died, tries, advice
        self._executor = opened(count)

    def in_order(
        self, function: Callable[[Work], Result], pieces: Iterable[Work], describe: Callable[[Work], str] = str
    ) -> Iterator[Result]:
        """Return the results of `function` over `pieces`, in their order; pieces are taken as workers get free."""
        handed: deque[_Handed[Result]] = deque()
        for piece in pieces:
            handed.append(self._hand(partial(function, piece), partial(describe, piece)))
            if len(handed) >= _AHEAD * self.count:
                yield self._first(handed)
        while handed:
            yield self._first(handed)

    async def one(self, name: str, function: Callable[..., Result], *arguments: object) -> Result:
        """Return the result of one call."""
        from asyncio import current_task, wrap_future

        handed = self._hand(partial(function, *arguments), lambda: name)
        while True:
            try:
                return await wrap_future(handed.future)
            except self._died as error:
                self._hand_again(handed, error)
            except CancelledError:
                task = current_task()
                if task is None or task.cancelling():
                    raise
                raise _gone() from None

    def _hand(self, work: Callable[[], Result], name: Callable[[], str]) -> _Handed[Result]:
        return _Handed(work, name, self._submit(work))

    def _first(self, handed: "deque[_Handed[Result]]") -> Result:
        """Wait for the first piece; others that were lost with it are handed out again at once."""
        first = handed.popleft()
        while True:
            try:
                return first.future.result()
            except self._died as error:
                self._hand_again(first, error)
                for one in handed if self._tries > _ALONE else ():  # else each waits until it is the first
                    if not one.deaths and one.future.done() and isinstance(one.future.exception(), self._died):
                        self._hand_again(one, error)
            except CancelledError:
                raise _gone() from None

    def _hand_again(self, lost: _Handed[Any], error: Exception) -> None:
        """Hand out a piece whose worker died: the last time alone, where no other can be at fault."""
        lost.deaths += 1
        if lost.deaths == self._tries:
            raise WorkerDied(f"{lost.name()}: each worker that was at it died", self._advice) from error
        if lost.deaths == self._tries - 1:
            alone = self._open(1)
            lost.future = alone.submit(lost.work)
            if alone is not self._executor:
                lost.future.add_done_callback(lambda _: alone.shutdown(wait=False))
        else:
            lost.future = self._submit(lost.work)

    def _submit(self, work: Callable[[], Result]) -> "Future[Result]":
        try:
            return self._executor.submit(work)
        except BrokenExecutor:
            self._executor = self._open(self.count)
            return self._executor.submit(work)


def open_workers(spread: Spread) -> AbstractContextManager[Workers | None]:
    """Open workers while the block runs, best before threads; `None` is this process, where nothing is asked for."""
    if spread.dask:
        return _on_dask(spread.dask, spread.paths)
    return _in_processes(spread.workers) if spread.workers else nullcontext()


def workers_for(spread: Spread) -> AbstractContextManager[Workers | None]:
    """Open workers for reading: as `open_workers`, but one process is this one."""
    return open_workers(replace(spread, workers=None) if spread.workers == 1 else spread)


def in_order(
    function: Callable[[Work], Result], pieces: Iterable[Work], spread: Spread, describe: Callable[[Work], str] = str
) -> Iterator[Result]:
    """Return the results of `function` over `pieces`, in their order, from workers that are opened for it.

    One process would be this one.
    """
    with workers_for(spread) as workers:
        yield from map(function, pieces) if workers is None else workers.in_order(function, pieces, describe)


def available() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _in_processes(count: int) -> Iterator[Workers]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pools: list[ProcessPoolExecutor] = []

    def opened(wanted: int) -> Executor:
        # Forking is quickest and safe only in a process of one thread; elsewhere workers start afresh.
        threads = Path("/proc/self/task")
        alone = threads.is_dir() and len(list(threads.iterdir())) == 1
        context = get_context("fork" if alone else "spawn")
        pools.append(ProcessPoolExecutor(wanted, mp_context=context, initializer=_prepare))
        pools[-1].submit(available)  # starts the processes: what finds the pieces may start threads
        return pools[-1]

    advice = "It was killed, or memory ran out: run the same command again, with fewer --workers."
    try:
        yield Workers(count, opened, died=BrokenExecutor, tries=3, advice=advice)
    finally:
        for pool in pools:
            processes = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
                process.join()


def _prepare() -> None:
    """Set up a worker: Ctrl-C is for its parent to answer, and it ends when its parent does, however that ended."""
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    from multiprocessing.connection import wait

    wait([sentinel])
    os._exit(1)


@contextmanager
def _on_dask(address: str, paths: Iterable[str]) -> Iterator[Workers]:
    scheduler = _ADDRESS.fullmatch(address)
    if scheduler is None:
        raise UsageError(f"--dask {address!r} is not an address", "Give tcp://HOST:8786 or tls://HOST:8786.")
    try:
        import dask.config
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise MissingPrerequisite("--dask needs dask", "Run: pip install 'misstep[dask]'") from error
    if address.startswith("tls") and not dask.config.get("distributed.comm.tls.ca-file", None):
        raise MissingPrerequisite(f"{address} needs certificates", "Dask's setting distributed.comm.tls names them.")
    with ExitStack() as ending:
        try:  # a client that finds nobody waits half a minute, and again when it ends
            socket.create_connection((scheduler[1] or scheduler[2], int(scheduler[3])), _CONNECT_SECONDS).close()
            client = ending.enter_context(Client(address, set_as_default=False))
            client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
        except (OSError, OverflowError) as error:
            raise MissingPrerequisite(f"no Dask cluster with workers answers at {address}", _START) from error
        versions = client.run(pkgutil.resolve_name, "misstep_harness.version:__version__", on_error="return")
        if not versions:  # the last worker went meanwhile, and pieces would wait for ever
            raise MissingPrerequisite(f"no worker of the Dask cluster at {address} answers", _START)
        _check(versions)
        for worker, (folder, missing) in client.run(_missing, list(paths)).items():
            if missing:
                message = f"{missing[0]} is not there on the worker {worker}, which runs in {folder}"
                raise UsageError(message, "Give absolute paths, and start workers where the same folders are mounted.")
        advice = "The workers' logs say why, often memory; the same command goes on from there."
        executor = client.get_executor()
        ending.callback(executor.shutdown, wait=False)
        # Dask itself hands a piece to several workers before it gives up, and names those too that were beside it.
        count = sum(client.nthreads().values())
        yield Workers(count, lambda _: executor, died=KilledWorker, tries=_ALONE, advice=advice)


def _check(versions: Mapping[str, object]) -> None:
    """Refuse a cluster on which Misstep is missing, or another version."""
    for worker, version in versions.items():
        if version != __version__:
            has = f"Misstep {version}, and this is {__version__}" if isinstance(version, str) else "no Misstep"
            message = f"the worker {worker} has {has}"
            raise MissingPrerequisite(message, f"Run there: pip install 'misstep[dask]=={__version__}'")


def _missing(paths: Iterable[str]) -> tuple[str, list[str]]:
    return str(Path.cwd()), [path for path in paths if not Path(path).exists()]


def _gone() -> MisstepError:
    return MisstepError("the Dask cluster stopped", "What was done is kept: start it, and run the same command again.")

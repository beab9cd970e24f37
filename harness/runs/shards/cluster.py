"""Do the shards of a run on the workers of a Dask cluster.

A shard whose worker dies goes to another worker, which the marker makes safe: `distributed` gives up after three deaths
unless `distributed.scheduler.allowed-failures` says otherwise. Whoever reaches a Dask scheduler can run code on its
workers: the local cluster listens on the loopback address alone.
"""

import logging
import os
import pkgutil
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from misstep.harness.errors import MissingPrerequisite, MisstepError, UsageError
from misstep.harness.progress import Progress
from misstep.harness.runs.shards.layout import Shard
from misstep.harness.runs.shards.plan import read_plan
from misstep.harness.runs.shards.store import FolderStore
from misstep.harness.version import __version__

_LOCAL = re.compile(r"local(?::(\d{1,3}))?", re.ASCII)
_SCHEDULER = re.compile(r"(?:tcp|tls)://(?:\[([0-9a-fA-F:]+)\]|([^/:\[\]]+)):(\d{1,5})/?", re.ASCII)

SHARDS_A_THREAD = 2
"""Shards for each thread of the workers: with more than one, a thread that is done early takes over from a slow one."""

WAIT_SECONDS = 60
_CONNECT_SECONDS = 10

Done = TypeVar("Done")


class Cluster:
    """A cluster that can be asked; see `open_cluster`."""

    def __init__(self, client: Any) -> None:  # distributed has types by half
        self._client = client

    @property
    def address(self) -> str:
        """Return the address of its scheduler."""
        return str(self._client.scheduler.address)

    @property
    def threads(self) -> int:
        """Return how many shards can be done at once."""
        return sum(self._client.nthreads().values())

    def shards_for(self, store: FolderStore, count: int | None) -> int:
        """How many shards a run is cut into: as many as asked for, else as it was begun with, else by the threads."""
        begun = read_plan(store) if count is None else None
        return begun[0].shards if begun else count or SHARDS_A_THREAD * self.threads

    def require_misstep(self) -> None:
        """Refuse a cluster on which Misstep is missing, or another version."""
        # A function of this package could not even be handed to a worker without it.
        for worker, version in self._everywhere(pkgutil.resolve_name, "misstep.harness.version:__version__"):
            if version != __version__:
                has = f"Misstep {version}, and this is {__version__}" if isinstance(version, str) else "no Misstep"
                message = f"the worker {worker} has {has}"
                raise MissingPrerequisite(message, f"Run there: pip install 'misstep[dask]=={__version__}'")

    def require_paths(self, paths: Iterable[str]) -> None:
        """Refuse a cluster on which a path is missing, seen from where its workers run."""
        for worker, (folder, missing) in self._everywhere(_missing, list(paths)):
            if missing:
                message = f"{missing[0]} is not there on the worker {worker}, which runs in {folder}"
                raise UsageError(message, "Give absolute paths, and start workers where the same folders are mounted.")

    def _everywhere(self, function: Callable[..., Any], *arguments: object) -> Iterator[tuple[str, Any]]:
        """Yield the result of a function on each worker: a missing module is one, a worker that is gone has none."""
        for worker, answer in self._client.run(function, *arguments, on_error="return").items():
            if isinstance(answer, Exception) and not isinstance(answer, OSError | ImportError):
                raise answer
            if not isinstance(answer, OSError):
                yield worker, answer

    def do(self, shards: Sequence[Shard], run: Callable[[Shard], Done]) -> Iterator[Done]:
        """Do shards on the workers; their results come in the order in which they are done."""
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        futures = {self._client.submit(run, shard, pure=False): shard for shard in shards}
        with Progress("shards", len(futures)) as progress:
            for future in as_completed(futures, loop=self._client.loop):
                try:
                    result = future.result()
                except KilledWorker as error:
                    raise MisstepError(
                        f"shard {futures[future]}: the workers that did it died",
                        "Look for the reason in their logs (often memory); the same line goes on from there.",
                    ) from error
                yield result
                progress.advance()


@contextmanager
def open_cluster(address: str) -> Iterator[Cluster]:
    """Return a Dask cluster while the block runs."""
    local, scheduler = _LOCAL.fullmatch(address), _SCHEDULER.fullmatch(address)
    if local is None and scheduler is None:
        message = f"--dask {address!r} is not an address"
        raise UsageError(message, "Give tcp://HOST:8786, tls://HOST:8786, local, or local:2.")
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingPrerequisite("--dask needs dask", "Run: pip install 'misstep[dask]'") from error
    with ExitStack() as ending:
        where = address
        if local is not None:
            processes = int(local[1] or os.cpu_count() or 1)
            if not processes:
                raise UsageError("--dask local:0 has no workers", "Give local, or local:2.")
            cluster = LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
                env={"TERM": "dumb"},  # the line that moves is ours, not the workers'
                preload=[_WITHOUT_CTRL_C],
            )
            where = ending.enter_context(cluster).scheduler_address
        try:
            if scheduler is not None:  # a client that finds nobody waits half a minute, and again when it ends
                host, port = scheduler[1] or scheduler[2], int(scheduler[3])
                socket.create_connection((host, port), _CONNECT_SECONDS).close()
            client = ending.enter_context(Client(where, set_as_default=False))
            client.wait_for_workers(1, timeout=WAIT_SECONDS)
        except (OSError, OverflowError) as error:
            raise MissingPrerequisite(
                f"no Dask cluster with workers answers at {address}",
                "Start one: dask scheduler, and dask worker ADDRESS on each machine.",
            ) from error
        opened = Cluster(client)
        opened.require_misstep()
        yield opened


_WITHOUT_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""The first line of a worker of this machine: Ctrl-C of a terminal reaches it too, and this process ends it."""


def run_line(shard: Shard, arguments: Sequence[str]) -> None:
    """Do one shard by its command line, in a process that ends when this one does."""
    done = subprocess.run(  # noqa: S603 (the line of the person whose cluster it is)
        [sys.executable, "-c", f"worker = {os.getpid()}{_AS_MISSTEP}", *arguments, "--shard", str(shard)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode not in (0, 1):  # with 1 some items have no answer: the merge says which
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise MisstepError(f"shard {shard}: {lines[-1].removeprefix('misstep: ')}")


_AS_MISSTEP = """
import ctypes, os, runpy, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a worker that is killed takes its shard with it
if os.getppid() != worker:  # it was killed before that
    sys.exit(1)
runpy.run_module("misstep", run_name="__main__", alter_sys=True)
"""


def _missing(paths: Sequence[str]) -> tuple[str, list[str]]:
    return str(Path.cwd()), [path for path in paths if not Path(path).exists()]

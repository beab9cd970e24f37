"""The command line as a user runs it: in a process of its own, or in this one where many are run."""

import asyncio
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import IO, TypeVar

import pytest
from click.testing import Result
from typer import Typer
from typer.testing import CliRunner

from misstep.__main__ import main
from tests.schemas import hold

CommandLine = Callable[..., tuple[int, str, str]]
"""Arguments of `misstep` → exit code, stdout, stderr."""

_SECONDS = 300


def misstep(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run `misstep` with these arguments and further environment variables to its end, in a process of its own.

    The process is a fork of this one, so that it does not import everything again. It runs in the folder `cwd`.
    """
    line = ["misstep", *map(str, arguments)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = os.fork()
        if process == 0:
            os.chdir(cwd or Path.cwd())
            os._exit(_exit_code_of(line, environment, out.fileno(), err.fileno()))
        ended, _, _ = select.select([os.pidfd_open(process)], [], [], _SECONDS)
        if not ended:
            os.kill(process, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        assert ended, f"{line} took longer than {_SECONDS} seconds"
        hold(line[1:], code, text := _text_of(out))
        return subprocess.CompletedProcess(line, code, text, _text_of(err))


def in_new_interpreter(*arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run `misstep` as above in an interpreter that has imported nothing yet, for what is decided by imports."""
    return subprocess.run(
        [sys.executable, "-m", "misstep", *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def _exit_code_of(line: list[str], environment: dict[str, str], out: int, err: int) -> int:
    """Run a command with its input closed and its output sent to two open files."""
    os.environ.update(environment)
    for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
        os.dup2(source, target)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.argv = line
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001 (the boundary of a process)
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


def _text_of(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()


def in_this_process(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """What runs `misstep COMMAND` with arguments in this process: exit code, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["misstep", command, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured, code = capsys.readouterr(), int(ended.value.code or 0)
        hold([command, *map(str, arguments)], code, captured.out)
        return code, captured.out, captured.err

    return run


def command_of(app: Typer, *words: str, raises: bool = False) -> Callable[..., Result]:
    """Return a command in this process: arguments → its result; `raises` passes on what a user would be told."""

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [*words, *map(str, arguments)], catch_exceptions=not raises)

    return run


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """No file of this process can grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    sys.dont_write_bytecode = True  # a module imported meanwhile would leave a cut .pyc, which no later import survives
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = False


T = TypeVar("T")


@contextmanager
def in_a_thread(serving: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """What an asynchronous context gives, while the block runs."""
    ready = threading.Event()
    there: list[tuple[T, asyncio.Event, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        async with serving as server:
            done = asyncio.Event()
            there.append((server, done, asyncio.get_running_loop()))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    server, done, loop = there[0]
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()

"""The keeper of one command: started with nothing but the standard library, told by standard input what to run."""

import ctypes
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress

_PARENT_DEATH_SIGNAL, _DUMPABLE, _CHILD_SUBREAPER = 1, 4, 36
_NOT_STARTED = 199


def main() -> int:
    """Run what standard input asks for; gives its exit code, 128 + n after signal n."""
    order = json.load(sys.stdin)
    libc = ctypes.CDLL(None, use_errno=True)
    if order["confined"]:  # while this process may still read it: it can lie where the other user may not go
        sys.path.append(order["packages"])
        importlib.import_module("sandlock._sdk")
    user = order["user"]
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        libc.prctl(_DUMPABLE, 1, 0, 0, 0)  # or the engine may not see the command that it supervises
    libc.prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    signal.signal(signal.SIGTERM, _stop)
    if os.getppid() != order["runner"]:  # it died before it could be heard of
        return _NOT_STARTED
    try:
        return _confined(order) if order["confined"] else _bare(order)
    except SystemExit as stopped:
        return int(stopped.code or 0)
    finally:
        _end_all()


def _stop(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _limit(order: dict) -> None:  # type: ignore[type-arg]
    """The kernel's limits; those on processes count all of a user's and do not help."""
    resource.setrlimit(resource.RLIMIT_DATA, (order["memory"], order["memory"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (order["largest"], order["largest"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512))


def _bare(order: dict) -> int:  # type: ignore[type-arg]
    _limit(order)
    try:
        process = subprocess.Popen(  # noqa: S603
            order["command"], env=order["environment"], cwd=order["folder"], stdin=subprocess.DEVNULL
        )
    except OSError as error:
        print(f"{order['command'][0]}: {error.strerror}", flush=True)  # noqa: T201
        return 127
    code = process.wait()
    return code if code >= 0 else 128 - code


def _confined(order: dict) -> int:  # type: ignore[type-arg]
    from sandlock import Sandbox, StdioMode

    def there(paths: list[str]) -> list[str]:
        return [path for path in paths if os.path.exists(path)]  # noqa: PTH110

    sandbox = Sandbox(
        fs_readable=there(order["readable"]),
        fs_writable=there(order["writable"]),
        max_processes=order["processes"],
        max_memory=order["memory"],
        clean_env=True,
        env=order["environment"],
        cwd=order["folder"],
    )
    _limit(order)
    process = sandbox.popen(order["command"], stdin=StdioMode.NULL)
    if process.pid is not None:  # the engine's own wait would keep this process from hearing a signal
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    done = process.wait()
    if done.exit_code >= 0:
        return int(done.exit_code)
    return 128 + (int(done.signal) if (done.signal or 0) > 0 else signal.SIGKILL)


def _end_all() -> None:
    """Kill every descendant; those of killed ones become children of this process, until there is none."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    deadline = time.monotonic() + 4
    while time.monotonic() < deadline:
        for process in _descendants(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _descendants(process: int) -> list[int]:
    processes: list[int] = []
    todo = [process]
    while todo:
        at = todo.pop()
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{at}/task"):  # noqa: PTH208
                with open(f"/proc/{at}/task/{thread}/children") as file:  # noqa: PTH123
                    children = list(map(int, file.read().split()))
                processes += children
                todo += children
    return processes


if __name__ == "__main__":
    try:
        code = main()
    except Exception as error:  # noqa: BLE001 (whatever it is, the command was not run)
        print(f"{type(error).__name__}: {error}", flush=True)  # noqa: T201
        code = _NOT_STARTED
    os._exit(code)

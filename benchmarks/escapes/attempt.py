"""One attempt: a program, how its run may end where it is stopped, and what the host looks at afterwards."""

import os
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

from msgspec import Struct

from misstep_harness.errors import UnsafePath
from misstep_harness.workspace import Finished, Workspace

SECRET = "MISSTEP_ESCAPES_SECRET"  # noqa: S105 (the name of a variable)


class Host(Struct, frozen=True):
    """The targets; `marker` is in the secret, in the variable, and in the command line of the process."""

    marker: str
    folder: Path
    secret: Path
    port: int
    abstract: str
    process: int
    listeners: tuple[socket.socket, ...]

    def targets(self) -> dict[str, str | int]:
        """Return what an attempt is told."""
        return {
            "marker": self.marker,
            "folder": str(self.folder),
            "secret": str(self.secret),
            "port": self.port,
            "abstract": self.abstract,
            "process": self.process,
        }

    def harm(self) -> list[str]:
        """Return what has happened to the targets."""
        harms: list[str] = []
        if (
            sorted(path.name for path in self.folder.iterdir()) != ["secret"]
            or self.marker not in self.secret.read_text()
        ):
            harms.append("files outside were changed")
        for listener in self.listeners:
            try:
                listener.accept()[0].close()
            except BlockingIOError:
                continue
            harms.append("a listener outside was reached")
        if Path(f"/proc/{self.process}/stat").read_text().split()[2] not in "SR":
            harms.append("a process outside was ended or stopped")
        return harms


@contextmanager
def host() -> Iterator[Host]:
    """Return a host with its targets, gone at the end."""
    marker = uuid.uuid4().hex
    before = os.environ.get(SECRET)
    os.environ[SECRET] = marker
    with tempfile.TemporaryDirectory(prefix="escapes-") as name:
        folder = Path(name)
        folder.chmod(0o777)  # a sandbox that only counts on permissions fails
        secret = folder / "secret"
        secret.write_text(marker)
        secret.chmod(0o644)
        abstract = f"escapes-{marker}"
        with (
            socket.create_server(("127.0.0.1", 0)) as tcp,
            socket.socket(socket.AF_UNIX) as local,
            subprocess.Popen(["/bin/sh", "-c", "sleep 600 & wait", marker]) as victim,
        ):
            local.bind(f"\0{abstract}")
            local.listen()
            for listener in (tcp, local):
                listener.setblocking(False)
            try:
                yield Host(marker, folder, secret, tcp.getsockname()[1], abstract, victim.pid, (tcp, local))
            finally:
                subprocess.run(["pkill", "-P", str(victim.pid)], check=False)
                victim.kill()
                if before is None:
                    del os.environ[SECRET]
                else:
                    os.environ[SECRET] = before


def processes_with(token: str) -> list[int]:
    """Return the processes whose command line has a token in it."""
    processes = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if token.encode() in path.read_bytes():
                processes.append(int(path.parent.name))
        except OSError:  # it has ended
            continue
    return processes


def mounts() -> list[str]:
    """Return what is mounted on this machine, as this process sees it."""
    return sorted(line.split(" ")[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())


STARTED = "trying"
"""What every attempt prints first, so that none counts as stopped that never began."""

_PRELUDE = """
import ctypes, errno, json, os, signal, socket, subprocess, sys, time
T = json.loads(sys.argv[1])
def tried(name, act):
    try:
        found = act()
    except BaseException as error:
        print("refused:", name, type(error).__name__, error)
    else:
        print("ESCAPED" if found is not False else "nothing:", name, repr(found)[:200], flush=True)
def read(path):
    with open(path, "rb") as file:
        return T["marker"].encode() in file.read(1 << 20)
def write(path):
    with open(path, "w") as file:
        file.write("escaped")
print("trying", flush=True)
"""

Check = Callable[[Workspace, Host, Finished], list[str]]


def _no_check(_: Workspace, __: Host, ___: Finished) -> list[str]:
    return []


class Attempt(Struct, frozen=True):
    """A program, how its run may end where it is stopped, and what is looked at afterwards."""

    what: str
    program: str
    ends: tuple[str, ...] = ("exited",)
    check: Check = _no_check
    unsandboxed: bool = False

    def source(self) -> str:
        """Return the whole program."""
        return _PRELUDE + dedent(self.program)


def links_stay_closed(workspace: Workspace, host: Host, _: Finished) -> list[str]:
    """Return what the host read or wrote through links that a program left."""
    escapes: list[str] = []
    for path in ("link", "folder/secret", "hard", "up/secret", "../secret", str(host.secret)):
        try:
            if host.marker.encode() in workspace.read(path):
                escapes.append(f"the host read the secret through {path}")
        except (UnsafePath, FileNotFoundError):
            continue
    for path in ("folder/new", "../new", "link/new"):
        try:
            workspace.write(path, b"escaped")
            escapes.append(f"the host wrote through {path}")
        except UnsafePath:
            continue
    workspace.write("link", b"replaced")  # the link itself, not what it points at
    if any(host.marker in path for path in workspace.files()):
        escapes.append("the host lists files through a link")
    return escapes


def pipes_do_not_hang(workspace: Workspace, _: Host, __: Finished) -> list[str]:
    """Return what the host read of pipes and sockets; it would hang if it opened them as files."""
    escapes: list[str] = []
    for path in ("pipe", "socket"):
        try:
            workspace.read(path)
            escapes.append(f"the host read {path}")
        except (UnsafePath, FileNotFoundError):
            continue
    snapshot = workspace.take()
    workspace.restore(snapshot)
    workspace.files()
    return escapes

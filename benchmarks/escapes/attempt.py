"""One attempt: a program, how its run may end where it is stopped, and what the host looks at afterwards."""

from collections.abc import Callable
from textwrap import dedent

from msgspec import Struct

from benchmarks.escapes.host import Host
from misstep.harness.errors import UnsafePath
from misstep.harness.workspace import Finished, Workspace

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

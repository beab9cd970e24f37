"""Packages that a case's `requirements.txt` names, installed from a folder of wheels in the sandbox."""

import os
import re
import stat
import sys
import weakref
from importlib.util import find_spec
from pathlib import Path

from misstep_harness import beneath
from misstep_harness.errors import InputError
from misstep_harness.triage.protocols import ReadOnlyAccess
from misstep_harness.triage.records import TriageCase
from misstep_harness.workspace import Limits, Mounts, Sandbox, Toolchain
from misstep_harness.workspace.workspace import own_folder, remove_own

REQUIREMENTS, WHEELS = "requirements.txt", "wheels"
_NAME = re.compile(r"^[A-Za-z0-9][\w-]*", re.MULTILINE)
_PLACES = ("", "environment/", "tests/")
_LIMITS = Limits(seconds=600, memory_mb=2048, disk_mb=4096, file_mb=2048, processes=128)


class Packages:
    """The installed packages of a case, as a folder; `None` if it names none, or without wheels."""

    def __init__(self, case: TriageCase, wheels: Path | None, sandbox: Sandbox, tools: Toolchain) -> None:
        self.folder: Path | None = None
        own = case.folder / WHEELS
        wheels = wheels or (own if own.is_dir() and not own.is_symlink() else None)
        named = _requirements(case)
        if wheels is not None and named:
            top = own_folder()
            self._end = weakref.finalize(self, remove_own, top)
            self.folder = _installed(case, named, wheels.resolve(), (top, sandbox, tools))

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables by which Python finds them."""
        return {"PYTHONPATH": str(self.folder)} if self.folder is not None else {}


def _requirements(case: TriageCase) -> list[str]:
    """List the files of requirements of a case; links are not followed."""
    paths = [f"{place}{REQUIREMENTS}" for place in _PLACES]
    return [path for path in paths if (at := beneath.status(case.folder, path)) and stat.S_ISREG(at.st_mode)]


def _installed(case: TriageCase, named: list[str], wheels: Path, place: tuple[Path, Sandbox, Toolchain]) -> Path:
    top, sandbox, tools = place
    files = top / "files"
    files.mkdir()
    options: list[str] = []
    for number, path in enumerate(named):
        (files / f"{number}.txt").write_bytes(beneath.read_file(case.folder, path))
        options += ["-r", f"{number}.txt"]
    if sandbox.owner is not None:
        os.chown(files, sandbox.owner, sandbox.owner)
    python = tools.python if find_spec("pip") is not None else str(getattr(sys, "_base_executable", tools.python))
    line = [python, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir"]
    line += ["--no-index", "--only-binary=:all:", "--find-links", str(wheels), "--target", "packages", *options]
    done = sandbox.run(line, Mounts(files, read_only=(*tools.read_only, wheels)), limits=_LIMITS)
    if done.exit_code != 0:
        errors = [text for text in done.output.splitlines() if text.startswith("ERROR")] or [done.output.strip()[-300:]]
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        advice = f"Run `pip download -r {REQUIREMENTS} -d {WHEELS}` with Python {version}."
        raise InputError(f"cannot be installed from {wheels}: {errors[-1]}", advice, file=case.folder / named[0])
    (files / "packages").mkdir(exist_ok=True)
    return files / "packages"


def not_installed(access: ReadOnlyAccess, module: str) -> bool:
    """Return whether `requirements.txt` names a module that nobody has brought wheels of."""
    named_in = _requirements(access.case)
    text = "\n".join(beneath.read_file(access.case.folder, path).decode(errors="replace") for path in named_in)
    name = module.partition(".")[0].replace("-", "_").lower()
    named = {match[0].replace("-", "_").lower() for match in _NAME.finditer(text)}
    return name in named and not (access.case.folder / WHEELS).is_dir()

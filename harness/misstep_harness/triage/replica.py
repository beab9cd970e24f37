"""Replicas of a case: copies of its files in which commands run sandboxed, under the limits of the case."""

import os
import re
import shlex
import shutil
import stat
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

from msgspec.structs import replace

from misstep_harness import beneath
from misstep_harness.beneath import read_file
from misstep_harness.errors import InputError, TimeSpent, UnsafePath
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.protocols import ReadOnlyAccess, Result
from misstep_harness.triage.records import SOLVE, Part, TriageCase
from misstep_harness.triage.texts import LARGEST_FILE, FilesOfCase
from misstep_harness.workspace import (
    Finished,
    Limits,
    Mounts,
    Sandbox,
    Toolchain,
    Workspace,
    open_workspace,
    python_toolchain,
)
from misstep_harness.workspace.trees import walk
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


TESTS = "tests"
SECONDS_OF_CASE = 1800.0
"""How long a judge may work on one case, by the clock (AutoTriage, section 5.2)."""

_EXECUTABLE = stat.S_IXUSR
_VARIABLES = {"PYTHONDONTWRITEBYTECODE": "1"}
"""A module changed twice within a second must not be taken from its compiled form."""

_FORM = "See `misstep help triage-case`."


class ReplicasOfCase(FilesOfCase):
    """The texts and files of a case, and replicas to run things in."""

    def __init__(
        self, case: TriageCase, sandbox: Sandbox, trajectory: Trajectory | None = None, seconds: float = SECONDS_OF_CASE
    ) -> None:
        super().__init__(case, trajectory)
        self._sandbox = sandbox
        self.wheels: Path | None = None
        self._end = time.monotonic() + seconds

    @contextmanager
    def replica(self, result: Result, tests: bool = True) -> Iterator["ReplicaOfCase"]:
        """Return a fresh replica of a result, thrown away at the end; with `tests`, the tests are in `tests/`."""
        with tempfile.TemporaryDirectory(prefix="misstep-") as empty:
            base = self._base(result, Path(empty))
            tools, packages = _toolchain(), self._packages
            variables = {**tools.environment, **_VARIABLES, **packages.variables}
            shown = (*tools.read_only, *([packages.folder] if packages.folder is not None else []))
            opening = open_workspace(base, sandbox=self._sandbox, read_only=shown, environment=variables)
            with opening as workspace:
                opened = ReplicaOfCase(self, workspace, self._end)
                if result == "solution":
                    opened.solve()
                if tests:
                    opened.lay("tests", f"{TESTS}/")
                yield opened

    @cached_property
    def _packages(self) -> Packages:
        return Packages(self.case, self.wheels, self._sandbox, _toolchain())

    def _base(self, result: Result, empty: Path) -> Path:
        if self.case.part(result) is None:
            raise InputError(f"the case has no {result}/", _FORM, file=self.case.folder)
        return self.case.part("environment" if result == "solution" else result) or empty


class ReplicaOfCase:
    """A copy of a result in which commands run sandboxed; `end` is when the time for the case is over."""

    def __init__(self, access: FilesOfCase, workspace: Workspace, end: float) -> None:
        self._access, self._workspace, self._end = access, workspace, end
        self._limits = limits_of(access.case)

    def run(self, command: str, limits: Limits | None = None) -> Finished:
        """Run a shell line, after the case's setup command."""
        limits = limits or self._limits
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeSpent("the time for this case is over", "Give more with --seconds.")
        short = left < limits.seconds
        if short:
            limits = replace(limits, seconds=left)
        setup = self._access.case.file.setup_command
        line = f"{setup}\n{command}" if setup else command
        finished = self._workspace.run([self._shell(), "-c", line], limits=limits)
        if short and finished.ended == "time":
            raise TimeSpent(f"the time for this case was over while {command!r} ran", "Give more with --seconds.")
        return finished

    def test(self) -> Finished:
        """Lay the tests into `tests/` as they are, and run the test command."""
        self.lay("tests", f"{TESTS}/")
        return self.test_as_is()

    def test_as_is(self) -> Finished:
        """Run the test command on the files in `tests/` now."""
        case = self._access.case
        if not case.file.test_command:
            raise InputError("the case has no test command", _FORM, file=case.folder, field="test_command")
        return self.run(case.file.test_command)

    def files(self) -> Sequence[str]:
        """Return the paths of all regular files, sorted."""
        return self._workspace.files()

    def _at(self, path: str) -> str:
        """Return where a path of the case's files is in the workspace."""
        return path

    def _command_path(self, path: str) -> str:
        """Return the path of a file in the workspace as commands see it."""
        return path

    def _shell(self) -> str:
        return _shell()

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; `None` if there is none, or it is a link or too large."""
        with suppress(FileNotFoundError, UnsafePath):
            content = self._workspace.read(self._at(path))
            return content if len(content) <= LARGEST_FILE else None
        return None

    def write(self, path: str, data: bytes) -> None:
        """Write a file."""
        self._workspace.write(self._at(path), data)

    def lay(self, part: Part, prefix: str = "") -> None:
        """Put the regular files of a part beneath a folder; programs can be run, and gold keeps its modes."""
        folder = self._access.case.part(part)
        if folder is None:
            return
        modes: dict[str, list[str]] = {}
        for entry in walk(folder):
            if not stat.S_ISREG(entry.status.st_mode) or (part == "solution" and entry.path == SOLVE):
                continue
            target = self._at(f"{prefix}{entry.path}")
            self._workspace.write(target, read_file(folder, entry.path))
            if part == "solution":  # a file that was there keeps its mode when it is written, and gold's may differ
                mode = f"{stat.S_IMODE(entry.status.st_mode) & 0o777:o}"
                modes.setdefault(mode, []).append(self._command_path(target))
            elif entry.status.st_mode & _EXECUTABLE:
                modes.setdefault("+x", []).append(self._command_path(target))
        if modes:
            line = "; ".join(f"chmod {mode} -- {shlex.join(targets)}" for mode, targets in modes.items())
            self._workspace.run([self._shell(), "-c", line], limits=self._limits)

    def solve(self) -> None:
        """Make the gold result: lay its files, then run its script, if there is one."""
        self.lay("solution")
        script = self._access.read("solution", SOLVE)
        if script is not None:
            self.solving = self.run_script(script, ".solve.sh")

    def run_script(self, script: bytes, name: str) -> Finished:
        """Run a shell script that is there for as long as it runs."""
        place = self._at(name)
        self._workspace.write(place, script)
        finished = self.run(f"sh {shlex.quote(self._command_path(place))}")
        if self._workspace.exists(place):
            self._workspace.remove(place)
        return finished

    solving: Finished | None = None
    """How the script of the gold result ended; `None` if there is none."""


def limits_of(case: TriageCase) -> Limits:
    """Return the limits of one command of a case."""
    own = case.file.limits
    return Limits(
        seconds=own.seconds, memory_mb=own.memory_mb, processes=own.processes, disk_mb=own.disk_mb, file_mb=own.disk_mb
    )


@cache
def _toolchain() -> Toolchain:
    return python_toolchain()


@cache
def _shell() -> str:
    """Return the shell that runs lines: tests are often written for bash, if there is one."""
    return shutil.which("bash", path=os.pathsep.join(("/usr/bin", "/bin"))) or "sh"

"""Replicas of a case: copies of its files in which commands run sandboxed, under the limits of the case."""

import os
import shlex
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path

from msgspec.structs import replace

from misstep_harness.beneath import read_file
from misstep_harness.errors import InputError, TimeSpent, UnsafePath
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.packages import Packages
from misstep_harness.triage.protocols import Result
from misstep_harness.triage.records import SOLVE, Part, TriageCase
from misstep_harness.triage.texts import LARGEST_FILE, FilesOfCase
from misstep_harness.workspace import Finished, Limits, Sandbox, Toolchain, Workspace, open_workspace, python_toolchain
from misstep_harness.workspace.trees import walk

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

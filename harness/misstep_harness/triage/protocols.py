"""What a triage judge may use, by its access: each kind of access has all that the one before it has."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol, runtime_checkable

from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.records import Part, TriageCase
from misstep_harness.workspace import Finished, Limits

Result = Literal["environment", "workspace", "solution"]
"""What a replica begins with: the files as the agent found them, as it left them, or the gold result."""


class TextAccess(Protocol):
    """The texts of a case: what was asked, the run, and what the harness wrote."""

    @property
    def case(self) -> TriageCase:
        """Return the case; a judge uses of it what its access gives."""

    @property
    def instruction(self) -> str:
        """Return what the agent was asked; empty where it is not known."""

    @property
    def trajectory(self) -> Trajectory | None:
        """Return the run, if there is one."""

    @property
    def logs(self) -> Mapping[str, str]:
        """File name → text of the logs, such as `tests.log` and `harness.log`; long ones are cut in the middle."""

    @property
    def attached(self) -> Mapping[str, str]:
        """Path → text of the tests and of the gold solution, as far as they are shown."""


@runtime_checkable
class ReadOnlyAccess(TextAccess, Protocol):
    """The files of a case besides; nothing can be changed."""

    def files(self, part: Part) -> tuple[str, ...]:
        """Return the paths of all regular files in a part, sorted; none if the case has no such part."""

    def read(self, part: Part, path: str) -> bytes | None:
        """Return the content of a file; `None` if there is none, or it is a link or too large."""


class Replica(Protocol):
    """A copy of a result in which commands run sandboxed, under the limits of the case."""

    solving: Finished | None
    """How the script of the gold result ended; `None` if there is none."""

    def run(self, command: str, limits: Limits | None = None) -> Finished:
        """Run a shell line in it, after the case's setup command."""

    def test(self) -> Finished:
        """Lay the tests of the case into `tests/` as they are, and run its test command."""

    def test_as_is(self) -> Finished:
        """Run the test command on the files in `tests/` now, so that changed tests can be tried."""

    def files(self) -> Sequence[str]:
        """Return the paths of all regular files, sorted."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, as `ReadOnlyAccess.read`."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file."""


@runtime_checkable
class SandboxAccess(ReadOnlyAccess, Protocol):
    """A replica of the environment besides, in which a judge runs, changes and repeats what it likes."""

    def replica(self, result: Result, tests: bool = True) -> AbstractContextManager[Replica]:
        """Return a fresh replica of a result, thrown away at the end; with `tests`, the tests are in `tests/`."""

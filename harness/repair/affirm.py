"""Whether a case holds: its tests fail on the broken tree and pass once the golden patch is applied (section 4.1)."""

import time

from msgspec import Struct

from harness.edits import apply_edit
from harness.errors import EditRefused
from harness.repair.case import GOLDEN, CaseFolder
from harness.repair.scoring import open_case, oracle_report, original_reader, put_files
from harness.workspace import Sandbox


class Affirmed(Struct, frozen=True):
    """What affirming a case found: why it does not hold, empty where it does, and how long it took."""

    reason: str
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether the case may count."""
        return not self.reason


def affirm(folder: CaseFolder, sandbox: Sandbox, runs: int = 1) -> Affirmed:
    """Run a case's oracle before and after its golden patch; without one, before alone.

    Parameters
    ----------
    folder, sandbox
        The case, and where its tests run.
    runs
        How often each has to come out as it should.

    Raises
    ------
    SandboxFailed
        The tests were never started.
    """
    started = time.monotonic()
    reason = _reason(folder, sandbox, runs)
    return Affirmed(reason, round(time.monotonic() - started, 3))


def _reason(folder: CaseFolder, sandbox: Sandbox, runs: int) -> str:
    with open_case(folder, sandbox) as workspace:
        untouched = workspace.take()
        for _ in range(runs):
            if oracle_report(workspace, folder.case).passed:
                return "the oracle's tests pass on the broken tree"
            workspace.restore(untouched)
        golden = folder.golden()
        if golden is None:
            return ""
        try:
            applied = apply_edit("unified_diff", golden, original_reader(folder))
        except EditRefused as error:
            return f"{GOLDEN} cannot be applied: {error.line()}"
        put_files(workspace, {path: None if text is None else text.encode() for path, text in applied.files.items()})
        mended = workspace.take()
        for _ in range(runs):
            report = oracle_report(workspace, folder.case)
            if not report.passed:
                return f"the oracle's tests fail with the golden patch: {report.feedback(500)}"
            workspace.restore(mended)
    return ""

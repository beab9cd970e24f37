"""Whether a case is what it claims: its oracle fails on the broken tree and passes with the golden patch (section 4).

A run affirms each case again before it counts.
"""

from msgspec import Struct

from harness.edits import apply_edit
from harness.errors import MisstepError
from harness.repair.case import CaseFolder
from harness.repair.scoring import open_case, oracle_report, original_reader, put_files
from harness.workspace import Sandbox
from harness.workspace.suite_report import SuiteReport


class Affirmed(Struct, frozen=True, omit_defaults=True):
    """What the runs of a case's oracle found; `reason` says why the case does not hold."""

    holds: bool
    reason: str = ""
    seconds: float = 0.0
    before: tuple[SuiteReport, ...] = ()


def affirm(folder: CaseFolder, sandbox: Sandbox, runs: int = 1) -> Affirmed:
    """Run a case's oracle without and with its golden patch, each `runs` times, in the sandbox.

    A case without a golden patch is affirmed where its oracle fails. An oracle that was stopped by a limit has failed
    only where the patch makes it pass.

    Raises
    ------
    SandboxFailed
        A command was never started.
    """
    case = folder.case
    golden = folder.golden()
    texts: dict[str, bytes | None] = {}
    if golden is not None:
        try:
            applied = apply_edit("unified_diff", golden, original_reader(folder))
        except MisstepError as error:
            return Affirmed(False, f"the golden patch does not apply: {error.line()}")
        texts = {path: None if text is None else text.encode() for path, text in applied.files.items()}
    before: list[SuiteReport] = []
    seconds = 0.0
    with open_case(folder, sandbox) as workspace:
        start = workspace.take()
        for number in range(1, 2 * runs + 1):
            broken = number <= runs
            if number == runs + 1:
                if golden is None:
                    break
                put_files(workspace, texts)
                start = workspace.take()
            report = oracle_report(workspace, case)
            workspace.restore(start)
            seconds += report.seconds
            if broken:
                before.append(report)
            if report.passed == broken:
                said = "passes on the broken tree" if broken else f"fails with the golden patch: {report.feedback(500)}"
                return Affirmed(False, f"the oracle {said}", round(seconds, 3), tuple(before))
    return Affirmed(True, seconds=round(seconds, 3), before=tuple(before))

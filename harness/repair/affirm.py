"""Affirm that a case's oracle fails on the broken tree and passes with the golden patch (section 4)."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.edits import apply_edit
from misstep.harness.errors import MisstepError
from misstep.harness.repair.case import CaseFolder
from misstep.harness.repair.scoring import RUNS, flakiness, open_case, oracle_reports, original_reader, put_files
from misstep.harness.workspace import Sandbox
from misstep.harness.workspace.suite_report import SuiteReport


class Affirmed(Struct, frozen=True, omit_defaults=True):
    """The runs of a case's oracle; `reason` is why it does not hold, `flaky` that its answers differ."""

    holds: bool
    reason: str = ""
    flaky: bool = False
    seconds: float = 0.0
    before: tuple[SuiteReport, ...] = ()


def affirm(folder: CaseFolder, sandbox: Sandbox, runs: int = RUNS) -> Affirmed:
    """Run a case's oracle without and with its golden patch, each `runs` times, in the sandbox.

    A case without a golden patch is affirmed where its oracle fails. An oracle that was stopped by a limit has failed
    only where the patch makes it pass.
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
    with open_case(folder, sandbox) as workspace:
        before = oracle_reports(workspace, case, runs)
        outcome = _judged(before, "on the broken tree", passes=False)
        reports = before
        if outcome.holds and golden is not None:
            put_files(workspace, texts)
            after = oracle_reports(workspace, case, runs)
            outcome = _judged(after, "with the golden patch", passes=True)
            reports = [*before, *after]
    return replace(outcome, seconds=round(sum(report.seconds for report in reports), 3), before=tuple(before))


def _judged(reports: Sequence[SuiteReport], where: str, *, passes: bool) -> Affirmed:
    if differ := flakiness(reports):
        return Affirmed(False, f"the oracle is flaky: {where} it {differ}", flaky=True)
    if reports[0].passed == passes:
        return Affirmed(True)
    result = f"fails {where}: {reports[0].feedback(500)}" if passes else f"passes {where}"
    return Affirmed(False, f"the oracle {result}")

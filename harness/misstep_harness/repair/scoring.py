"""Lay a case out in a workspace, affirm that it holds, and ask the validators about a patch for it.

A patch is scored on a fresh workspace in which the oracle's own files are those of the case, so that a weakened test
mends nothing. Where an agent may change tests they are the patch's, and a signal says what those of the case find.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.edits import apply_edit
from misstep_harness.errors import MisstepError
from misstep_harness.repair import validators
from misstep_harness.repair.case import CHANGE_TESTS, CaseFolder, RepairCase
from misstep_harness.repair.records import HELD_OUT_TESTS, SUITE, UNCHANGED_TESTS, Signal
from misstep_harness.repair.validators import StaticAnalysis, analyzers, is_test_file, ruff_folders
from misstep_harness.workspace import (
    Limits,
    Sandbox,
    Toolchain,
    Workspace,
    open_workspace,
    project_toolchain,
    python_toolchain,
)
from misstep_harness.workspace.showing import Showing
from misstep_harness.workspace.suite.report import SuiteReport
from misstep_harness.workspace.suite.run import run_suite

RUNS = 3
"""How often an oracle is run where its answer counts: one that answers otherwise each time says nothing of a patch."""

_SUITE_TIMES = 4


def case_toolchain(folder: CaseFolder, show: Sequence[Path]) -> Toolchain:
    """Return the interpreter of the project that a run found, or that the user shows, else Misstep's own."""
    if folder.toolchain is not None:
        return folder.toolchain
    checkout, python = (folder.case.extra.get(name) for name in ("checkout", "python"))
    shown = Showing(show=tuple(show))
    if not isinstance(checkout, str) or not shown.names(Path(checkout)):
        return python_toolchain()
    named = Path(python) if isinstance(python, str) and shown.names(Path(python)) else None
    others = [each for each in show if not Path(checkout).resolve().is_relative_to(each)]
    return project_toolchain(Path(checkout), folder.case.test_command, named, others)


def open_case(folder: CaseFolder, sandbox: Sandbox) -> Workspace:
    """Return a workspace with the broken tree of a case, in which `python` is an interpreter with pytest."""
    toolchain = case_toolchain(folder, sandbox.show)
    # A case gives the same result each time; the failure bot leaves hashes free, to see tests that are flaky by them.
    environment = {**toolchain.environment, "PYTHONHASHSEED": "0"}
    read_only = (*toolchain.read_only, *ruff_folders())
    return open_workspace(
        folder.before, sandbox=sandbox, read_only=read_only, environment=environment, checkout=toolchain.checkout
    )


def oracle_report(workspace: Workspace, case: RepairCase) -> SuiteReport:
    """Return what the oracle's tests find in a workspace."""
    limits = Limits(seconds=case.timeout_seconds)
    return run_suite(workspace, case.test_command, case.oracle, limits, how="either" if case.alone else "whole")


def oracle_reports(
    workspace: Workspace, case: RepairCase, runs: int = RUNS, *, until: bool | None = None
) -> list[SuiteReport]:
    """Run the oracle so many times from one state, or up to the first that passes or fails as `until` says."""
    start = workspace.take()
    reports: list[SuiteReport] = []
    while len(reports) < runs and not (reports and reports[-1].passed is until):
        reports.append(oracle_report(workspace, case))
        workspace.restore(start)
    return reports


def flakiness(reports: Sequence[SuiteReport]) -> str:
    """Return how the runs of an oracle from one state differ, in words; empty where they agree."""
    failed = sum(not report.passed for report in reports)
    if 0 < failed < len(reports):
        return f"fails in {failed} of {len(reports)} runs"
    counts = sorted({len(report.failed) for report in reports if report.ended == "exited"})
    return f"fails with {' or '.join(map(str, counts))} tests in {len(reports)} runs" if len(counts) > 1 else ""


def static_analysis(folder: CaseFolder, workspace: Workspace) -> StaticAnalysis | None:
    """Return the checkers for a case's language on its workspace; `None` where none is known."""
    case = folder.case
    checkers = analyzers(case.language, python_toolchain().python, str(case.extra.get("static_analysis", "")))
    return StaticAnalysis(workspace, original_reader(folder), checkers) if checkers else None


def score(
    folder: CaseFolder, texts: Mapping[str, bytes | None], patch: str, sandbox: Sandbox
) -> tuple[SuiteReport, tuple[Signal, ...]]:
    """Return whether the oracle's tests pass with a patch each time, and what each validator says of it.

    `texts` are the files as the agent left them, `None` where one is gone. The files of the oracle stay as they were,
    unless the case lets an agent change tests.
    """
    case = folder.case
    own = validators.oracle_files(case.oracle, texts)
    with open_case(folder, sandbox) as workspace:
        workspace.put_files({path: text for path, text in texts.items() if path not in own})
        unchanged: tuple[Signal, ...] = ()
        if own and case.extra.get(CHANGE_TESTS) is True:
            (before,) = oracle_reports(workspace, case, 1)
            text = " pass too" if before.passed else f": {before.feedback(1_000)}"
            unchanged = (Signal(UNCHANGED_TESTS, before.passed, f"the tests as they were{text}"),)
            workspace.put_files({path: texts[path] for path in own})
        reports = oracle_reports(workspace, case, until=False)
        report, is_flaky = reports[-1], len(reports) > 1 and not reports[-1].passed
        without_tests = signals_without_tests(folder, workspace, tuple(texts), patch)
        second = _second_signals(folder, workspace, report, sandbox) if report.passed and texts else ()
    finding = "" if report.passed else report.feedback(2_000)
    if is_flaky:
        finding = f"passes {len(reports) - 1} times, then fails: {finding}"
    oracle = Signal("oracle", None if is_flaky else report.passed, finding)
    return report, (oracle, *unchanged, *without_tests, *second)


def signals_without_tests(
    folder: CaseFolder, workspace: Workspace, changed: Sequence[str], patch: str, *, static: bool = True
) -> tuple[Signal, ...]:
    """Return what the validators say that run no test: of the files that a patch changed, and of the patch."""
    case, signals = folder.case, []
    if static:
        analysis = static_analysis(folder, workspace)
        unknown = Signal("static_analysis", None, "no checker is known for this language")
        signals.append(analysis.signal(changed) if analysis else unknown)
    signals.append(validators.changed_tests_signal(changed, case.oracle))
    reverts = (validators.revert_signal(patch, blamed) for blamed in case.diffs.values())
    signals += sorted(reverts, key=lambda each: each.score or 0, reverse=True)[:1]
    return tuple(signals)


def _second_signals(
    folder: CaseFolder, workspace: Workspace, oracle: SuiteReport, sandbox: Sandbox
) -> tuple[Signal, ...]:
    suite = _suite_signal(folder, workspace, oracle, sandbox)
    if not (held_out := folder.held_out()):
        return (suite,)
    workspace.put_files(held_out)
    limits = Limits(seconds=_SUITE_TIMES * folder.case.timeout_seconds)
    report = run_suite(workspace, folder.case.test_command, tuple(filter(is_test_file, held_out)), limits)
    text = "the tests that were held out pass" if report.passed else report.feedback(2_000)
    return suite, Signal(HELD_OUT_TESTS, report.passed, text)


def _suite_signal(folder: CaseFolder, workspace: Workspace, oracle: SuiteReport, sandbox: Sandbox) -> Signal:
    """Return whether a test of the whole suite newly fails; a suite that is the oracle alone cannot tell."""
    case = folder.case
    limits = Limits(seconds=_SUITE_TIMES * case.timeout_seconds)
    after = run_suite(workspace, case.test_command, (), limits)
    if after.passed and after.ran is not None and oracle.ran is not None and after.ran <= oracle.ran:
        return Signal(SUITE, None, "the suite has no other test")
    if after.passed:
        return Signal(SUITE, True, f"all {after.ran} tests pass" if after.ran else "the whole suite passes")
    with open_case(folder, sandbox) as untouched:
        before = run_suite(untouched, case.test_command, (), limits)
    new = sorted({test.id for test in after.failed} - {test.id for test in before.failed})
    if after.ended != "exited" or (not after.failed and before.exit_code == 0):
        return Signal(SUITE, False, after.feedback(2_000))
    text = f"newly failing: {', '.join(new)}" if new else "no test fails that did not fail before"
    return Signal(SUITE, not new, text)


def original_reader(folder: CaseFolder) -> Callable[[str], str | None]:
    """Return the text of a file of the broken tree; `None` if there is none or it is not text."""

    def read(path: str) -> str | None:
        content = folder.text(path)
        with suppress(UnicodeDecodeError):
            return None if content is None else content.decode()
        return None

    return read


class Affirmed(Struct, frozen=True, omit_defaults=True):
    """The runs of a case's oracle; `reason` is why it does not hold, `flaky` that its answers differ."""

    holds: bool
    reason: str = ""
    flaky: bool = False
    seconds: float = 0.0
    before: tuple[SuiteReport, ...] = ()


def affirm(folder: CaseFolder, sandbox: Sandbox, runs: int = RUNS) -> Affirmed:
    """Run a case's oracle without and with its golden patch, each `runs` times, in the sandbox."""
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
        after: list[SuiteReport] = []
        outcome = _judged(before, "on the broken tree", passes=False)
        if outcome.holds and golden is not None:
            workspace.put_files(texts)
            after = oracle_reports(workspace, case, runs)
            outcome = _judged(after, "with the golden patch", passes=True)
    seconds = round(sum(report.seconds for report in (*before, *after)), 3)
    return replace(outcome, seconds=seconds, before=tuple(before))


def _judged(reports: Sequence[SuiteReport], where: str, *, passes: bool) -> Affirmed:
    if differ := flakiness(reports):
        return Affirmed(False, f"the oracle is flaky: {where} it {differ}", flaky=True)
    if reports[0].passed == passes:
        return Affirmed(True)
    result = f"fails {where}: {reports[0].feedback(500)}" if passes else f"passes {where}"
    return Affirmed(False, f"the oracle {result}")

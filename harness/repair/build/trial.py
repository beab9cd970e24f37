"""Which tests of a package newly fail once some of its files are broken, in one sandboxed run.

A run of pytest ends as soon as more tests have failed than an oracle may have, writes no tracebacks, and may take a few
times as long as the whole suite did: a fault that makes tests hang is no fault that they report.
"""

from collections.abc import Mapping, Sequence

from misstep.harness.repair.build.tracing import Traced, failing_files, test_of, untouched
from misstep.harness.repair.build.writing import CaseSource
from misstep.harness.repair.scoring import open_case, put_files
from misstep.harness.workspace import Limits, Sandbox, Workspace
from misstep.harness.workspace.suite_command import runner_of
from misstep.harness.workspace.suite_run import run_suite

MOST_TESTS = 25
"""More newly failing tests than this are no failure of a test, but a package that does not work."""

_MOST_NAMED = 150
_START, _TIMES = 5.0, 4.0
"""Seconds that a run may take, and how many times as long as the whole traced suite it may take besides."""

_PLUGIN = "misstep_trial"
_STOPPER = """\
failed, sessions = set(), []

def pytest_sessionstart(session):
    sessions.append(session)

def pytest_runtest_logreport(report):
    if report.failed:
        failed.add(report.nodeid.partition("[")[0])
    if len(failed) > {most}:
        sessions[0].shouldstop = "more tests failed than an oracle has"
"""


def oracle_of(
    source: CaseSource, broken: Mapping[str, bytes], tests: Sequence[str], traced: Traced, sandbox: Sandbox
) -> tuple[str, ...]:
    """Those of some tests that fail with broken files and did not before; none where nothing, or too much, fails.

    Where a module of tests cannot be imported any more, the files of all the tests are named.
    """
    with open_case(untouched(source.tree, source.package), sandbox) as workspace:
        put_files(workspace, broken)
        if runner_of(source.package.test_command) == "junit":
            failed = failing_files(workspace, tests, MOST_TESTS)
        else:
            failed = _failing_tests(workspace, source.package.test_command, tests, traced)
    failed -= {*traced.failing}
    if not failed <= {*traced.lines}:
        failed = {test.partition("::")[0] for test in tests}
    return tuple(sorted(failed)) if len(failed) <= MOST_TESTS else ()


def _failing_tests(workspace: Workspace, command: str, tests: Sequence[str], traced: Traced) -> set[str]:
    most = MOST_TESTS + len(traced.failing)
    workspace.write(f"{_PLUGIN}.py", _STOPPER.format(most=most).encode())
    named = tests if len(tests) <= _MOST_NAMED else []
    limits = Limits(seconds=_START + _TIMES * traced.seconds)
    report = run_suite(workspace, f"{command} --tb=no -p {_PLUGIN}", named, limits)
    return {test_of(test.id) for test in report.failed}

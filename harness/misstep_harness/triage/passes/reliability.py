"""Passes that a state of the harness gave: the record speaks against them, or they do not come again."""

import re
import shlex
from collections.abc import Sequence
from posixpath import basename

from misstep_harness.triage.logs import TESTS_LOG, tests_log, writer_of
from misstep_harness.triage.passes.record import Doing, cut, texts_of
from misstep_harness.triage.passes.tampering import cut_end
from misstep_harness.triage.protocols import ReadOnlyAccess, SandboxAccess, TextAccess
from misstep_harness.triage.records.attribution import Evidence
from misstep_harness.triage.rules.failures import lacks_tools, read_failure
from misstep_harness.triage.rules.text import all_passed
from misstep_harness.triage.rules.verdicts import Attribution
from misstep_harness.workspace.suite.output import saw_tests

RERUNS = 2

_FAILS = re.compile(
    r"^FAILED \((?:failures|errors)=|^=+ (?:[^\n]{0,80} )?[1-9]\d{0,6} (?:failed|errors?)(?=,| in \d| ?=)"
    r"|^[ \t]{0,8}[1-9]\d{0,6} (?:failed|failing)\b|^Traceback \(most recent call last\):"
    r"|^(?:AssertionError|E {1,8}assert)\b",
    re.MULTILINE,
)
_TEST_NAME = re.compile(r"\btest_\w+")


def unreliable_in_texts(access: TextAccess) -> Attribution | None:
    """Return a log of the tests that speaks against the recorded pass."""
    own = tests_log(access.logs)
    log = own.text if writer_of(own.name) == "tests" else ""
    failure, match = read_failure(log), _FAILS.search(log)
    if failure.tests or (match is not None and not all_passed(log, failure)):
        rationale = "The run is recorded as passed, but the log of its tests reports a failure"
    elif not saw_tests(log):
        rationale, match = "The run is recorded as passed, but the log says that no test was run", None
    else:
        return None
    where = f"logs/{own.name}" + (f":{log.count(chr(10), 0, match.start()) + 1}" if match is not None else "")
    shown = Evidence("log", where, cut_end(log) if match is None else cut(log[match.start() :]))
    return _unreliable(f"{rationale}: another run has to tell.", [shown], 0.85)


def unreliable_in_files(access: ReadOnlyAccess) -> Attribution | None:
    """Return a log that names tests which the case does not have: other tests were run."""
    tests = texts_of(access, "tests")
    known = set(_TEST_NAME.findall("\n".join([*tests, *tests.values()])))
    named = set(_TEST_NAME.findall(access.logs.get(TESTS_LOG, "")))
    foreign = sorted(named - known)
    if not known or not foreign or known & named - {name for name in known if f"{name}.py" in tests}:
        return None
    why = f"The log of the tests names {foreign[0]}, which the tests do not have: it is of another version of them."
    return _unreliable(why, [Evidence("log", f"logs/{TESTS_LOG}", foreign[0])], 0.7)


def unreliable_by_running(access: SandboxAccess) -> Attribution | None:
    """Return the agent's result does not pass when the tests are run again, or not each time."""
    runs = []
    for _ in range(RERUNS):
        with access.replica("workspace", tests=False) as replica:
            runs.append(replica.test())
    failed = [run for run in runs if run.exit_code != 0]
    if not failed:
        return None
    shown = [Evidence("command", access.case.file.test_command, cut_end(failed[0].output))]
    if len(failed) == len(runs):
        why = f"The run is recorded as passed, but its result fails the tests in each of {len(runs)} clean reruns."
        return _unreliable(why, shown, 0.9)
    why = f"The result passes {len(runs) - len(failed)} of {len(runs)} clean reruns of the tests, and fails the rest."
    return _unreliable(why, shown, 0.85)


def tests_run(access: SandboxAccess) -> bool:
    """Return whether any test runs on the result; an image seldom has all that a network brings to its tests."""
    with access.replica("workspace", tests=False) as replica:
        done = replica.test()
    return done.exit_code == 0 or (saw_tests(done.output) and not lacks_tools(done.output))


def leftovers(access: SandboxAccess, done: Sequence[Doing]) -> Attribution | None:
    """Files that no command of the agent made, and without which its result fails: something was left from before."""
    if access.case.part("environment") is None or not done:
        return None
    environment, gold = set(access.files("environment")), texts_of(access, "solution")
    typed = "\n".join(doing.typed for doing in done) + "\n".join([*gold, *gold.values()])
    foreign = [path for path in access.files("workspace") if path not in environment and basename(path) not in typed]
    foreign = [path for path in foreign if not re.search(r"__pycache__|\.pyc$|(?:^|/)\.", path)]
    if not foreign:
        return None
    with access.replica("environment", tests=False) as replica:
        lines = [f"( sh -c {shlex.quote(doing.line)} ) </dev/null >/dev/null 2>&1" for doing in done if doing.line]
        replica.run("\n".join(lines))
        files = set(replica.files())
        foreign = [path for path in foreign if path not in files]
    if not foreign:
        return None
    with access.replica("workspace", tests=False) as replica:
        replica.run(shlex.join(["rm", "-f", "--", *foreign]))
        finished = replica.test()
    if finished.exit_code == 0:
        return None
    rationale = f"The tests pass only with {foreign[0]}, which was not given and which no command of the agent makes."
    left = (access.read("workspace", foreign[0]) or b"").decode(errors="replace")
    shown = [
        Evidence("file", f"workspace/{foreign[0]}", cut(left)),
        Evidence("command", access.case.file.test_command, cut_end(finished.output)),
    ]
    return _unreliable(rationale, shown, 0.85)


def _unreliable(rationale: str, shown: Sequence[Evidence], score: float) -> Attribution:
    return Attribution("infrastructure", "harness_bug", score, rationale, tuple(shown))

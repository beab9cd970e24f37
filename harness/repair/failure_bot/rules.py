"""Decide whether the agent is to run on a task, and if not, which rules say no and why.

The paper's agent published mends for tests that were mended already, or flaky: it was given a further run of the test
before the start, and simple rules (section 9.2). A rule looks at facts measured at the head; none asks a model.
A failure by what the environment lacks (time, a network, a package) blames nobody.
"""

import re
from collections.abc import Callable, Collection

from msgspec import Struct

from misstep.harness.repair.failure_bot.flakiness import Flakiness
from misstep.harness.repair.failure_bot.tasks import RepairTask
from misstep.harness.workspace.suite_report import STOPPED, FailedTest, SuiteReport, last_line

TIME_LIMIT, NO_NETWORK, MISSING_PACKAGE, NO_TEST = "time_limit", "no_network", "missing_package", "no_test_seen"
ENDS = frozenset({TIME_LIMIT, NO_NETWORK, MISSING_PACKAGE, NO_TEST})
"""The rules that say of a failure that it is the environment's."""

_UNREACHABLE = re.compile(
    r"(?:temporary failure in name resolution|name or service not known|nodename nor servname|no address associated"
    r"|network is (?:unreachable|down)|no route to host|could not resolve (?:host|proxy)"
    r"|getaddrinfo(?: \w+)? (?:failed|E)"
    r"|\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH)\b|\bgaierror\b|no such host|unknownhostexception"
    r"|failed to lookup address|name resolution (?:error|failed)|failed to resolve ['\"])",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"connection refused|\bECONNREFUSED\b|connectionrefusederror", re.IGNORECASE)
_ASSERTED = re.compile(r"(?:[\w.]*AssertionError|ERR_ASSERTION|assert\b|Expected values|Failed: DID NOT)")
_LACKING = re.compile(
    r"No module named '?([\w.]{1,200})|Cannot find (?:module|package) '((?![./])[^'\n]{1,200})'"
    r"|no required module provides package ([\w./-]{1,200})|cannot load such file -- ([\w/-]{1,200})"
)
_DECLARING = re.compile(
    r"(?:^|/)(?:[\w.-]*requirements[\w.-]*\.(?:txt|in)|requirements/[^/]+|pyproject\.toml|setup\.(?:py|cfg)|Pipfile"
    r"|environment\.ya?ml|package\.json|go\.mod|Gemfile)$"
)
_TESTS_TIME = "Give more with --test-seconds, or look at what waits"


class Situation(Struct, frozen=True):
    """The facts about a task before the agent would start; `failed_at_head` is `None` if its tests were not run."""

    task: RepairTask
    failed_at_head: bool | None = None
    commits_since: int = 0
    flakiness: Flakiness | None = None
    blamed: bool = True


class Objection(Struct, frozen=True):
    """A rule that says no, and why."""

    rule: str
    reason: str


class RuleDecision(Struct, frozen=True):
    """Every rule that says no; the agent runs if there is none."""

    objections: tuple[Objection, ...]

    @property
    def run(self) -> bool:
        """Return whether the agent is to run."""
        return not self.objections


def decide(situation: Situation) -> RuleDecision:
    """Ask every rule."""
    task, since, flaky = situation.task, situation.commits_since, situation.flakiness
    state = flaky.state if flaky else ""
    share = f"{flaky.failures} of {flaky.runs} runs (posterior {flaky.flaky:.0%})" if flaky else ""
    untold = f"{flaky.runs} runs do not tell whether the test is flaky (posterior {flaky.flaky:.0%})" if flaky else ""
    passes = situation.failed_at_head is False
    is_untold = state == "undecided" and flaky is not None and not flaky.unseen  # what no rerun sees cannot be told
    rules = (
        (task.state != "open", "task_closed", f"the task is {task.state}"),
        (task.attached_diff.strip(), "diff_attached", f"a diff is attached to task {task.id}: review that one first"),
        (
            passes and since,
            "fix_landed",
            f"the tests pass at the head, {since} commit{'s' * (since != 1)} later: a fix has landed",
        ),
        (passes and not since, "not_reproducible", "the tests do not fail at the commit of the task"),
        (state == "flaky", "flaky", f"the test is flaky: it failed in {share}"),
        (is_untold, "flakiness_undecided", untold),
        (
            not situation.blamed,
            "no_change_to_blame",
            "no change is to blame: none was found after which the tests fail",
        ),
    )
    return RuleDecision(tuple(Objection(rule, reason) for holds, rule, reason in rules if holds))


def stopped_by(report: SuiteReport) -> Objection | None:
    """Return the limit that ended a run of all tests before it said anything."""
    if report.ended in ("exited", "signal"):
        return None
    line = last_line(report.output)[:200]
    after = f" after {report.seconds:.0f} s" if report.ended == "time" else ""
    last = f"; the last that they printed is {line!r}" if line else ""
    advice = f". {_TESTS_TIME}" if report.ended == "time" else ""
    return Objection(TIME_LIMIT, f"the tests were stopped{after}: {STOPPED[report.ended]}{last}{advice}")


def lacking(
    test: FailedTest, paths: Collection[str], text: Callable[[str], str | None], *, has_passed: bool | None = None
) -> Objection | None:
    """Return what a failure says that the environment lacks."""
    output = f"{test.message}\n{test.trace}"
    never = has_passed is False
    is_asserted = _ASSERTED.match(test.message.removeprefix("[").strip()) is not None
    if not is_asserted and (match := _UNREACHABLE.search(output)):
        reason = "the test needs a network, which the sandbox does not give"
        return Objection(NO_NETWORK, f"{reason} ({_line_of(output, match)})")
    if never and not is_asserted and (match := _REFUSED.search(output)):
        return Objection(NO_NETWORK, f"the test needs a server that does not answer ({_line_of(output, match)})")
    for match in _LACKING.finditer(output):
        name = next(filter(None, match.groups()))
        top = re.split(r"[./]", name)[0]
        is_own = any(f"/{path}".endswith(f"/{top}.py") or f"/{top}/" in f"/{path}" for path in paths)
        word = re.compile(rf"(?<![\w-]){re.escape(top).replace('_', '[-_]')}(?![\w-])", re.IGNORECASE)
        declaring = (path for path in paths if _DECLARING.search(path))
        if not is_own and (never or any(word.search(text(path) or "") for path in declaring)):
            advice = "Install it into the project's environment, or name another by --python"
            advice = advice if match[1] else "Install it into `node_modules`, or commit it"
            return Objection(MISSING_PACKAGE, f"the package {name!r} is not installed. {advice}")
    return None


def silent(output: str) -> Objection:
    """Return the objection to a command in which no test was seen at any commit."""
    return Objection(NO_TEST, f"no test was seen at any commit; the last line is {last_line(output)[:300]!r}")


def _line_of(text: str, match: re.Match[str]) -> str:
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    return text[start : end if end >= 0 else None].strip()[:200]

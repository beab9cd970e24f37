"""Decide whether the agent is to run on a task, and if not, which rules object and why.

The paper's agent published mends for tests that were mended already, or flaky: it was given a further run of the test
before the start, and simple rules (section 9.2). A rule looks at facts measured at the head; none asks a model.
A failure by what the environment lacks (time, a network, a package) blames nobody.

Reruns at one commit tell whether a test fails, passes or is flaky. It has one outcome, or every run fails with one
unknown probability; the posterior is closed. (The idea of a probability in place of a verdict: "How do you test your
tests?", Meta 2020.)
"""

import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.repair.failure_bot.tasks import RepairTask
from misstep_harness.workspace.suite.report import STOPPED, FailedTest, SuiteReport, last_line

State = Literal["failing", "flaky", "passing", "undecided"]

_FLAKY = 0.16
"""How likely a test is flaky before any run: the share at Google (Micco 2016). The others fail or pass alike."""

_CONFIDENCE = 0.95
_MOST_RUNS = 20
_MOST_UNSEEN = 2
"""After how many runs that say nothing of a test no more are made."""


class Flakiness(Struct, frozen=True):
    """The state of a test, with the posterior of each; `unseen` runs said nothing of it: they neither pass nor fail."""

    state: State
    failing: float
    flaky: float
    passing: float
    runs: int
    failures: int
    unseen: int = 0


def estimate(failures: int, runs: int) -> Flakiness:
    """Return the posterior after so many failures in so many runs at one commit, any rate of a flaky test alike."""
    passes, steady = runs - failures, (1 - _FLAKY) / 2
    weights: dict[State, float] = {
        "failing": steady * (passes == 0),
        "flaky": _FLAKY * math.exp(math.lgamma(1 + failures) + math.lgamma(1 + passes) - math.lgamma(2 + runs)),
        "passing": steady * (failures == 0),
    }
    shares = {name: weight / sum(weights.values()) for name, weight in weights.items()}
    likely: Iterator[State] = (name for name, share in shares.items() if share >= _CONFIDENCE)
    state: State = next(likely, "undecided")
    return Flakiness(state, shares["failing"], shares["flaky"], shares["passing"], runs, failures)


def rerun(run: Callable[[Sequence[str]], Mapping[str, bool]], tests: Sequence[str]) -> dict[str, Flakiness]:
    """Run tests that failed once again, until the state of each is known or the runs are used up.

    `run` says of tests whether they failed; of one that it does not name it says nothing.
    """
    states = {test: estimate(1, 1) for test in tests}
    for _ in range(_MOST_RUNS - 1):
        undecided = {
            test: state
            for test, state in states.items()
            if (state.state == "undecided" or state.runs + state.unseen == 1) and state.unseen < _MOST_UNSEEN
        }
        has_failed = run(list(undecided)) if undecided else {}
        for test, state in undecided.items():
            if test in has_failed:
                again = estimate(state.failures + has_failed[test], state.runs + 1)
                states[test] = replace(again, unseen=state.unseen)
            else:
                states[test] = replace(state, unseen=state.unseen + 1)
    return states


TIME_LIMIT, NO_NETWORK, MISSING_PACKAGE, NO_TEST = "time_limit", "no_network", "missing_package", "no_test_seen"

_UNREACHABLE = re.compile(
    r"(?:temporary failure in name resolution|name or service not known|nodename nor servname|no address associated"
    r"|network is (?:unreachable|down)|no route to host|could not resolve (?:host|proxy)"
    r"|getaddrinfo(?: \w+)? (?:failed|E)"
    r"|\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH)\b|\bgaierror\b|no such host|unknownhostexception"
    r"|failed to lookup address|name resolution (?:error|failed)|failed to resolve ['\"])",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"connection refused|\bECONNREFUSED\b|connectionrefusederror|could not connect to (?:the )?(?:server|database)"
    r"|can't connect to (?:local )?\w+ server|cannot connect to the docker daemon|serverselectiontimeouterror"
    r"|connection to server (?:at|on) [^\n]{1,200} failed",
    re.IGNORECASE,
)
_PROGRAM = r"[A-Za-z][\w+-]{0,60}(?:\.\d[\d.]{0,9})?"


class _Need(Struct, frozen=True):
    rule: str
    reason: str
    patterns: tuple[str, ...]

    def compiled(self) -> re.Pattern[str]:
        """Return one pattern for all."""
        return re.compile("|".join(self.patterns).replace("PROGRAM", _PROGRAM), re.MULTILINE)


_NEEDS = tuple(
    (need, need.compiled())
    for need in msgspec.toml.decode(
        Path(__file__).with_name("environment_needs.toml").read_bytes(), type=dict[str, tuple[_Need, ...]]
    )["need"]
)
"""What else an environment may lack: the rule, what is said of it, and how a failure at every commit shows it."""
ENDS = frozenset({TIME_LIMIT, NO_NETWORK, MISSING_PACKAGE, NO_TEST, *(need.rule for need, _ in _NEEDS)})
"""The rules that say of a failure that it is the environment's."""
_ASSERTED = re.compile(r"(?:[\w.]*AssertionError|ERR_ASSERTION|assert\b|Expected values|Failed: DID NOT)")
_LACKING = re.compile(
    r"No module named '?([\w.]{1,200})|No package metadata was found for '?([\w.-]{1,200})"
    r"|Cannot find (?:module|package) '((?![./])[^'\n]{1,200})'"
    r"|no required module provides package ([\w./-]{1,200})|cannot load such file -- ([\w/-]{1,200})"
)
_UNBUILT = re.compile(
    r"(?:ImportError(?!\W{1,3}Start directory)|ModuleNotFoundError|(?:Package|Distribution)NotFound(?:Error)?)\b[^\n]*"
    r"|fixture '[^'\n]+' not found"
    r"|unrecognized arguments: [^\n]+|[Mm]issing required plugins: [^\n]+"
    r"|async def functions are not natively supported"
)
"""What a failure at every commit says where an installation is not whole."""

_PLUGINS = {
    "--cov": "pytest-cov",
    "-n": "pytest-xdist",
    "--numprocesses": "pytest-xdist",
    "--dist": "pytest-xdist",
    "--timeout": "pytest-timeout",
    "--asyncio": "pytest-asyncio",
    "async def": "pytest-asyncio",
    "--benchmark": "pytest-benchmark",
    "'mocker'": "pytest-mock",
    "'benchmark'": "pytest-benchmark",
    "--reruns": "pytest-rerunfailures",
    "--randomly": "pytest-randomly",
    "--mypy": "pytest-mypy",
}
"""The plugins of pytest that have an option or a fixture, by how it is named where it is not known."""

_DECLARING = re.compile(
    r"(?:^|/)(?:[\w.-]*requirements[\w.-]*\.(?:txt|in)|requirements/[^/]+|pyproject\.toml|setup\.(?:py|cfg)|Pipfile"
    r"|tox\.ini|noxfile\.py|uv\.lock|poetry\.lock"
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
            task.blame_note or "no change is to blame: none was found after which the tests fail",
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


class RepositoryFiles(Struct, frozen=True):
    """What a repository has at a commit, and the shell line to which what lacks is added, to install it."""

    paths: Collection[str]
    text: Callable[[str], str | None]
    install: str


def lacking(test: FailedTest, project: RepositoryFiles, *, has_passed: bool | None = None) -> Objection | None:
    """Return what a failure says that the environment lacks; `has_passed` is false where it passed at no commit."""
    output = f"{test.message}\n{test.trace}"
    never = has_passed is False
    is_asserted = _ASSERTED.match(test.message.removeprefix("[").strip()) is not None
    if not is_asserted and (match := _UNREACHABLE.search(output)):
        reason = "the test needs a network, which the sandbox does not give"
        return Objection(NO_NETWORK, f"{reason} ({_line_of(output, match)})")
    if never and not is_asserted and (match := _REFUSED.search(output)):
        return Objection(NO_NETWORK, f"the test needs a server that does not answer ({_line_of(output, match)})")
    if never and not is_asserted and (need := _needed(test, project)):
        return need
    for match in _LACKING.finditer(output):
        name = next(filter(None, match.groups()))
        if (lack := _lacks(name, project, never=never)) is not None:
            advice = f"Run `{project.install} {lack}`, or name another environment by --python"
            advice = advice if match[1] or match[2] else "Install it into `node_modules`, or commit it"
            return Objection(MISSING_PACKAGE, f"the package {name!r} is not installed. {advice}")
    is_whole = not test.id or test.message == "collection failure"
    match = _UNBUILT.search(output if is_whole else test.message)
    if never and not is_asserted and match:
        line = _line_of(output, match)
        lack = next((plugin for word, plugin in _PLUGINS.items() if f" {word}" in f" {line}"), "-e .")
        reason = f"it was so at every commit that was tried: {line.removeprefix('E').strip(' .')}"
        advice = f"Install the project with what its tests need, as by `{project.install} {lack}`"
        return Objection(MISSING_PACKAGE, f"{reason}. {advice}")
    return None


def _needed(test: FailedTest, project: RepositoryFiles) -> Objection | None:
    """Return the program, variable, space, memory or certificate that a failure says is not there."""
    raised = [line for line in test.trace.splitlines() if line.startswith("E ")]
    said = "\n".join([test.message, *([test.trace] if not test.id else raised), last_line(test.trace)])
    for need, pattern in _NEEDS:
        if (match := pattern.search(said)) is None:
            continue
        name = next(filter(None, match.groups()), "")
        is_of_project = any(f"/{name}/" in f"/{path}/" for path in project.paths) if name else False
        is_other_key = match[0].startswith("KeyError") and "environ" not in test.trace
        if not is_of_project and not is_other_key:
            return Objection(need.rule, f"{need.reason.format(name=name)} ({_line_of(said, match)})")
    return None


def _lacks(name: str, project: RepositoryFiles, *, never: bool) -> str | None:
    """Return what installs a module: a file of requirements, an extra of the project, its own name."""
    top, place = re.split(r"[./]", name)[0], name.replace(".", "/")
    has_top, has_all = (
        any(f"/{path}".endswith(f"/{each}.py") or f"/{each}/" in f"/{path}" for path in project.paths)
        for each in (top, place)
    )
    if has_all or (has_top and not never):
        return None
    word = re.compile(rf"(?<![\w-])({_spelled(name)}|{_spelled(name if has_top else top)})(?![\w.-])", re.IGNORECASE)
    for path in sorted(filter(_DECLARING.search, project.paths)):
        text = project.text(path) or ""
        if word.search(text):
            if path.endswith((".txt", ".in")):
                return f"-r {path}"
            folder = path.rpartition("/")[0] or "."
            return f"-e '{folder}{_extra(text, word)}'" if path.endswith("pyproject.toml") else top
    return ("-e ." if has_top else top) if never else None


def _spelled(name: str) -> str:
    return re.sub(r"[._]", "[-_.]", name)


def _extra(text: str, word: re.Pattern[str]) -> str:
    """Return the extra of a project, in brackets, that has a package; empty if it is one of its own dependencies."""
    try:
        extras = tomllib.loads(text).get("project", {}).get("optional-dependencies", {})
    except (ValueError, RecursionError, AttributeError):
        return ""
    return next((f"[{name}]" for name, needed in extras.items() if any(word.match(each) for each in needed)), "")


def silent(output: str) -> Objection:
    """Return the objection to a command in which no test was seen at any commit."""
    return Objection(NO_TEST, f"no test was seen at any commit; the last line is {last_line(output)[:300]!r}")


def _line_of(text: str, match: re.Match[str]) -> str:
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    return text[start : end if end >= 0 else None].strip()[:200]

"""A project's test command as a shell line that runs chosen tests and says what it found."""

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise

from misstep.harness.errors import UsageError
from misstep.harness.workspace.suite_report import Runner

REPORT = ".misstep-report.xml"
"""Where in a workspace pytest writes its report; removed before and after each run."""

_PYTEST_OPTIONS = "-p no:cacheprovider -o junit_family=xunit1 --junit-xml="
_HERE = f'export MISSTEP_REPORT="$PWD/{REPORT}"; '
"""Keeps the place of the report for a command that goes to another folder."""

WRAPPED = f"export PYTEST_ADDOPTS=\"{_PYTEST_OPTIONS}'$PWD/{REPORT}'\"; "
"""What makes pytest write its report where a script, a Makefile or another program starts it."""

_TOOLS: tuple[tuple[Runner, re.Pattern[str]], ...] = (
    ("pytest", re.compile(r"(?:^|[\s/\"'(])(?:pytest|py\.test)(?=[\s\"')]|$)")),
    ("unittest", re.compile(r"-m\s+unittest(?=[\s\"')]|$)")),
    ("node", re.compile(r"(?:^|[\s/])node(?=\s)[^|;&]*?\s--test(?=\s|$)")),
    ("jest", re.compile(r"(?:^|[\s/])(?:jest|vitest)(?=\s|$)")),
    ("go", re.compile(r"(?:^|[\s/])go\s+test(?=\s|$)")),
)
_OWN_WORDS = re.compile(r"(?:\s+(?!\d*[<>])(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|[^\s|;&<>()'\"\\`])+)*")
"""What follows a program up to the end of its simple command."""
_WITH_VALUE = frozenset({"-k", "-p", "-s", "-t", "--pattern", "--start-directory", "--top-level-directory"})
_VITEST = re.compile(r"(?:^|[\s/])vitest(?=\s|$)")
_IS_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_NOT_IMPORTED = "unittest.loader._FailedTest."


def tool_of(command: str) -> Runner:
    """Return which framework a command names, `exit_code` where none that is known here."""
    return next((name for name, pattern in _TOOLS if pattern.search(command)), "exit_code")


def runner_of(command: str) -> Runner:
    """Return what says which tests ran: `junit` where the command names `{junit}`, the file that it writes."""
    return "junit" if "{junit}" in command else tool_of(command)


def takes_names(command: str) -> bool:
    """Return whether chosen tests can be named to a command: a framework is known, or the place where they go."""
    return tool_of(command) != "exit_code" or "{tests}" in command


def counts_tests(command: str) -> bool:
    """Return whether what a command writes or prints says how many tests ran: one that is silent has run none."""
    runner = runner_of(command)
    return runner in ("pytest", "unittest", "junit", "go") or (runner == "node" and "--test-reporter" not in command)


def names_tests(command: str, tests: Sequence[str]) -> bool:
    """Whether what is reported has the same names as the tests that were chosen, files of scripts not among them."""
    return runner_of(command) in ("pytest", "unittest", "node", "go") and not any(map(_IS_SCRIPT.search, tests))


def suite_command(command: str, tests: Sequence[str] = ()) -> str:
    """Return a shell line that runs `tests`, all of them where none is named.

    `{tests}` in the command is where they go, otherwise they follow what its framework is called with, at the end of
    the line where that is not known; `{junit}` is the file to which the command writes JUnit XML.
    """
    if not command.strip():
        raise UsageError("the test command is empty", "Give the command that runs the tests, as `python -m pytest`.")
    tool, runner = tool_of(command), runner_of(command)
    words = [unittest_name(test) for test in tests] if tool == "unittest" else list(tests)
    named = " ".join(shlex.quote(word) for word in words)
    added = [] if "{tests}" in command or not tests else [_chosen(tool, command, tests)]
    line = command.replace("{tests}", named)
    if runner == "pytest":
        added.append(f'{_PYTEST_OPTIONS}"$MISSTEP_REPORT"')
    elif runner == "unittest":
        added.append("-v")
    elif runner == "node" and "--test-reporter" not in command:
        added.append("--test-reporter=tap")
    elif runner == "go" and tests:
        added.append("-v")
    elif _VITEST.search(command):
        added.append(f"--reporter=default --reporter=junit --outputFile.junit={REPORT}")
    here = _HERE if runner == "pytest" else ""
    return here + _placed(line, tool, " ".join(filter(None, added))).replace("{junit}", REPORT)


def unittest_name(test: str) -> str:
    """A test, its class or its module as unittest names it, of an id in the form of pytest or of unittest's reports."""
    name, _, rest = test.removeprefix(_NOT_IMPORTED).partition("::")
    module = name.removesuffix(".py").replace("/", ".") if name.endswith(".py") else name
    dotted = ".".join(part for part in (module, rest.replace("::", ".")) if part)
    return re.sub(r"\.(?:setUp|tearDown)(?:Class|Module)$", "", dotted)


def as_pytest(command: str) -> str:
    """Return a command of unittest as one of pytest, which runs the same tests, without what chooses them."""
    return re.sub(rf"-m\s+unittest{_OWN_WORDS.pattern}", "-m pytest", command)


def _placed(line: str, tool: Runner, added: str) -> str:
    """Return a line with words behind those of its framework: options of node and go are before the files."""
    if not added:
        return line
    tool_words = next((pattern.search(line) for name, pattern in _TOOLS if name == tool), None)
    if tool_words is None:
        return f"{line} {added}"
    own = _OWN_WORDS.match(line, tool_words.end())
    place = own.end() if own is not None and tool not in ("node", "go") else tool_words.end()
    return f"{line[:place]} {added}{line[place:]}"


def _of_unittest(command: str, tests: Sequence[str]) -> str:
    """Names, where the command has none of its own and searches nowhere; otherwise patterns for what it finds."""
    tool = dict(_TOOLS)["unittest"].search(command)
    own = _OWN_WORDS.match(command, tool.end()) if tool else None
    words = ["", *(own[0].split() if own else [])]
    if all(word[0] == "-" or before in _WITH_VALUE for before, word in pairwise(words)):
        return " ".join(shlex.quote(unittest_name(test)) for test in tests)
    found_as = (unittest_name(re.sub(r"^[^:]*/", "", test)) for test in tests)  # a search may begin below the root
    return " ".join(f"-k {shlex.quote(f'*{name}')} -k {shlex.quote(f'*{name}.*')}" for name in found_as)


def _titles(tests: Sequence[str]) -> str:
    """Return a pattern of the tests' titles, those of the suites around them before; empty where one is a file."""
    titles = [re.split(r"::| > | › ", test)[-1] for test in tests]
    if any(_IS_SCRIPT.search(title) for title in titles):
        return ""
    return f"^(.* )?({'|'.join(re.escape(title) for title in titles)})$"


def _chosen(tool: Runner, command: str, tests: Sequence[str]) -> str:
    if tool == "unittest":
        return _of_unittest(command, tests)
    if tool in ("node", "jest"):
        option = "--test-name-pattern=" if tool == "node" else "-t "
        return option + shlex.quote(titles) if (titles := _titles(tests)) else ""
    if tool == "go":
        names = dict.fromkeys(test.rpartition("::")[2].partition("/")[0] for test in tests)
        return f"-run {shlex.quote('^(' + '|'.join(map(re.escape, names)) + ')$')}"
    return " ".join(shlex.quote(test) for test in tests)

"""A project's test command as a shell line that runs chosen tests and says what it found."""

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise

from misstep_harness.errors import UsageError
from misstep_harness.workspace.suite.report import Runner

REPORT = ".misstep-report.xml"
"""Where in a workspace pytest writes its report; removed before and after each run."""

_PYTEST_OPTIONS = "-p no:misstep -o cache_dir=${TMPDIR:-/tmp}/pytest-cache -o junit_family=xunit1 --junit-xml="
_HERE = f'export MISSTEP_ROOT="$PWD" MISSTEP_REPORT="$PWD/{REPORT}"; '
"""Keeps the place of the tree and of the report for a command that goes to another folder."""

WRAPPED = f"export PYTEST_ADDOPTS=\"{_PYTEST_OPTIONS}'$PWD/{REPORT}'\"; "
"""What makes pytest write its report where a script, a Makefile or another program starts it."""

_TOOLS: tuple[tuple[Runner, re.Pattern[str]], ...] = (
    ("pytest", re.compile(r"(?:^|[\s/\"'(])(?:pytest|py\.test)(?=[\s\"')]|$)")),
    ("unittest", re.compile(r"-m\s+unittest(?=[\s\"')]|$)")),
    ("node", re.compile(r"(?:^|[\s/])node(?=\s)[^|;&]*?\s--test(?=\s|$)")),
    ("jest", re.compile(r"(?:^|[\s/])(?:(?:jest|vitest)(?:\.m?js)?|react-scripts\s+test)(?=\s|$)")),
    ("mocha", re.compile(r"(?:^|[\s/])_?mocha(?:\.js)?(?=\s|$)")),
    ("tap", re.compile(r"(?:^|[\s/])ava(?=\s|$)")),
    ("go", re.compile(r"(?:^|[\s/])go\s+test(?=\s|$)")),
)
OWN_WORDS = re.compile(r"(?:\s+(?!\d*[<>])(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|[^\s|;&<>()'\"\\`])+)*")
"""What follows a program up to the end of its simple command."""
_WITH_VALUE = frozenset({"-k", "-p", "-s", "-t", "--pattern", "--start-directory", "--top-level-directory"})
_VITEST = re.compile(r"(?:^|[\s/])vitest(?:\.mjs)?(?=\s|$)")
_IS_SCRIPT = re.compile(r"[^:]*\.[cm]?[jt]sx?")
_JSON: dict[str, str] = {
    "jest": '--json --outputFile="$MISSTEP_REPORT" --coverage=false',
    "vitest": '--reporter=default --reporter=json --outputFile.json="$MISSTEP_REPORT" --coverage.enabled=false',
    "mocha": '--reporter json --reporter-option output="$MISSTEP_REPORT"',
    "tap": "--tap",
}
_BY_TITLE: dict[str, str] = {"node": "--test-name-pattern=", "jest": "-t ", "mocha": "-g "}
_SPECIAL = re.compile(r"[\\^$.*+?()[\]{}|/]")
_TAKES_TARGETS = frozenset({"cd", "make", "gmake", "just", "task", "turbo", "nx", "lerna"})
_NAMING = frozenset({"pytest", "unittest", "node", "jest", "mocha", "go"})
_NOT_IMPORTED = "unittest.loader._FailedTest."


def is_script(name: str) -> bool:
    """Return whether a test's id, or the start of it, is the path of a file of JavaScript or TypeScript."""
    return _IS_SCRIPT.fullmatch(name) is not None


def tool_of(command: str) -> Runner:
    """Return which framework a command names, `exit_code` where none that is known here."""
    return next((name for name, _ in _TOOLS if _called(name, command)), "exit_code")


def _called(tool: Runner, command: str) -> re.Match[str] | None:
    """Return where a command calls a framework; a folder or a Makefile's target of that name does not count."""
    for call in dict(_TOOLS)[tool].finditer(command) if tool != "exit_code" else ():
        words = re.split(r"[;&|(]", command[: call.end()])[-1].split()
        if next((word for word in words if "=" not in word), "") not in _TAKES_TARGETS:
            return call
    return None


def runner_of(command: str) -> Runner:
    """Return what says which tests ran: `junit` where the command names `{junit}`, the file that it writes."""
    return "junit" if "{junit}" in command else tool_of(command)


def takes_names(command: str) -> bool:
    """Return whether chosen tests can be named to a command: a framework is known, or the place where they go."""
    return tool_of(command) not in ("exit_code", "tap") or "{tests}" in command


def counts_tests(command: str) -> bool:
    """Return whether what a command writes or prints says how many tests ran: one that is silent has run none."""
    runner = runner_of(command)
    return runner in ("pytest", "unittest", "junit", "go") or (runner == "node" and "--test-reporter" not in command)


def names_tests(command: str, tests: Sequence[str]) -> bool:
    """Whether what is reported has the same names as the tests that were chosen, files of scripts not among them."""
    return runner_of(command) in _NAMING and not any(map(is_script, tests))


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
    elif runner in _JSON:
        form = "vitest" if _VITEST.search(command) else runner
        added.append(_JSON[form])
    here = _HERE if runner in ("pytest", *_JSON) or "$MISSTEP_ROOT" in line else ""
    return here + _placed(line, tool, " ".join(filter(None, added))).replace("{junit}", REPORT)


def unittest_name(test: str) -> str:
    """A test, its class or its module as unittest names it, of an id in the form of pytest or of unittest's reports."""
    name, _, rest = test.removeprefix(_NOT_IMPORTED).partition("::")
    module = name.removesuffix(".py").replace("/", ".") if name.endswith(".py") else name
    dotted = ".".join(part for part in (module, rest.replace("::", ".")) if part)
    return re.sub(r"\.(?:setUp|tearDown)(?:Class|Module)$", "", dotted)


def as_pytest(command: str) -> str:
    """Return a command of unittest as one of pytest, which runs the same tests, without what chooses them."""
    return re.sub(rf"-m\s+unittest{OWN_WORDS.pattern}", "-m pytest", command)


def _placed(line: str, tool: Runner, added: str) -> str:
    """Return a line with words behind those of its framework: options of node and go are before the files."""
    if not added:
        return line
    tool_words = _called(tool, line)
    if tool_words is None:
        return f"{line} {added}"
    own = OWN_WORDS.match(line, tool_words.end())
    place = own.end() if own is not None and tool not in ("node", "go") else tool_words.end()
    return f"{line[:place]} {added}{line[place:]}"


def _of_unittest(command: str, tests: Sequence[str]) -> str:
    """Names, where the command has none of its own and searches nowhere; otherwise patterns for what it finds."""
    tool = _called("unittest", command)
    own = OWN_WORDS.match(command, tool.end()) if tool else None
    words = ["", *(own[0].split() if own else [])]
    if all(word[0] == "-" or before in _WITH_VALUE for before, word in pairwise(words)):
        return " ".join(shlex.quote(unittest_name(test)) for test in tests)
    found_as = (unittest_name(re.sub(r"^[^:]*/", "", test)) for test in tests)  # a search may begin below the root
    return " ".join(f"-k {shlex.quote(f'*{name}')} -k {shlex.quote(f'*{name}.*')}" for name in found_as)


def _titles(tests: Sequence[str]) -> str:
    """Return a pattern of the tests' full titles; empty where one is a file.

    A framework joins the titles of a test and of the suites around it by a space, node:test up to version 20 takes the
    test's own title. A title may itself have what is between titles in an id.
    """
    if any(map(is_script, tests)):
        return ""
    parts = [test.split("::") for test in tests]
    full = [each[1:] if len(each) > 1 and is_script(each[0]) else each for each in parts]
    return f"^(?:{'|'.join(dict.fromkeys(map(_title, full)))})$"


def _title(parts: Sequence[str]) -> str:
    *around, own = (_SPECIAL.sub(r"\\\g<0>", part).replace(" > ", "(?: > | )") for part in parts)
    return "".join(f"(?:{each}(?: |::))?" for each in around) + own


def _files(tests: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(file for test in tests if is_script(file := test.partition("::")[0])))


def _chosen(tool: Runner, command: str, tests: Sequence[str]) -> str:
    if tool == "unittest":
        return _of_unittest(command, tests)
    if tool in _BY_TITLE:
        chosen = [_BY_TITLE[tool] + shlex.quote(titles)] if (titles := _titles(tests)) else []
        if tool == "jest":
            files = _files(tests) if _VITEST.search(command) else map(re.escape, _files(tests))
            chosen += [f'"$MISSTEP_ROOT"/{shlex.quote(file)}' for file in files]
        return " ".join(chosen)
    if tool == "tap":
        return ""
    if tool == "go":
        names = dict.fromkeys(test.rpartition("::")[2].partition("/")[0] for test in tests)
        return f"-run {shlex.quote('^(' + '|'.join(map(re.escape, names)) + ')$')}"
    return " ".join(shlex.quote(test) for test in tests)

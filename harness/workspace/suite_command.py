"""A project's test command as a shell line that runs chosen tests and says what it found."""

import re
import shlex
from collections.abc import Sequence

from harness.errors import UsageError
from harness.workspace.suite_report import Runner

REPORT = ".misstep-report.xml"
"""Where in a workspace pytest writes its report; removed before and after each run."""

_PYTEST = re.compile(r"(?:^|[\s/])(?:pytest|py\.test)(?=\s|$)")
_UNITTEST = re.compile(r"-m\s+unittest(?=\s|$)")


def runner_of(command: str) -> Runner:
    """Who runs the tests: `junit` where the command names `{junit}`, the file that it writes."""
    if "{junit}" in command:
        return "junit"
    if _PYTEST.search(command):
        return "pytest"
    return "unittest" if _UNITTEST.search(command) else "exit_code"


def suite_command(command: str, tests: Sequence[str] = ()) -> str:
    """A shell line that runs `tests`, all of them where none is named.

    `{tests}` in the command is where they go, otherwise they follow at its end; `{junit}` is the file to which the
    command writes JUnit XML. Files of unittest become modules, as its command line wants them.

    Raises
    ------
    UsageError
        The command is empty.
    """
    if not command.strip():
        raise UsageError("the test command is empty", "Give the command that runs the tests, as `python -m pytest`.")
    runner = runner_of(command)
    words = [_unittest_name(test) for test in tests] if runner == "unittest" else list(tests)
    named = " ".join(shlex.quote(word) for word in words)
    line = command.replace("{tests}", named) if "{tests}" in command else f"{command} {named}".rstrip()
    line = line.replace("{junit}", REPORT)
    if runner == "pytest":
        line += f" -p no:cacheprovider -o junit_family=xunit1 --junit-xml={REPORT}"
    return line


def _unittest_name(test: str) -> str:
    name, _, rest = test.partition("::")
    module = name.removesuffix(".py").replace("/", ".") if name.endswith(".py") else name
    return ".".join(part for part in (module, rest.replace("::", ".")) if part)

"""What a result does when the tests call it, and when it is called with other arguments of the same shape."""

import ast
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.triage.passes.observed_calls import NOTES
from misstep_harness.triage.protocols import Replica
from misstep_harness.values import NOT_JSON
from misstep_harness.workspace import Finished

_DRIVER = ".observed_commands.py"
_QUICK = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"
_FIXED = "export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1"


class ObservedCall(Struct, frozen=True):
    """A call of the result: what was called with which arguments, and whether the tests themselves did so."""

    name: str
    given: str
    own: bool
    number: int = 0

    @property
    def text(self) -> str:
        """Return the call as evidence shows it."""
        return f"{self.name}{self.given}"


Observed = Mapping[ObservedCall, str]
"""Call → what it gave, as JSON."""


def watched_tests(tests: Mapping[str, str]) -> dict[str, str]:
    """Python tests with the program that notes calls at their head, and shell scripts that print what they run."""
    watched = {}
    for path, text in tests.items():
        if path.endswith(".py") and not path.endswith("conftest.py"):
            watched[path] = _with_program(text)
        elif path.endswith((".sh", ".bash", ".bats")):
            first, _, rest = text.partition("\n")
            watched[path] = f"{first}\nset -x\n{rest}" if first.startswith("#!") else f"set -x\n{text}"
    return watched


def observe(
    replica: Replica, tests: Mapping[str, str], command: str, programs: Sequence[str] = ()
) -> tuple[Finished, Observed]:
    """Run the tests with notes taken; how that ended, and the notes."""
    for path, text in tests.items():
        replica.write(f"tests/{path}", text.encode())
    replica.write(NOTES, b"")
    finished = replica.run(f"{_FIXED} {_QUICK}\n{command}")
    commands: dict[tuple[str, ...], None] = {}
    for traced in re.findall(r"^\++( .*)$", finished.output, re.MULTILINE):
        with suppress(ValueError):
            words = shlex.split(traced)
            if any(word.removeprefix("./") in programs for word in words[:2]):
                commands.setdefault(tuple(words))
    return finished, _noted(replica, [list(words) for words in commands])


def observe_commands(replica: Replica, commands: Sequence[Sequence[str]]) -> Observed:
    """Run commands with notes taken, and again with other arguments."""
    replica.write(NOTES, b"")
    return _noted(replica, commands)


def _noted(replica: Replica, commands: Sequence[Sequence[str]]) -> Observed:
    if commands:
        replica.write(_DRIVER, _driver(commands).encode())
        replica.run(f"{_FIXED}\npython {_DRIVER}")
    notes = replica.read(NOTES) or b""
    calls: dict[ObservedCall, str] = {}
    for line in notes.splitlines():
        try:
            kind, name, arguments, result = msgspec.json.decode(line, type=tuple[str, str, Any, Any])
        except NOT_JSON:
            continue  # a test that was stopped leaves half a line
        number = 0
        shown = msgspec.json.encode(arguments).decode()
        while (call := ObservedCall(name, shown, kind == "own", number)) in calls:
            number += 1
        calls[call] = msgspec.json.encode(result).decode()
    return calls


@cache
def _head() -> str:
    program = Path(__file__).with_name("observed_calls.py").read_text(encoding="utf-8")
    return f"exec(compile({program!r}, 'observed_calls', 'exec'), {{'__name__': 'observed_calls'}})\n"


def _with_program(text: str) -> str:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    last = 0
    for place, node in enumerate(tree.body):
        is_docstring = place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        last = node.end_lineno or last
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:last], "\n" if last else "", _head(), *lines[last:]])


def _driver(commands: Sequence[Sequence[str]]) -> str:
    return (
        f"{_head()}import subprocess\nfor words in {[list(words) for words in commands]!r}:\n"
        "    try:\n        subprocess.run(words, capture_output=True, text=True, errors='replace', timeout=20)\n"
        "    except (OSError, subprocess.SubprocessError):\n        continue\n"
    )

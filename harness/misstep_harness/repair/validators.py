"""Validate a patch, in the agent's loop and at its end (section 6 of the paper).

- Static analysis reports what an edit brought. Python is compiled and, with ruff, checked for errors (E9, F); node
  checks the syntax of JavaScript. A case may have a shell line of its own in `extra.static_analysis`.
- A patch that changes tests is flagged: a weakened test passes as well as a mended program.
- A patch that undoes the blamed change loses what that change was for. The score is the F1 of lines: a line that the
  change added is undone by removing it, a line that it removed by adding it.
"""

import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from misstep_harness.repair.records import REVERT, Signal
from misstep_harness.workspace import Limits, Workspace
from misstep_harness.workspace.suite.command import unittest_name

ALIKE = 0.9
"""From here on a patch is called a revert: nearly every line of one is a line of the other."""


def revert_signal(patch: str, blamed: str) -> Signal:
    """Return how closely `patch` undoes `blamed`, both unified diffs; passed where it is not a revert."""
    done = changed_lines(patch)
    undoing = Counter({("-" if sign == "+" else "+", text): n for (sign, text), n in changed_lines(blamed).items()})
    if not done or not undoing:
        return Signal(REVERT, None, "there is no change to compare with")
    score = 2 * (done & undoing).total() / (done.total() + undoing.total())
    lost, fine = "look whether what the blamed change was for is lost", "is not a revert of the blamed change"
    return Signal(REVERT, score < ALIKE, fine if score < ALIKE else lost, score)


def changed_lines(diff: str) -> "Counter[tuple[str, str]]":
    """Count the added and removed lines of a unified diff with their signs, without blank ones and outer space."""
    counts: Counter[tuple[str, str]] = Counter()
    in_hunk = False
    for line in diff.split("\n"):
        if line.startswith(("diff --git ", "Index: ")) or (line.startswith("--- ") and not in_hunk):
            in_hunk = False
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk and line[:1] in "+-" and line[1:].strip():
            counts[line[0], line[1:].strip()] += 1
    return counts


_SECONDS = 30.0
_SHOWN = 4_000
FILES = "{files}"
_PLACE = re.compile(r":\d+(?::\d+)?:?")


_COMPILE = """\
import sys
for name in sys.argv[1:]:
    try:
        compile(open(name, "rb").read(), name, "exec")
    except (SyntaxError, ValueError) as error:
        print(f"{name}:{getattr(error, 'lineno', 0)}: {type(error).__name__}: {error}")
"""
_NODE = 'for file in "$@"; do node --check "$file"; done'


class Analyzer(Struct, frozen=True):
    """A checker: its name, its command with `{files}` as a word, and the ends of the names of files that it reads."""

    name: str
    command: tuple[str, ...]
    ends: tuple[str, ...] = ("",)


def analyzers(language: str, python: str, command: str = "") -> tuple[Analyzer, ...]:
    """Return the checkers for a language, or the one shell line that a case names."""
    if command:
        line = command.replace("{files}", '"$@"')
        return (Analyzer(shlex.split(command)[0].rpartition("/")[2], ("/bin/sh", "-c", line, "sh", FILES)),)
    if language == "python":
        compiling = Analyzer("compile", (python, "-c", _COMPILE, FILES), (".py",))
        options = ("check", "--isolated", "--no-cache", "--quiet", "--select", "E9,F", "--output-format", "concise")
        return (
            compiling,
            *(Analyzer("ruff", (str(ruff), *options, FILES), (".py", ".pyi")) for ruff in ruff_folders()),
        )
    if language == "javascript":
        return (Analyzer("node", ("/bin/sh", "-c", _NODE, "sh", FILES), (".js", ".mjs", ".cjs")),)
    return ()


def ruff_folders() -> tuple[Path, ...]:
    """Return ruff, which the sandbox has to show, if it is installed."""
    beside = Path(sys.executable).with_name("ruff")
    program = str(beside) if beside.is_file() else shutil.which("ruff")
    return (Path(program),) if program else ()


class StaticAnalysis:
    """Checks a workspace's files against the errors that their `original` texts (`None` if new) had already."""

    def __init__(
        self, workspace: Workspace, original: Callable[[str], str | None], checkers: Sequence[Analyzer]
    ) -> None:
        self._workspace, self._original, self._checkers = workspace, original, checkers

    def new_errors(self, changed: Sequence[str]) -> Mapping[str, list[str]]:
        """Return the lines that each checker prints of the changed files and did not print before."""
        errors: dict[str, list[str]] = {}
        for checker in self._checkers:
            files = [path for path in changed if path.endswith(checker.ends) and self._workspace.exists(path)]
            if not files:
                continue
            now = self._errors(checker, files)
            known = self._known(checker, files) if now else set()
            if new := [line for line in now if _evened(line) not in known]:
                errors[checker.name] = new
        return errors

    def feedback(self, changed: Sequence[str]) -> str:
        """Return what the agent is told after an edit; empty if nothing is wrong (section 6, the feedback example)."""
        return "\n\n".join(
            f"The edit was successful but {name} detected errors. Look at the changes: make sure that they are right "
            f"and that this edit brought no further errors. You can edit the file again.\n{_cut(lines)}"
            for name, lines in self.new_errors(changed).items()
        )

    def signal(self, changed: Sequence[str]) -> Signal:
        """Return what the checkers say of a finished patch."""
        errors = self.new_errors(changed)
        text = "; ".join(f"{name}: {_cut(lines)}" for name, lines in errors.items())
        return Signal("static_analysis", not errors, text or "no new errors")

    def _errors(self, checker: Analyzer, files: Sequence[str]) -> list[str]:
        named = [f"./{path}" for path in files]
        command = [word for part in checker.command for word in (named if part == FILES else [part])]
        done = self._workspace.run(command, limits=Limits(seconds=_SECONDS))
        if done.ended != "exited":
            return [f"{checker.name} was stopped: {done.ended}"]
        return [text for text in done.output.replace("./", "").splitlines() if text.strip()]

    def _known(self, checker: Analyzer, files: Sequence[str]) -> set[str]:
        with self._workspace.restored():
            there = {path: text for path in files if (text := self._original(path)) is not None}
            for path, text in there.items():
                self._workspace.write(path, text.encode())
            return {_evened(line) for line in self._errors(checker, [*there])} if there else set()


def _evened(line: str) -> str:
    return _PLACE.sub(":", line)


def _cut(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|fixtures?|__snapshots__)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_test|[^/]*_spec|conftest|[^/.]*[._-](?:test|spec))\.[A-Za-z]+$"
    r"|(?:^|/)[^/]*Tests?\.(?:java|kt|scala|cs|php|swift)$"
    r"|\.snap$"
    r"|(?:^|/)(?:pytest\.ini|tox\.ini|jest\.config\.[a-z]+)$"
)


def is_test_file(path: str) -> bool:
    """Return whether a file belongs to the tests, by its place or its name in the habits of the usual runners."""
    return _TEST.search(path) is not None


def file_of(test: str, paths: Collection[str]) -> str:
    """Return the file of a test by its id, `tests/a.py::test_b` or `tests.a.Group.test_b`; empty if there is none.

    An id of unittest may begin at the folder in which the tests are looked for, so that it leaves out those above.
    """
    parts = unittest_name(test).split(".")
    names = ["/".join(parts[:length]) + ".py" for length in range(len(parts), 0, -1)]
    known = next((name for name in (test.partition("::")[0], *names) if name in paths), "")
    below = (path for name in names for path in sorted(paths) if path.endswith(f"/{name}"))
    return known or ("" if "::" in test else next(below, ""))


def pytest_id(test: str, paths: Collection[str]) -> str:
    """Return what pytest calls a test, its class or its module; empty of an id that names no file of these."""
    file = file_of(test, paths)
    if not file or "::" in test or test == file:
        return test if file else ""
    parts = unittest_name(test).split(".")
    ends = (length for length in range(len(parts), 0, -1) if f"/{file}".endswith(f"/{'/'.join(parts[:length])}.py"))
    return "::".join([file, *parts[next(ends) :]])


def oracle_files(oracle: Iterable[str], paths: Collection[str]) -> set[str]:
    """Return the files of an oracle's tests, of some; all tests where the whole command is the oracle."""
    if "" in oracle:
        return {path for path in paths if is_test_file(path)}
    return {file for test in oracle if (file := file_of(test, paths))}


def changed_tests_signal(changed: Iterable[str], oracle: Iterable[str] = ()) -> Signal:
    """Return a flag on a patch that changes tests; those of the oracle are tests whatever they are called."""
    changed = set(changed)
    own = oracle_files(oracle, changed)
    tests = sorted(path for path in changed if is_test_file(path) or path in own)
    text = f"changes tests: {', '.join(tests)}" if tests else "changes no test"
    return Signal("test_files", not tests, text)

"""Analyse the files that an edit changed, in the sandbox: only what the edit brought is reported.

For Python the files are compiled and, where ruff is installed, checked for its errors (E9, F); for JavaScript node
checks the syntax. A case may name a shell line of its own in `extra.static_analysis`; `{files}` are the changed ones.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from misstep_harness.repair.records import Signal
from misstep_harness.workspace import Limits, Workspace

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

"""Runs a project's tests in a workspace and reads what they found.

What `npm test`, `npx` and their like run: a package's scripts and its installed programs, as a plain shell line.

A shell line says which framework runs, so that tests can be named to it. No package manager is needed in the sandbox,
where it might look for a network. Coverage is not measured: one test alone never reaches a threshold.
"""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from posixpath import normpath
from typing import Literal

from msgspec.structs import replace

from misstep_harness.errors import MisstepError
from misstep_harness.workspace.sandbox import Finished, Limits
from misstep_harness.workspace.suite.command import (
    OWN_WORDS,
    REPORT,
    WRAPPED,
    counts_tests,
    is_script,
    names_tests,
    runner_of,
    suite_command,
    takes_names,
    unittest_name,
)
from misstep_harness.workspace.suite.report import SuiteCounts, SuiteReport, from_junit_xml
from misstep_harness.workspace.workspace import Workspace

Read = Callable[[str], str | None]
"""Return the text of a file of the tree, by its path."""

_DEEPEST = 6
_MANIFEST = "package.json"
_MANAGED = re.compile(rf"(?<![\w./@:-])(npm|pnpm|yarn|bun|npx|bunx)(?=\s)({OWN_WORDS.pattern})")
_WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+""")
_LONGEST_SCRIPT = 5_000
_GOES_TO = re.compile(r"^\s*cd\s+([\w./@-]+)\s*&&")
_TO_FOLDER = frozenset({"--prefix", "-C", "--cwd", "--dir"})
_TO_PACKAGE = frozenset({"-w", "--workspace", "--filter", "-F", "workspace"})
_EACH = frozenset({"-r", "--recursive", "-ws", "--workspaces"})
_EXECUTES = frozenset({"exec", "x", "dlx"})
_COVERED = re.compile(
    r"(?<![\w./-])(?:c8|nyc)\s+[^|;&()]*?(?=(?:node|mocha|tape|ava|tap|jest|vitest|jasmine|borp|npm|pnpm|yarn|npx|tsx)\s)"
)
_COVERAGE = re.compile(r"(?<=\s)--(?:experimental-test-)?coverage(?:=true)?(?=\s|$)")


def plain_command(command: str, read: Read, paths: Callable[[], Sequence[str]] = tuple) -> str:
    """Return a command with the scripts of the packages in a tree in the place of what starts them."""
    goes = _GOES_TO.search(command)
    folder = normpath(goes[1]) if goes else "."
    line = _Scripts(read, paths).expanded(command, folder, _DEEPEST)
    line = _COVERED.sub("", line)
    if re.search(r"(?:^|[\s/])(?:jest|vitest|node)(?=\s|$)", line):
        line = _COVERAGE.sub("", line)
    programs = "".join(f"$PWD/{each}node_modules/.bin:" for each in dict.fromkeys((_below(folder), "")))
    return f'export PATH="{programs}$PATH"; {line}' if line != command and _MANAGED.search(command) else line


class _Scripts:
    def __init__(self, read: Read, paths: Callable[[], Sequence[str]]) -> None:
        self._read, self._paths = read, paths

    def expanded(self, command: str, folder: str, levels: int) -> str:
        def replaced(match: re.Match[str]) -> str:
            return self._line(match[1], _WORD.findall(match[2]), folder, levels) or match[0]

        return _MANAGED.sub(replaced, command) if levels else command

    def _line(self, manager: str, words: list[str], folder: str, levels: int) -> str:
        """Return what a call of a package manager runs; empty if it is neither a script nor a program."""
        if manager in ("npx", "bunx"):
            return _program(words)
        if _EACH & {*words}:
            return ""
        place, rest = self._place(words, folder)
        if rest and rest[0] in _EXECUTES:
            return _program(rest[1:])
        if rest and rest[0] in ("run", "run-script", "rum", "urn"):
            rest = [word for word in rest[1:] if word not in ("-s", "--silent")]
        elif manager == "npm" and rest and rest[0] not in ("test", "t", "tst"):
            return ""
        if not rest:
            return ""
        scripts = self._scripts(place)
        name = "test" if rest[0] in ("t", "tst") else rest[0]
        if name not in scripts:
            return " ".join(rest) if manager == "yarn" and scripts and name in _PROGRAMS else ""
        added = rest[2:] if rest[1:2] == ["--"] else rest[1:]
        lines = [scripts.get(f"pre{name}", ""), " ".join([scripts[name], *added]), scripts.get(f"post{name}", "")]
        script = " && ".join(self.expanded(line, place, levels - 1) for line in lines if line)
        if place == folder:
            return f"( {script} )"
        return f'( cd "$MISSTEP_ROOT/{place}" && PATH="$PWD/node_modules/.bin:$PATH" && {script} )'

    def _place(self, words: Sequence[str], folder: str) -> tuple[str, list[str]]:
        """Return the folder of the package that a call is about, and its words without options before the script."""
        rest = list(words)
        place = folder
        while rest and (rest[0].startswith("-") or rest[0] == "workspace"):
            option, _, value = rest.pop(0).partition("=")
            if option in _TO_FOLDER | _TO_PACKAGE:
                value = value or (rest.pop(0) if rest else "")
                place = self._package(value) if option in _TO_PACKAGE else normpath(f"{folder}/{value}")
        # npm takes these behind the script's name as well
        for at, word in enumerate(rest):
            if word == "--":
                break
            if word in ("-w", "--workspace", "--prefix") and at + 1 < len(rest):
                place = self._package(rest[at + 1]) if word != "--prefix" else normpath(f"{folder}/{rest[at + 1]}")
                return place, rest[:at] + rest[at + 2 :]
            if word.startswith(("--workspace=", "--prefix=")):
                return self._place([word, *rest[:at], *rest[at + 1 :]], folder)
        return place, rest

    def _package(self, name: str) -> str:
        folders = [path.removesuffix(f"/{_MANIFEST}") for path in self._paths() if path.endswith(f"/{_MANIFEST}")]
        if normpath(name) in folders:
            return normpath(name)
        return next((folder for folder in folders if self._manifest(folder).get("name") == name), name)

    def _scripts(self, folder: str) -> dict[str, str]:
        scripts = self._manifest(folder).get("scripts")
        texts = scripts.items() if isinstance(scripts, dict) else ()
        return {key: text for key, text in texts if isinstance(text, str) and len(text) <= _LONGEST_SCRIPT}

    def _manifest(self, folder: str) -> dict[str, object]:
        try:
            manifest = json.loads(self._read(f"{_below(folder)}{_MANIFEST}") or "{}")
        except (ValueError, RecursionError):
            return {}
        return manifest if isinstance(manifest, dict) else {}


_PROGRAMS = frozenset({"jest", "vitest", "mocha", "ava", "tape", "tap", "c8", "nyc", "node", "tsx"})


def _program(words: Sequence[str]) -> str:
    """Return the call of an installed program without options of what would fetch it; empty where it is unclear."""
    rest = list(words)
    while rest and rest[0] in ("-y", "--yes", "--no", "--no-install", "--"):
        rest.pop(0)
    return " ".join(rest) if rest and not rest[0].startswith("-") and "@" not in rest[0] else ""


def _below(folder: str) -> str:
    return "" if folder == "." else f"{folder}/"


How = Literal["alone", "whole", "either"]
"""How chosen tests are run: by naming them to their framework, with all others, or with all others where they were not
seen alone."""


def run_suite(
    workspace: Workspace, command: str, tests: Sequence[str] = (), limits: Limits | None = None, *, how: How = "either"
) -> SuiteReport:
    """Run chosen tests, or all where none is named; nothing is left in the workspace.

    All have passed where the command ended by itself with 0 and, if its runner counts, at least one test ran and none
    failed; chosen ones where each was seen to pass as well, whatever others do. A runner that was to write a report and
    wrote none has not passed: the program may have left early. An empty name stands for the whole command.
    """
    command = plain_line(workspace, command)
    wanted = [] if "" in tests else list(tests)
    if not wanted or how == "whole":
        return _once(workspace, command, wanted, (), limits)
    alone = _once(workspace, command, wanted, wanted, limits)
    is_said = "{tests}" in command or (takes_names(command) and _says_of(alone, wanted))
    if how == "alone" or alone.passed or alone.ended != "exited" or is_said:
        return alone
    whole = _once(workspace, command, wanted, (), limits)
    return whole if _says_of(whole, wanted) or whole.ended != "exited" else alone


def plain_line(workspace: Workspace, command: str) -> str:
    """Return a test command with the scripts of the packages of a tree in the place of what starts them."""

    def read(path: str) -> str | None:
        return workspace.read(path).decode("utf-8", "replace") if workspace.exists(path) else None

    return plain_command(command, read, workspace.files)


def is_of(test: str, wanted: str) -> bool:
    """Whether a test that was reported is the one that was asked for, or one of its parameters, class or file."""
    file, _, rest = wanted.partition("::")
    if is_script(file):  # TAP names a file where a test failed, and none where it passed
        return test in (wanted, rest) or test.startswith(f"{wanted}::")
    if test == wanted or test.startswith((f"{wanted}::", f"{wanted}[", f"{wanted} [", f"{wanted}/")):
        return True
    parts = unittest_name(wanted).split(".")
    names = [".".join(parts[place:]) for place in range(len(parts))]
    return "::" not in test and any(test == name or test.startswith(f"{name}.") for name in names)


def breaks(failed: str, wanted: str) -> bool:
    """Return whether a failure is that of the test that was asked for, or of its class, its module or its file."""
    return is_of(failed, wanted) or wanted.startswith(f"{failed}::") or is_of(wanted, unittest_name(failed))


def _says_of(report: SuiteReport, wanted: Sequence[str]) -> bool:
    """Return whether a run says something of the tests that were asked for: one fails, or all were seen to pass."""
    if any(breaks(test.id, each) for test in report.failed for each in wanted):
        return True
    return report.seen is not None and all(any(is_of(test, each) for test in report.seen) for each in wanted)


def _once(
    workspace: Workspace, command: str, wanted: Sequence[str], named: Sequence[str], limits: Limits | None
) -> SuiteReport:
    _forget_report(workspace)
    line = (WRAPPED if runner_of(command) == "exit_code" else "") + suite_command(command, named)
    try:
        done = workspace.run(["/bin/sh", "-c", line], limits=limits)
        counts = _counts(workspace, command, done)
        all_passed = counts.ran > 0 and not counts.failed if counts else not counts_tests(command)
        report = SuiteReport(
            passed=done.ended == "exited" and done.exit_code == 0 and all_passed,
            ran=counts.ran if counts else None,
            seen=counts.passed if counts else None,
            skipped=counts.skipped if counts else 0,
            failed=counts.failed if counts else (),
            ended=done.ended,
            exit_code=done.exit_code,
            output=done.output,
            seconds=done.seconds,
        )
    finally:
        _forget_report(workspace)
    if not wanted or report.seen is None or not (names_tests(command, wanted) or _says_of(report, wanted)):
        return report
    failed = tuple(test for test in report.failed if any(breaks(test.id, each) for each in wanted))
    ended_well = report.ended == "exited" and (report.exit_code == 0 or bool(report.failed))
    passed = ended_well and not failed and _says_of(report, wanted)
    return replace(report, passed=passed, failed=failed if failed or passed else report.failed)


def _counts(workspace: Workspace, command: str, done: Finished) -> SuiteCounts | None:
    runner = runner_of(command)
    if runner in ("pytest", "junit", "jest", "mocha", "exit_code"):
        with suppress(MisstepError, OSError):
            data = workspace.read(REPORT)
            if data[:1] != b"{":
                return from_junit_xml(data, REPORT)
            from misstep_harness.workspace.suite.output import from_json

            return from_json(data, REPORT)
    if runner in ("pytest", "junit"):
        return None
    from misstep_harness.workspace.suite.output import from_output

    return from_output(done.output)


def _forget_report(workspace: Workspace) -> None:
    if workspace.exists(REPORT):
        workspace.remove(REPORT)

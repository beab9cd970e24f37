"""The target of the skill `repair`: the broken trees of all cases as one tree, each in a folder of its case's id."""

import ast
import asyncio
import difflib
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from misstep_harness.agent import tools
from misstep_harness.agent.actions import Observation
from misstep_harness.agent.environment import FileView
from misstep_harness.agent.tools import Tool, beneath
from misstep_harness.edits import apply_edit
from misstep_harness.errors import MisstepError, SandboxFailed
from misstep_harness.reflexive.protocols import ChannelBroken, Check, Reading, VitalSign
from misstep_harness.reflexive.records import CheckStatus, Role, WorkItem
from misstep_harness.reflexive.workspace_target import WorkspaceTarget
from misstep_harness.repair.case import CaseFolder
from misstep_harness.repair.scoring import put_files, score
from misstep_harness.repair.validators.test_files import is_test_file, oracle_files
from misstep_harness.workspace import Sandbox, Workspace, open_workspace
from misstep_harness.workspace.nodes import GIT
from misstep_harness.workspace.suite.command import counts_tests
from misstep_harness.workspace.suite.report import SuiteReport
from misstep_harness.workspace.trees import regular_files

_MOST_DIFF = 6_000

VITAL_SIGNS = (
    VitalSign("oracle", "probe", "tests_pass"),
    VitalSign("syntax", "probe", "python_parses"),
    VitalSign("changes", "configuration"),
)
"""What the last check found, whether the changed Python files parse, and what was changed since the case was opened."""


class TreesView(FileView):
    """What the commands act on: the files of all trees, and their index."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.workspace = workspace


class CaseTrees(WorkspaceTarget):
    """The trees of repair cases as workers change them, each in a folder of its case's id."""

    def __init__(self, cases: Sequence[CaseFolder], workspace: Workspace, kept: Path, sandbox: Sandbox) -> None:
        super().__init__(workspace, kept)
        self._cases = {folder.case.id: folder for folder in cases}
        self._sandbox = sandbox
        self._view: TreesView | None = None
        self._item = ""
        self._report: SuiteReport | None = None
        self._reached: bool | None = None

    def protected(self) -> str:
        """Return the digest of all tests: of the oracles' files, and of what is called like a test."""
        digest = hashlib.sha256()
        for path in self._workspace.files():
            case, _, inner = path.partition("/")
            own = oracle_files(self._cases[case].case.oracle, {inner}) if case in self._cases else set()
            if is_test_file(inner) or own:
                digest.update(f"{path}\0{hashlib.sha256(self._workspace.read(path)).hexdigest()}\n".encode())
        return digest.hexdigest()

    def tools(self, role: Role) -> Sequence[Tool[Any]]:
        """Return a worker's commands: looking at files, and one that changes them. The other roles have none."""
        return WORKER_TOOLS if role == "worker" else ()

    @property
    def place(self) -> TreesView:
        """Return the files, with an index that is made anew, as they may have been restored since."""
        if self._view is not None:
            self._view.close()
        self._view = TreesView(self._workspace)
        return self._view

    def close(self) -> None:
        """Close the index."""
        if self._view is not None:
            self._view.close()

    async def check(self, item: WorkItem) -> Check:
        """Return whether the oracle of a case passes with what was changed in its tree.

        An unchanged tree whose oracle passes is `unknown`, as is a broken suite. The target is healthy if every changed
        Python file parses and, once the oracle passes, no other test of the whole suite fails that did not before.
        """
        return await asyncio.to_thread(self._check, item.id)

    def _check(self, case: str) -> Check:
        folder = self._cases[case]
        self._item, self._report, self._reached = case, None, None
        texts = self._texts(case)
        broken = _unparsed(texts)
        try:
            report, signals = score(folder, texts, "", self._sandbox)
        except SandboxFailed as error:
            return Check(not broken, "unknown", f"The tests could not be run: {error.line()}")
        self._report = report
        if report.passed and not texts:
            return Check(True, "unknown", "The oracle passes on the broken tree: this is not a case.")
        suite = next((signal for signal in signals if signal.validator == "suite"), None)
        harmed = suite is not None and suite.passed is False
        lines = [*(f"{path} is no longer Python." for path in broken), report.feedback(4_000)]
        lines += [f"The whole suite: {suite.text}."] if suite is not None and harmed else []
        return Check(not broken and not harmed, _status(report, folder), "\n".join(lines))

    async def read(self, sign: VitalSign) -> Reading:
        """Read a vital sign, where a command can be started in the trees; they are the host's own files."""
        if self._reached is None:  # once a check: nothing changes the trees between the vital signs
            self._reached = await self.reachable()
        if not self._reached:
            raise ChannelBroken("no command can be started in the trees")
        return self.read_outside(sign)

    def read_outside(self, sign: VitalSign) -> Reading:
        """Read a vital sign of the case that was checked last."""
        texts = self._texts(self._item) if self._item else {}
        if sign.name == "oracle":
            if self._report is None:
                return Reading("The tests could not be run.")
            return Reading(self._report.feedback(2_000), self._report.passed)
        if sign.name == "syntax":
            broken = _unparsed(texts)
            return Reading(f"no Python: {', '.join(broken)}" if broken else "every changed file parses", not broken)
        return Reading(self._diff(texts)[:_MOST_DIFF] or "nothing was changed")

    def _texts(self, case: str) -> dict[str, bytes | None]:
        """Return the files of a case that are not as in its broken tree, `None` where one is gone."""
        folder = self._cases[case]
        start = f"{case}/"
        now = {path.removeprefix(start) for path in self._workspace.files() if path.startswith(start)}
        then = {path for path in regular_files(folder.before) if GIT not in path.split("/")}
        texts: dict[str, bytes | None] = dict.fromkeys(sorted(then - now))
        for path in sorted(now):
            data = self._workspace.read(start + path)
            if path not in then or data != folder.text(path):
                texts[path] = data
        return texts

    def _diff(self, texts: Mapping[str, bytes | None]) -> str:
        lines: list[str] = []
        for path, data in texts.items():
            old = self._cases[self._item].text(path)
            was, now = ((each or b"").decode(errors="replace").splitlines() for each in (old, data))
            lines += difflib.unified_diff(was, now, f"a/{path}", f"b/{path}", lineterm="")
        return "\n".join(lines)


@contextmanager
def open_trees(cases: Sequence[CaseFolder], kept: Path, sandbox: Sandbox) -> Iterator[CaseTrees]:
    """Lay out the broken trees of all cases; they are thrown away at the end, and what is kept stays."""
    with tempfile.TemporaryDirectory(prefix="misstep-cases-") as place:
        base = Path(place)
        for folder in cases:
            shutil.copytree(folder.before, base / folder.case.id, symlinks=True, ignore=shutil.ignore_patterns(GIT))
        opened = open_workspace(base, sandbox=sandbox)
        with opened as workspace, closing(CaseTrees(cases, workspace, kept, sandbox)) as target:
            yield target


def _status(report: SuiteReport, folder: CaseFolder) -> CheckStatus:
    """Return the oracle's result; a suite that was not stopped and counted no test at all has said nothing."""
    if report.passed:
        return "passed"
    is_silent = report.ended == "exited" and not report.ran
    return "unknown" if is_silent and counts_tests(folder.case.test_command) else "failed"


def _unparsed(texts: Mapping[str, bytes | None]) -> list[str]:
    def parses(data: bytes) -> bool:
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return bool(ast.parse(data))
        return False

    return [path for path, data in texts.items() if path.endswith(".py") and data is not None and not parses(data)]


async def _apply(arguments: Mapping[str, str], view: TreesView) -> Observation:
    folder = beneath(arguments.get("folder", ""))
    start = f"{folder}/" if folder else ""
    try:
        form = arguments.get("form", "search_replace")
        applied = apply_edit(form, arguments["change"], lambda path: view.text(start + path))
        texts = {start + path: None if text is None else text.encode() for path, text in applied.files.items()}
        put_files(view.workspace, texts)
    except (MisstepError, OSError) as error:
        message = error.line() if isinstance(error, MisstepError) else str(error)
        return Observation(f"The change was not applied: {message}", is_error=True)
    return Observation(f"Changed: {', '.join(texts)}")


APPLY: Tool[TreesView] = Tool(
    "apply",
    "Change files by an edit that you write yourself.",
    {"change": "the edit: SEARCH/REPLACE blocks, each below the path of its file"},
    _apply,
    {"folder": "folder that the paths start from", "form": "search_replace or unified_diff"},
)

WORKER_TOOLS: tuple[Tool[TreesView], ...] = (
    APPLY,
    tools.READ_FILE,
    tools.READ_DIRECTORY,
    tools.FIND_FILE,
    tools.SEARCH_CODE,
    tools.SEARCH_METHOD,
)
"""The commands of a repair agent that look at files, and `apply` in the place of `edit`, which needs a second model."""

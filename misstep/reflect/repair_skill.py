"""The skill `repair` of `misstep reflect run`: repair cases as work items, and agents that ask no model.

The target is the broken trees of all cases as one tree, each in a folder of its case's id.
"""

import ast
import asyncio
import difflib
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from random import Random
from typing import Any

from misstep_harness.agent.clocks import Clock
from misstep_harness.agent.tools import Tool
from misstep_harness.agent.turns import Turn
from misstep_harness.edits import edit_format, instructions
from misstep_harness.errors import EditRefused, SandboxFailed, UsageError
from misstep_harness.reflexive.model_agents import NO_MORE, SECONDS, agents_of
from misstep_harness.reflexive.protocols import (
    ChannelBroken,
    Check,
    Context,
    HealthProbe,
    MakeAgents,
    Reading,
    Target,
)
from misstep_harness.reflexive.records import CheckStatus, Role, WorkItem
from misstep_harness.reflexive.runs.skills import SkillOptions
from misstep_harness.reflexive.workspace_target import WORKER_TOOLS, TreesView, WorkspaceTarget
from misstep_harness.repair.case import CaseFolder, read_cases, sampled_cases
from misstep_harness.repair.runs.repair import inputs_of_cases
from misstep_harness.repair.scoring import score
from misstep_harness.repair.search.localisation import suspects
from misstep_harness.repair.search.policy import candidates
from misstep_harness.repair.search.scope import changed
from misstep_harness.repair.validators import is_test_file, oracle_files
from misstep_harness.workspace import Sandbox, Workspace, find_sandbox, open_workspace
from misstep_harness.workspace.nodes import GIT
from misstep_harness.workspace.suite.command import counts_tests
from misstep_harness.workspace.suite.report import SuiteReport
from misstep_harness.workspace.trees import regular_files

_MOST_DIFF = 6_000

HEALTH_PROBES = (
    HealthProbe("oracle", "probe", "tests_pass"),
    HealthProbe("syntax", "probe", "python_parses"),
    HealthProbe("changes", "configuration"),
)
"""What the last check found, whether the changed Python files parse, and what was changed since the case was opened."""


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

    async def read(self, sign: HealthProbe) -> Reading:
        """Read a health probe, where a command can be started in the trees; they are the host's own files."""
        if self._reached is None:  # once a check: nothing changes the trees between the probes
            self._reached = await self.reachable()
        if not self._reached:
            raise ChannelBroken("no command can be started in the trees")
        return self.read_outside(sign)

    def read_outside(self, sign: HealthProbe) -> Reading:
        """Read a health probe of the case that was checked last."""
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


class SearchWorker:
    """Applies one likely change an attempt, the likeliest first; `seed` shakes their ranks, except 0."""

    name = "search"

    def __init__(self, cases: Mapping[str, CaseFolder], seed: int = 0) -> None:
        self._changes = cache(lambda case: _changes(cases[case], seed))

    async def act(self, context: Context, turn: Turn) -> str:
        """Apply the change whose turn it is; says so if there is none left."""
        await turn.think(SECONDS)
        changes = self._changes(context.item.id)
        if context.attempt > len(changes):
            return NO_MORE
        edit, why = changes[context.attempt - 1]
        await turn.call("apply", {"change": edit, "folder": context.item.id})
        return f"I changed {why}."


def _changes(folder: CaseFolder, seed: int) -> tuple[tuple[str, str], ...]:
    sources, places = suspects(folder)
    form = edit_format("search_replace")
    edits: dict[str, str] = {}
    for each in candidates(sources, places, folder.case.task, Random(f"{seed}").getrandbits(32) if seed else 0):  # noqa: S311
        text = sources[each.path].text
        try:
            edit = form.render(each.path, text, changed(text, each.change))
        except EditRefused:
            continue
        edits.setdefault(edit, f"{each.path}:{each.change.line}, {each.change.template}")
    return tuple(edits.items())


class GoldenWorker:
    """Applies the patch that people wrote: it knows the answer, and shows what the loop does with one."""

    name = "golden"

    def __init__(self, cases: Mapping[str, CaseFolder]) -> None:
        self._cases = cases

    async def act(self, context: Context, turn: Turn) -> str:
        """Apply the patch, where the case has one."""
        await turn.think(SECONDS)
        patch = self._cases[context.item.id].golden()
        if patch is None:
            return NO_MORE
        await turn.call("apply", {"change": patch, "folder": context.item.id, "form": "unified_diff"})
        return "I applied the patch."


class StubbornWorker:
    """Makes the same useless change in every attempt, and learns nothing from what it is told."""

    name = "stubborn"

    async def act(self, context: Context, turn: Turn) -> str:
        """Write a file that nobody reads."""
        await turn.think(SECONDS)
        edit = "notes.txt\n<<<<<<< SEARCH\n=======\nIt should work now.\n>>>>>>> REPLACE\n"
        await turn.call("apply", {"change": edit, "folder": context.item.id})
        return "I changed it, and it should work now."


_MOST_CODE = 9_000
"""How many characters of suspicious files an item shows; the others can be read by command."""

_WORDS = "test tests failed failure assert assertion error expected case change code file function line oracle suite"
"""What every reflection on a repair speaks of."""


class RepairSkill:
    """Repair cases as work items; see `harness.reflexive.protocols.Skill`."""

    name = "repair"
    vital_signs: Sequence[HealthProbe] = HEALTH_PROBES
    words = frozenset(_WORDS.split())

    def __init__(self, cases: Sequence[CaseFolder], sandbox: Sandbox) -> None:
        self._cases = {folder.case.id: folder for folder in cases}
        self._sandbox = sandbox
        self.agents: Mapping[str, MakeAgents] = {
            "search": lambda seed: agents_of(SearchWorker(self._cases, seed)),
            "golden": lambda seed: agents_of(GoldenWorker(self._cases)),  # noqa: ARG005
            "stubborn": lambda seed: agents_of(StubbornWorker()),  # noqa: ARG005
        }

    @cached_property
    def items(self) -> tuple[WorkItem, ...]:
        """Return the cases; no case waits for another."""
        return tuple(
            WorkItem(folder.case.id, str(folder.case.extra.get("category", folder.case.language)), _case_text(folder))
            for folder in self._cases.values()
        )

    def settings(self) -> dict[str, Any]:
        """Return the cases by the digest of their files, and the sandbox."""
        return {"cases": inputs_of_cases([*self._cases.values()]).digest, "sandbox": self._sandbox.name}

    def open(self, kept: Path, clock: Clock) -> AbstractContextManager[Target]:  # noqa: ARG002
        """Lay out the trees of all cases."""
        return open_trees([*self._cases.values()], kept, self._sandbox)


def _case_text(folder: CaseFolder) -> str:
    sources, places = suspects(folder)
    paths = dict.fromkeys(suspect.path for suspect in places)
    shown: list[str] = []
    left = _MOST_CODE
    for path in paths:
        text = sources[path].text
        if len(text) <= left:
            left -= len(text)
            shown.append(f"{folder.case.id}/{path}\n{text}")
    parts = [f"{folder.case.task.rstrip()}\n\nThe files are in the folder {folder.case.id}/."]
    parts += ["The files that the failure leads to:", *shown] if shown else []
    example = next(iter([*paths, *sources]), folder.case.oracle[0].partition("::")[0])
    return "\n\n".join([*parts, instructions("search_replace", f"{folder.case.id}/{example}")])


def repair_skill(options: SkillOptions) -> RepairSkill:
    """Return the repair cases of a folder."""
    if options.cases is None:
        raise UsageError("the skill `repair` needs repair cases", "Name their folder with --cases.")
    cases = sampled_cases(list(read_cases(options.cases)), options.n, options.seed)
    return RepairSkill(cases, find_sandbox(options.sandbox).showing(options.show))

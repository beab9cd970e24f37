"""The target of the skill `command`: a copy of a checkout, changed and checked by shell lines in the sandbox."""

import asyncio
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from misstep_harness import beneath
from misstep_harness.agent.actions import Observation
from misstep_harness.agent.clocks import Clock
from misstep_harness.agent.tools import Tool
from misstep_harness.agent.turns import Turn
from misstep_harness.errors import InputError, MissingPrerequisite, MisstepError, SandboxFailed
from misstep_harness.escaping import without_surrogates
from misstep_harness.journal.records import replace_file
from misstep_harness.progress import say
from misstep_harness.reflexive.model_agents import NO_MORE, SECONDS, agents_of
from misstep_harness.reflexive.protocols import Check, Context, HealthProbe, MakeAgents, Reading, Target
from misstep_harness.reflexive.records import CheckStatus, Role, SnapshotName, WorkItem
from misstep_harness.reflexive.runs.command_file import CommandFile
from misstep_harness.reflexive.runs.running import CHANGES
from misstep_harness.reflexive.workspace_target import WORKER_TOOLS, TreesView, WorkspaceTarget
from misstep_harness.workspace import (
    Finished,
    Sandbox,
    Toolchain,
    Workspace,
    open_workspace,
    own_command,
    project_toolchain,
)
from misstep_harness.workspace.differences import file_diff
from misstep_harness.workspace.git_safety import git_environment
from misstep_harness.workspace.nodes import GIT, Node, node_at, same
from misstep_harness.workspace.repository import Repository
from misstep_harness.workspace.showing import (
    Showing,
    distinct,
    links_to,
    never_shown,
    on_path,
    own_installation,
)

_WORDS = "test tests failed failure error check command line file exit code output item project"
"""What every reflection on a line that fails speaks of."""


class ScriptedWorker:
    """Enters the lines that the file has under `try`: one in each attempt, in their order."""

    name = "scripted"

    def __init__(self, form: CommandFile) -> None:
        self._lines = {one.id: one.attempts for one in form.item}

    async def act(self, context: Context, turn: Turn) -> str:
        """Enter the line whose turn it is; says so if there is none left."""
        await turn.think(SECONDS)
        lines = self._lines[context.item.id]
        if context.attempt > len(lines):
            return NO_MORE
        line = lines[context.attempt - 1]
        await turn.call("run", {"line": line})
        return f"I ran {line}"


class CommandSkill:
    """The items of a file; see `harness.reflexive.protocols.Skill`."""

    name = "command"
    words = frozenset(_WORDS.split())

    def __init__(self, path: Path, form: CommandFile, sandbox: Sandbox) -> None:
        self._path, self.form, self._sandbox = path, form, sandbox
        self.items: Sequence[WorkItem] = form.items
        self.vital_signs = tuple(one.sign for one in form.vital_sign)
        self.commands = form.limits.commands
        self._checkout = checkout_of(form, path, sandbox.show)
        self._toolchain = toolchain_of(form, path, self._checkout, sandbox.show)
        self.shown = self._toolchain.shown
        with self._laid_out() as base:
            self._digest = digest_of(base)
            paths = [each.relative_to(base).as_posix() for each in base.rglob("*") if each.is_file()]
        for at, pattern in enumerate(form.protected):
            if not any(matches(each, pattern) for each in paths):
                message, advice = f"{pattern!r} matches no file of the checkout", "See `misstep help reflect-command`."
                raise InputError(message, advice, file=path, field=f"protected[{at}]")
        has_lines = any(one.attempts for one in form.item)
        self.agents: Mapping[str, MakeAgents] = {"scripted": self._scripted} if has_lines else {}

    @contextmanager
    def _laid_out(self) -> Iterator[Path]:
        shown = self._toolchain.checkout.shown if self._toolchain.checkout else ()
        with TemporaryDirectory(prefix="misstep-checkout-") as place:
            yield lay_out(self._checkout, Path(place) / "files", shown)

    def _scripted(self, seed: int) -> Any:  # noqa: ARG002 -- nothing is drawn
        return agents_of(ScriptedWorker(self.form))

    def settings(self) -> dict[str, Any]:
        """Return the digests of the file and of the checkout, the number of items, the sandbox, and who made them."""
        return {
            "target": sha256(self._path.read_bytes()).hexdigest(),
            "checkout": self._digest,
            "items": len(self.items),
            "sandbox": self._sandbox.name,
            "evidence": "real",
        }

    @contextmanager
    def open(self, kept: Path, clock: Clock) -> Iterator[Target]:  # noqa: ARG002
        """Lay the checkout out; at the start of a run each check is tried before anything is worked on."""
        toolchain = self._toolchain
        with (
            self._laid_out() as base,
            open_workspace(
                base,
                sandbox=self._sandbox,
                read_only=toolchain.read_only,
                environment=toolchain.environment,
                checkout=toolchain.checkout,
            ) as workspace,
            closing(CommandTarget(workspace, self.form, base, kept)) as target,
        ):
            target.try_out(self._path)
            yield target


def checkout_of(form: CommandFile, path: Path, show: Sequence[Path]) -> Path:
    """Return the folder of the project that a file names: beneath it or where one is, in its repository, or shown."""
    (_, checkout), (_, file) = links_to(path.parent / form.checkout), links_to(path)
    tops = (each for each in (file.parent, *file.parents) if (each / GIT).exists())
    near = [file.parent, Path.cwd().resolve(), *list(tops)[:1]]
    allowed = [*(each for each in near if not never_shown(each)), *show]
    if never_shown(checkout) or not any(checkout.is_relative_to(each) for each in allowed):
        message = f"leads to {checkout}, which is neither beneath this file nor where the command runs"
        raise InputError(
            message, f"If you trust it, name it by --show, as --show {checkout}.", file=path, field="checkout"
        )
    return checkout


def toolchain_of(form: CommandFile, path: Path, checkout: Path, show: Sequence[Path]) -> Toolchain:
    """Return the project's interpreter, packages, and the programs that the lines begin with, wherever they are."""
    showing, python = Showing(checkout, tuple(show)), None
    if form.python:
        python = path.parent / form.python
        showing.refuse_elsewhere(python, "The file of a target")
    try:
        chain = project_toolchain(checkout, form.lines[0], python, show)
    except MissingPrerequisite:  # a project that needs no Python
        chain = Toolchain(sys.executable, own_installation())
    folders, programs = dict.fromkeys(chain.read_only), dict.fromkeys(chain.environment["PATH"].split(":"))
    for line in form.lines:
        program = on_path(name, checkout) if (name := (own_command(line).split() or [""])[0]) else None
        if program and not any((Path(place) / name).exists() for place in programs):
            folders |= dict.fromkeys(showing.program(program))
            programs[str(program.parent)] = None
    return Toolchain(chain.python, distinct(folders), chain.checkout, {**chain.variables, "PATH": ":".join(programs)})


PATCHES = "patches"
"""In a run's folder: what each solved item changed."""

NOT_RUN = (126, 127)
"""The exit codes by which a shell says that a program could not be started."""

_MOST_OUTPUT = 4_000
_LEFT_BEHIND = "__pycache__/\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\n.coverage\nnode_modules/\n"
"""What programs leave in a folder and no patch has, whether or not the project's own `.gitignore` has it."""


class LinesView(TreesView):
    """What a worker's commands act on: the files, and lines that run beside them."""

    def __init__(self, target: "CommandTarget") -> None:
        super().__init__(target.workspace)
        self._target = target

    async def run(self, line: str) -> Finished:
        """Run a line, after which the files are looked through anew."""
        done = await asyncio.to_thread(self._target.run, line)
        self.close()
        self._index = None
        return done


class CommandTarget(WorkspaceTarget):
    """The files of a checkout as workers change them; what a check writes is thrown away."""

    def __init__(self, workspace: Workspace, form: CommandFile, base: Path, kept: Path) -> None:
        super().__init__(workspace, kept)
        self.workspace, self._form, self._base, self._out = workspace, form, base, kept.parent
        self._item = ""
        self._start = workspace.take()
        self._probes = [one for one in form.vital_sign if one.kind == "probe"]
        self._view: LinesView | None = None
        self._facts: dict[str, Reading] = {}

    def run(self, line: str, item: str = "") -> Finished:
        """Run a shell line in the sandbox."""
        command, variables = ["/bin/sh", "-c", own_command(line)], {"ITEM": item or self._item}
        return self.workspace.run(command, limits=self._form.limits.of_a_line, environment=variables)

    def try_out(self, path: Path) -> None:
        """Make every check once; raises `InputError` for a line that cannot be run: no worker is at fault."""
        holding = []
        for at, sign in enumerate(self._form.vital_sign):
            done = self._thrown_away(sign.command)
            self._refuse_unrun(done, path, f"vital_sign[{at}].command")
            if sign.kind == "probe" and done.exit_code:
                say(f"misstep: the probe {sign.name} fails already; it counts for no item.")
            elif sign.kind == "probe":
                holding.append(sign)
        self._probes = holding
        for at, one in enumerate(self._form.item):
            if self._form.reset:
                self._refuse_reset(path)
            key = f"item[{at}].check" if one.check else "check"
            done = self._thrown_away(self._form.line_of(one.id), one.id)
            self._refuse_unrun(done, path, key)
            if done.exit_code == 0:
                say(f"misstep: the check of {one.id} passes already.")

    def _refuse_unrun(self, done: Finished, path: Path, key: str) -> None:
        if done.exit_code in NOT_RUN or done.ended != "exited":
            advice = "Give `python` the project's environment, or raise what `limits` allows."
            raise InputError(
                f"the line cannot be run in the sandbox: {_shown(done)[-400:]}", advice, file=path, field=key
            )

    def _refuse_reset(self, path: Path) -> None:
        with self.workspace.restored():
            start = self.workspace.take()
            done = self.run(self._form.reset)
            touched = [name for name in self.workspace.changed(start) if beneath.status(self._base, name)]
        if touched or done.exit_code:
            message = f"it changes {', '.join(touched[:3])}" if touched else f"it fails: {_shown(done)[-400:]}"
            advice = "It may not change the project's files: these are put back without it."
            raise InputError(message, advice, file=path, field="reset")

    def keep(self, name: SnapshotName) -> str:
        """Keep all files; for what is solved, write first what the item and what all of them changed."""
        if name == "progress":
            own = self._wanted(self.workspace.changed(self._start))
            self._write(f"{PATCHES}/{self._item}.diff", self.workspace.diff(self._start, own))
            self._write(CHANGES, self._all_changes())
        digest = super().keep(name)
        self._start = self.workspace.take()
        return digest

    def restore(self, name: SnapshotName) -> None:
        """Bring all files back; without what was solved, its patches go as well."""
        super().restore(name)
        self._start = self.workspace.take()
        if name == "baseline":
            shutil.rmtree(self._out / PATCHES, ignore_errors=True)
            (self._out / CHANGES).unlink(missing_ok=True)

    def protected(self) -> str:
        """Return the digest of the files that no worker may change."""
        digest = sha256()
        for path in self.workspace.files():
            if any(matches(path, pattern) for pattern in self._form.protected):
                digest.update(f"{path}\0{sha256(self.workspace.read(path)).hexdigest()}\n".encode("utf-8", "replace"))
        return digest.hexdigest()

    def tools(self, role: Role) -> Sequence[Tool[Any]]:
        """Return a worker's commands; the other roles have none."""
        return (RUN, *WORKER_TOOLS) if role == "worker" else ()

    @property
    def place(self) -> LinesView:
        """Return the files, with an index that is made anew, as they may have been restored since."""
        self.close()
        self._view = LinesView(self)
        return self._view

    def close(self) -> None:
        """Close the index."""
        if self._view is not None:
            self._view.close()

    async def check(self, item: WorkItem) -> Check:
        """Return whether an item's line ends with 0, and whether each probe holds that did at the start."""
        return await asyncio.to_thread(self._check, item.id)

    def _check(self, item: str) -> Check:
        self._item = item
        (self._out / PATCHES / f"{item}.diff").unlink(missing_ok=True)  # of a process that was killed before it counted
        try:
            with self.workspace.restored():
                if self._form.reset and (done := self.run(self._form.reset)).exit_code:
                    return Check(False, "unknown", f"The line of `reset` fails: {_shown(done)}")
                done = self.run(self._form.line_of(item))
            self._facts = {one.name: self._reading(one.sign) for one in self._form.vital_sign}
        except SandboxFailed as error:
            return Check(False, "unknown", f"The check could not be made: {error.line()}")
        broken = [probe.name for probe in self._probes if not self._facts[probe.name].holds]
        status: CheckStatus = "passed" if done.exit_code == 0 else "failed"
        if done.exit_code in NOT_RUN or done.ended != "exited":
            status = "unknown"
        lost = [f"The probe {name} does not hold any more: {self._facts[name].text}" for name in broken]
        return Check(not broken, status, "\n".join([_shown(done), *lost]))

    async def read(self, sign: HealthProbe) -> Reading:
        """Return what a health probe showed after the last check."""
        return self.read_outside(sign)

    def read_outside(self, sign: HealthProbe) -> Reading:
        """Return what a health probe showed after the last check."""
        return self._facts.get(sign.name) or self._reading(sign)

    def _reading(self, sign: HealthProbe) -> Reading:
        done = self._thrown_away(next(one.command for one in self._form.vital_sign if one.name == sign.name))
        could_run = done.exit_code is not None and done.exit_code not in NOT_RUN
        return Reading(_shown(done), done.exit_code == 0 if sign.invariant and could_run else None)

    def _thrown_away(self, line: str, item: str = "") -> Finished:
        with self.workspace.restored():
            return self.run(line, item)

    def _write(self, name: str, text: str) -> None:
        file = self._out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, text.encode("utf-8", "surrogateescape"))

    def _all_changes(self) -> str:
        with self.workspace.entries() as entries:
            now = {entry.path: entry.node for entry in entries if entry.node is not None}
            then = _nodes(self._base)
            paths = [
                path
                for path in sorted(then.keys() | now.keys())
                if path.partition("/")[0] != GIT and not same(then.get(path), now.get(path))
            ]
            return "".join(file_diff(path, then.get(path), now.get(path)) for path in self._wanted(paths))

    def _wanted(self, paths: Sequence[str]) -> list[str]:
        """Return the paths without new ones that git would ignore."""
        new = [path for path in paths if beneath.status(self._base, path) is None]
        if not new:
            return list(paths)
        with TemporaryDirectory(prefix="misstep-git-") as place:
            git = Path(place)
            for name in ("objects", "refs", "info"):
                (git / name).mkdir()
            (git / "HEAD").write_text("ref: refs/heads/main\n")
            (git / "info/exclude").write_text(_LEFT_BEHIND)
            done = subprocess.run(
                ["git", "check-ignore", "-z", "--stdin"],  # noqa: S607
                input=b"\0".join(path.encode("utf-8", "surrogateescape") for path in new),
                cwd=self._base,
                env=dict(git_environment(git, self._base)),
                capture_output=True,
                check=False,
            )
        ignored = {name.decode("utf-8", "surrogateescape") for name in done.stdout.split(b"\0")}
        return [path for path in paths if path not in ignored]


def matches(path: str, pattern: str) -> bool:
    """Return whether a path is of a pattern, or beneath a folder that is named."""
    name = pattern.strip("/")
    return fnmatchcase(path, name.replace("**/", "*")) or path.startswith(f"{name}/")


def lay_out(checkout: Path, base: Path, installed: Sequence[str]) -> Path:
    """Write the files of a checkout as they are now into a new folder, without what git ignores or is installed."""
    if (checkout / GIT).exists():
        with Repository(checkout, uncommitted=True) as opened:
            return opened.export(opened.head.id, base)

    def skipped(folder: str, names: list[str]) -> list[str]:
        inner = Path(folder).relative_to(checkout)
        return [name for name in names if name in (GIT, "__pycache__") or (inner / name).as_posix() in installed]

    shutil.copytree(checkout, base, symlinks=True, ignore=skipped)
    return base


def digest_of(base: Path) -> str:
    """Return the digest of the files beneath a folder."""
    digest = sha256()
    for path, node in sorted(_nodes(base).items()):
        content = sha256(node.content(node.size)).hexdigest()
        digest.update(f"{path}\0{node.kind}{node.executable}{content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _nodes(base: Path) -> dict[str, Node]:
    paths = (path.relative_to(base).as_posix() for path in base.rglob("*") if not stat.S_ISDIR(path.lstat().st_mode))
    nodes = {path: node_at(base, path, (base / path).lstat()) for path in paths}
    return {path: node for path, node in nodes.items() if node is not None}


def _shown(done: Finished) -> str:
    how = f"exit code {done.exit_code}" if done.ended == "exited" else f"ended by the limit on {done.ended}"
    output = without_surrogates(done.output)
    cut = output if len(output) <= _MOST_OUTPUT else f"…{output[-_MOST_OUTPUT:]}"
    return f"{cut.rstrip()}\n[{how}]".lstrip()


async def _run(arguments: Mapping[str, str], view: LinesView) -> Observation:
    try:
        done = await view.run(arguments["line"].replace("\0", ""))
    except MisstepError as error:
        return Observation(f"The line was not run: {error.line()}", is_error=True)
    return Observation(_shown(done), is_error=done.exit_code != 0)


RUN: Tool[LinesView] = Tool(
    "run",
    "Run a shell line in the root of the project; it may look at files, change them, and run programs and tests.",
    {"line": "the line"},
    _run,
)

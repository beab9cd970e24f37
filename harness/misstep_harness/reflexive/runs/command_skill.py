"""The skill `command`: items of a file on a checkout of the user's, checked by shell lines."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from misstep_harness.agent.clocks import Clock
from misstep_harness.agent.turns import Turn
from misstep_harness.errors import InputError, MissingPrerequisite
from misstep_harness.reflexive.protocols import Context, MakeAgents, Target
from misstep_harness.reflexive.records.loop_events import WorkItem
from misstep_harness.reflexive.runs.command_file import CommandFile
from misstep_harness.reflexive.runs.command_target import CommandTarget, digest_of, lay_out, matches
from misstep_harness.reflexive.runs.repair_skill import NO_MORE, SECONDS, agents_of
from misstep_harness.workspace import (
    Sandbox,
    Toolchain,
    open_workspace,
    own_command,
    project_toolchain,
)
from misstep_harness.workspace.nodes import GIT
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

"""The skill `command`: items of a file on a checkout of the user's, checked by shell lines."""

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from misstep.harness.agent.clocks import Clock
from misstep.harness.agent.turns import Turn
from misstep.harness.errors import InputError, MissingPrerequisite
from misstep.harness.records.loop_events import WorkItem
from misstep.harness.reflexive.protocols import Context, MakeAgents, Target
from misstep.harness.runs.reflect.command_file import CommandFile
from misstep.harness.runs.reflect.command_target import CommandTarget, digest_of, lay_out, matches
from misstep.harness.runs.reflect.repair_skill import NO_MORE, SECONDS, agents_of
from misstep.harness.workspace import (
    Sandbox,
    Toolchain,
    open_workspace,
    own_command,
    program_folders,
    project_toolchain,
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
        self._checkout = (path.parent / form.checkout).resolve()
        self._toolchain = toolchain_of(form, path, self._checkout)
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


def toolchain_of(form: CommandFile, path: Path, checkout: Path) -> Toolchain:
    """Return the project's interpreter, packages, and the programs that the lines begin with, wherever they are."""
    python = (path.parent / form.python) if form.python else None
    try:
        chain = project_toolchain(checkout, form.lines[0], python)
    except MissingPrerequisite:  # a project that needs no Python
        chain = Toolchain(sys.executable, program_folders([sys.executable]))
    folders, programs = dict.fromkeys(chain.read_only), dict.fromkeys(chain.environment["PATH"].split(":"))
    for line in form.lines:
        program = own_command(line).split()[:1]
        on_path = shutil.which(program[0], path=None) if program else None
        if on_path and not any((Path(place) / program[0]).exists() for place in programs):
            folders |= dict.fromkeys(program_folders(program))
            programs[str(Path(on_path).parent)] = None
    return Toolchain(chain.python, tuple(folders), chain.checkout, {**chain.variables, "PATH": ":".join(programs)})

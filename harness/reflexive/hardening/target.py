"""The target: a root file system in a workspace, changed by scripts that come in through its own login and sudo."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from misstep.harness.agent.actions import Observation
from misstep.harness.agent.tools import Tool
from misstep.harness.errors import MisstepError
from misstep.harness.escaping import one_line, without_surrogates
from misstep.harness.records.loop_events import CheckStatus, Role, SnapshotName, WorkItem
from misstep.harness.reflexive.hardening.access import AUDIT, SHELL, refused
from misstep.harness.reflexive.hardening.files import Files, UnreadableFile, files_of
from misstep.harness.reflexive.hardening.forms import RUNNING
from misstep.harness.reflexive.hardening.parsing import sysctl
from misstep.harness.reflexive.hardening.profile import PROFILE
from misstep.harness.reflexive.hardening.rules import Rule
from misstep.harness.reflexive.hardening.vital_signs import AUTHENTICATIONS, JOURNAL, health_faults, reading
from misstep.harness.reflexive.protocols import ChannelBroken, Check, Reading, VitalSign
from misstep.harness.reflexive.workspace_target import WorkspaceTarget
from misstep.harness.workspace import Limits, Workspace

SCRIPT_LIMITS = Limits(seconds=30.0, memory_mb=256, processes=32, output_bytes=1 << 16, file_mb=16, disk_mb=64)
_MOST_OUTPUT = 2_000
_MOST_SCRIPT = 64_000


class HardeningTarget(WorkspaceTarget):
    """A root file system that is to be hardened, by rules with their ids."""

    def __init__(self, workspace: Workspace, rules: Mapping[str, Rule], kept: Path) -> None:
        super().__init__(workspace, kept)
        self._rules = rules
        self._files: Files | None = None

    @property
    def files(self) -> Files:
        """Return the files as they are now; read again only when something may have changed them."""
        if self._files is None:
            self._files = files_of(self._workspace)
        return self._files

    def restore(self, name: SnapshotName) -> None:
        """Bring all files back, whatever is left of them."""
        self._files = None
        super().restore(name)

    def protected(self) -> str:
        """Return the digest of the audit profile, and of anything in its place."""
        profile = self.files.at(PROFILE)
        return sha256(b"" if profile is None else f"{profile.kind} ".encode() + (profile.content or b"")).hexdigest()

    def tools(self, role: Role) -> Sequence[Tool["HardeningTarget"]]:
        """Return the worker's one command."""
        return (APPLY,) if role == "worker" else ()

    @property
    def place(self) -> Any:
        """Return the target itself."""
        return self

    async def check(self, item: WorkItem) -> Check:
        """Return whether the target is healthy, and what is wrong by the item's rule."""
        files = self.files
        faults = list(health_faults(files))
        health = f"UNHEALTHY: {'; '.join(faults)}" if faults else "HEALTHY"
        status: CheckStatus
        try:
            fault = self._rules[item.id].fault(files)
            status, line = ("failed", f"FAIL: {fault}") if fault else ("passed", "PASS")
        except UnreadableFile as error:
            status, line = "unknown", f"the check could not be made: {error.found}"
        return Check(not faults, status, f"target: {health}\nrule {item.id}: {line}")

    def ready(self, item: WorkItem) -> bool:
        """Return whether a start of the machine would not change what the check finds."""
        with suppress(UnreadableFile):
            return not self._rules[item.id].waits(self.files)
        return True

    async def prepare(self, item: WorkItem) -> None:  # noqa: ARG002
        """Start the machine anew: the kernel has what its configuration says, and nothing that was set by hand."""
        values = values_at_start(self.files)
        self._files = None
        self._workspace.write(RUNNING, values)

    async def read(self, sign: VitalSign) -> Reading:
        """Read a vital sign through a login and sudo."""
        return reading(self.enter(AUDIT), sign)

    def read_outside(self, sign: VitalSign) -> Reading:
        """Read a vital sign from the files, as the host has them."""
        return reading(self.files, sign)

    async def reachable(self) -> bool:
        """Return whether a login and sudo work."""
        return refused(self.files, AUDIT) is None

    async def revert_by_script(self, script: str) -> None:
        """Run a worker's own script to undo its change; raises `ChannelBroken` where it cannot come in."""
        self.enter(SHELL)
        await self.run(script or "false")

    def enter(self, command: str) -> Files:
        """Come in as the agent does to run a command, and give what is found; the target logs whom it refuses."""
        files = self.files
        refusal = refused(files, command)
        if refusal is None:
            return files
        line = one_line(refusal.log)
        self._files = None
        for path in (AUTHENTICATIONS, JOURNAL):
            with suppress(MisstepError, OSError):
                before = files.text(path)
                if not before.endswith(f"{line}\n"):
                    self._workspace.write(path, f"{before}{line}\n".encode())
        raise ChannelBroken(without_surrogates(refusal.text))

    async def run(self, script: str) -> Observation:
        """Run a script in the sandbox, with the root of the target as its folder."""
        self._files = None
        done = await asyncio.to_thread(self._workspace.run, [SHELL, "-c", script], limits=SCRIPT_LIMITS)
        how = f"exit code {done.exit_code}" if done.ended == "exited" else f"ended by {done.ended}"
        return Observation(f"{done.output[:_MOST_OUTPUT]}\n[{how}]".lstrip(), is_error=done.exit_code != 0)


def values_at_start(files: Files) -> bytes:
    """Return what the kernel has after a start: what its configuration says."""
    return "".join(f"{key} = {value}\n" for key, value in sorted(sysctl(files).items())).encode()


async def _apply(arguments: Mapping[str, str], target: HardeningTarget) -> Observation:
    script = arguments["script"].encode("utf-8", "replace").decode()
    if "\0" in script or len(script.encode()) > _MOST_SCRIPT:
        return Observation(f"sh: a script has no NUL and at most {_MOST_SCRIPT:,} bytes", is_error=True)
    try:
        target.enter(SHELL)
    except ChannelBroken as error:
        return Observation(error.found, is_error=True)
    return await target.run(script)


APPLY: Tool[HardeningTarget] = Tool(
    "apply",
    "Run a shell script as root on the target; its folder is the root of the file system, so paths have no first `/`.",
    {"script": "the script"},
    _apply,
)

"""What targets have in common whose state is the files of a workspace."""

import asyncio
from pathlib import Path

from misstep_harness.errors import MisstepError
from misstep_harness.reflexive.records import SnapshotName, WorkItem
from misstep_harness.workspace import Workspace
from misstep_harness.workspace.kept_snapshots import KeptSnapshots, content_digest


class WorkspaceTarget:
    """Files in a workspace, with snapshots of them in a folder; see `harness.reflexive.protocols.Target`."""

    def __init__(self, workspace: Workspace, kept: Path) -> None:
        self._workspace = workspace
        self._snapshots = KeptSnapshots(kept)

    def keep(self, name: SnapshotName) -> str:
        """Keep all files."""
        return self._snapshots.keep(name, self._workspace)

    def kept(self, name: SnapshotName) -> str | None:
        """Return the digest of a kept snapshot that is whole."""
        return self._snapshots.digest(name)

    def restore(self, name: SnapshotName) -> None:
        """Bring all files back, whatever is left of them."""
        self._snapshots.restore(name, self._workspace)

    def digest(self) -> str:
        """Return the digest of all files."""
        return content_digest(self._workspace)

    def ready(self, item: WorkItem) -> bool:  # noqa: ARG002
        """No check has to wait."""
        return True

    async def prepare(self, item: WorkItem) -> None:
        """No check waits for anything."""

    async def reachable(self) -> bool:
        """Return whether a command can be started."""
        try:
            done = await asyncio.to_thread(self._workspace.run, ["/bin/sh", "-c", "exit 0"])
        except MisstepError:
            return False
        return done.exit_code == 0

    async def revert_by_script(self, script: str) -> None:
        """Run a worker's own shell line in the sandbox."""
        await asyncio.to_thread(self._workspace.run, ["/bin/sh", "-c", script])

"""What targets have in common whose state is the files of a workspace."""

from pathlib import Path

from misstep.harness.records.loop_events import SnapshotName
from misstep.harness.workspace import Workspace
from misstep.harness.workspace.kept_snapshots import KeptSnapshots, content_digest


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

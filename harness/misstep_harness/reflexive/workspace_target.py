"""Targets whose state is the files of a workspace, and the commands by which workers change them."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from misstep_harness.agent.actions import Observation
from misstep_harness.agent.environment import FileView
from misstep_harness.agent.tools import FIND_FILE, READ_DIRECTORY, READ_FILE, SEARCH_CODE, SEARCH_METHOD, Tool, beneath
from misstep_harness.edits import apply_edit
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


class TreesView(FileView):
    """Files that the commands of a worker act on, and their index."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.workspace = workspace


async def _apply(arguments: Mapping[str, str], view: TreesView) -> Observation:
    folder = beneath(arguments.get("folder", ""))
    start = f"{folder}/" if folder else ""
    try:
        form = arguments.get("form", "search_replace")
        applied = apply_edit(form, arguments["change"], lambda path: view.text(start + path))
        texts = {start + path: None if text is None else text.encode() for path, text in applied.files.items()}
        view.workspace.put_files(texts)
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
    READ_FILE,
    READ_DIRECTORY,
    FIND_FILE,
    SEARCH_CODE,
    SEARCH_METHOD,
)
"""The commands of a repair agent that look at files, and `apply` in the place of `edit`, which needs a second model."""

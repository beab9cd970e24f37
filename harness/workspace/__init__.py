"""A tree of files in which commands run sandboxed, with snapshots that no command reaches."""

from misstep.harness.workspace.finding import find_sandbox
from misstep.harness.workspace.git_safety import copied_git_folder, git_environment
from misstep.harness.workspace.sandbox import Finished, Limits, Mounts, Sandbox
from misstep.harness.workspace.toolchain import Toolchain, program_folders, python_toolchain
from misstep.harness.workspace.tree import Snapshot
from misstep.harness.workspace.workspace import Workspace, open_workspace

__all__ = [
    "Finished",
    "Limits",
    "Mounts",
    "Sandbox",
    "Snapshot",
    "Toolchain",
    "Workspace",
    "copied_git_folder",
    "find_sandbox",
    "git_environment",
    "open_workspace",
    "program_folders",
    "python_toolchain",
]

"""A tree of files in which commands run sandboxed, with snapshots that no command reaches."""

from harness.workspace.finding import find_sandbox
from harness.workspace.git_safety import copied_git_folder, git_environment
from harness.workspace.sandbox import Finished, Limits, Mounts, Sandbox
from harness.workspace.toolchain import Toolchain, program_folders, python_toolchain
from harness.workspace.tree import Snapshot
from harness.workspace.workspace import Workspace, open_workspace

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

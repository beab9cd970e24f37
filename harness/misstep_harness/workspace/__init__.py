"""A tree of files in which commands run sandboxed, with snapshots that no command reaches."""

from misstep_harness.workspace.finding import find_sandbox
from misstep_harness.workspace.nodes import Snapshot
from misstep_harness.workspace.sandbox import Checkout, Finished, Limits, Mounts, Sandbox
from misstep_harness.workspace.toolchain import (
    Toolchain,
    install_line,
    own_command,
    project_toolchain,
    python_toolchain,
)
from misstep_harness.workspace.workspace import Workspace, open_workspace

__all__ = [
    "Checkout",
    "Finished",
    "Limits",
    "Mounts",
    "Sandbox",
    "Snapshot",
    "Toolchain",
    "Workspace",
    "find_sandbox",
    "install_line",
    "open_workspace",
    "own_command",
    "project_toolchain",
    "python_toolchain",
]

"""Measure the start of a sandboxed command, and snapshots of 20,000 files: `python -m benchmarks workspace_speed`.

A start is measured beside a bare `subprocess.run` of the same command, a snapshot beside `cp -a`.
"""

import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.measuring import in_turn, seconds, verdict
from misstep.harness.errors import SandboxMissing
from misstep.harness.workspace import Sandbox, find_sandbox, open_workspace, program_folders, python_toolchain

ROUNDS, ROUNDS_OF_SNAPSHOTS, FOLDERS, FILES = 40, 5, 200, 100


def starts(sandbox: Sandbox, folder: Path) -> None:
    """Print what a start costs, bare and in the sandbox."""
    toolchain = python_toolchain()
    commands: dict[str, list[str]] = {"true": ["true"], "python -c 1": [toolchain.python, "-c", "1"]}
    for name, command in commands.items():
        read_only = toolchain.read_only if command[0] == toolchain.python else program_folders(command)
        with open_workspace(folder, sandbox=sandbox, read_only=read_only) as workspace:
            acts = (partial(subprocess.run, command, capture_output=True, check=True), partial(workspace.run, command))
            times = in_turn({"bare": partial(seconds, acts[0]), "sandboxed": partial(seconds, acts[1])}, ROUNDS)
        shown = [f"{how} {1000 * min(each):5.1f} ms (median {1000 * median(each):5.1f})" for how, each in times.items()]
        least, most = (1000 * min(each) for each in times.values())
        print(f"{sandbox.name:12} {name:12} {', '.join(shown)} {verdict(most, 3 * least + 15)}")


def tree(folder: Path) -> None:
    """Write 20,000 files, 90 MB on the disk."""
    for number in range(FOLDERS):
        inner = folder / f"package{number}"
        inner.mkdir()
        for file in range(FILES):
            (inner / f"module{file}.py").write_text(f"# {number} {file}\n" * 250)


def snapshots(sandbox: Sandbox, folder: Path, how: str) -> None:
    """Print what a snapshot costs beside a full copy, with changes in between that a command and the host made."""
    with tempfile.TemporaryDirectory() as copies:
        commands = [["cp", "-a", str(folder), f"{copies}/{number}"] for number in range(ROUNDS_OF_SNAPSHOTS)]
        full = min(seconds(partial(subprocess.run, command, check=True)) for command in commands)
    started = time.perf_counter()
    with open_workspace(folder, sandbox=sandbox, snapshots=how) as workspace:  # type: ignore[arg-type]
        opening = time.perf_counter() - started
        times: dict[str, list[float]] = {name: [] for name in ("take", "restore", "changed", "files")}
        first = workspace.take()
        for number in range(ROUNDS_OF_SNAPSHOTS):
            workspace.run(
                ["sh", "-c", "for n in 1 2 3 4 5; do echo changed >> package$n/module$n.py; done; rm package9/*"]
            )
            workspace.write(f"new{number}.py", b"new\n")
            times["take"].append(seconds(workspace.take))
            workspace.run(["sh", "-c", "rm -r package7"])
            times["changed"].append(seconds(partial(workspace.changed, first)))
            times["restore"].append(seconds(partial(workspace.restore, first)))
            times["files"].append(seconds(workspace.files))
    print(
        f"{how if workspace.layered else 'copies':8} full copy {1000 * full:6.0f} ms; opening {1000 * opening:6.0f} ms"
    )
    for name, each in times.items():
        share = min(each) / full
        bound = verdict(share, 0.1) if name in ("take", "restore") else ""
        print(f"{'':8} {name:8} {1000 * min(each):8.2f} ms, {share:.3f} of the copy {bound}")


def main() -> None:
    """Print all figures for every sandbox of this machine."""
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as large:
        Path(small, "file.txt").write_text("one\n")
        tree(Path(large))
        for name in ("bubblewrap", "sandlock", "unsandboxed"):
            try:
                sandbox = find_sandbox(name)
            except SandboxMissing as error:
                print(error)
                continue
            starts(sandbox, Path(small))
        best = find_sandbox()
        for how in ("auto", "copies") if best.overlays else ("copies",):
            snapshots(best, Path(large), how)

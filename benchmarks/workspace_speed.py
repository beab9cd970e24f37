"""How fast a sandboxed command starts, and a snapshot is taken and restored: `python -m benchmarks workspace_speed`.

A start is measured beside a bare `subprocess.run` of the same command, in turn, so that a busy machine slows both. The
tree has 20,000 files in 200 folders; a full copy is `cp -a` of it. The least time of the rounds counts, and the median
is printed beside it, as others use the machine too.
"""

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import machine
from misstep.harness.errors import SandboxMissing
from misstep.harness.workspace import Sandbox, find_sandbox, open_workspace, program_folders, python_toolchain

ROUNDS = 40
FOLDERS, FILES = 200, 100
ROUNDS_OF_SNAPSHOTS = 5


def seconds(act: Callable[[], object]) -> float:
    """Return how long it takes."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def starts(sandbox: Sandbox, folder: Path) -> None:
    """Print what a start costs, bare and in the sandbox."""
    toolchain = python_toolchain()
    commands: dict[str, list[str]] = {"true": ["true"], "python -c 1": [toolchain.python, "-c", "1"]}
    for name, command in commands.items():
        read_only = toolchain.read_only if command[0] == toolchain.python else program_folders(command)
        with open_workspace(folder, sandbox=sandbox, read_only=read_only) as workspace:
            bare, boxed = [], []
            for _ in range(ROUNDS):
                bare.append(seconds(lambda command=command: subprocess.run(command, capture_output=True, check=True)))
                boxed.append(seconds(lambda command=command, opened=workspace: opened.run(command)))
        least, most = 1000 * min(bare), 1000 * min(boxed)
        bound = 3 * least + 15
        medians = [1000 * statistics.median(times) for times in (bare, boxed)]
        print(
            f"{sandbox.name:12} {name:12} bare {least:5.1f} ms (median {medians[0]:5.1f}), sandboxed {most:5.1f} ms "
            f"(median {medians[1]:5.1f}); bound {bound:.1f} ms: {'met' if most <= bound else 'missed'}"
        )


def tree(folder: Path) -> None:
    """A tree of 20,000 files, 90 MB on the disk."""
    for number in range(FOLDERS):
        inner = folder / f"package{number}"
        inner.mkdir()
        for file in range(FILES):
            (inner / f"module{file}.py").write_text(f"# {number} {file}\n" * 250)


def snapshots(sandbox: Sandbox, folder: Path, how: str) -> None:
    """Print what a snapshot costs beside a full copy, with changes in between that a command and the host made."""
    with tempfile.TemporaryDirectory() as copies:
        copying = [
            seconds(lambda number=number: subprocess.run(["cp", "-a", str(folder), f"{copies}/{number}"], check=True))
            for number in range(ROUNDS_OF_SNAPSHOTS)
        ]
    started = time.perf_counter()
    with open_workspace(folder, sandbox=sandbox, snapshots=how) as workspace:  # type: ignore[arg-type]
        opening = time.perf_counter() - started
        taking, restoring, changed, listing = [], [], [], []
        first = workspace.take()
        for number in range(ROUNDS_OF_SNAPSHOTS):
            workspace.run(
                ["sh", "-c", "for n in 1 2 3 4 5; do echo changed >> package$n/module$n.py; done; rm package9/*"]
            )
            workspace.write(f"new{number}.py", b"new\n")
            taking.append(seconds(workspace.take))
            workspace.run(["sh", "-c", "rm -r package7"])
            changed.append(seconds(lambda: workspace.changed(first)))
            restoring.append(seconds(lambda: workspace.restore(first)))
            listing.append(seconds(workspace.files))
    full = min(copying)
    print(
        f"{how if workspace.layered else 'copies':8} full copy {1000 * full:6.0f} ms; opening {1000 * opening:6.0f} ms"
    )
    for name, taken in (("take", taking), ("restore", restoring), ("changed", changed), ("files", listing)):
        share = min(taken) / full
        verdict = f"; bound 0.1: {'met' if share <= 0.1 else 'missed'}" if name in ("take", "restore") else ""
        print(f"{'':8} {name:8} {1000 * min(taken):8.2f} ms, {share:.3f} of the copy{verdict}")


def main() -> None:
    """Print all figures for every sandbox of this machine."""
    print(machine())
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


if __name__ == "__main__":
    main()

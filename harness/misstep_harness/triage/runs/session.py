"""Run commands one after the other in one sandbox on a small tree of files, as a container runs an agent's.

What a command prints is masked so that the same commands give the same bytes.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep_harness.triage.records import RunLimits
from misstep_harness.workspace import Finished, Limits, Sandbox, Toolchain, Workspace, find_sandbox, open_workspace
from misstep_harness.workspace import python_toolchain as _toolchain
from misstep_harness.workspace.sandbox import NO_VARIABLES

KILLED, OUT_OF_TIME = 137, 124
"""Exit codes of a command that was killed (by signal 9), and of one that ran out of time."""

_MOST_OUTPUT = 6000
_VARIABLES = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Plug-ins of this machine's pytest are not part of a task."""

_START_SECONDS = 20.0
_RUNNER = """
import json, os, signal, subprocess, sys

def tell(**said):
    os.write(1, (json.dumps(said) + "\\n").encode())

def run(command, seconds):
    process = subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        text, code = process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, code = process.communicate()[0], 124
    return text.decode(errors="replace"), code if code >= 0 else 128 - code

setup, seconds, *commands = json.loads(sys.argv[1])
if setup:
    subprocess.run(["sh", "-c", setup], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for command in commands:
    text, code = run(command, seconds)
    tell(output=text, exit_code=code)
found = [os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names]
tell(modes={os.path.relpath(path): os.lstat(path).st_mode & 0o777 for path in found if os.path.isfile(path)})
"""


class TriageEntry(Struct, frozen=True):
    """A regular file: its bytes and its permissions."""

    data: bytes
    mode: int = 0o644


Tree = Mapping[str, TriageEntry]


class Done(Struct, frozen=True):
    """What a command printed, and its exit code."""

    output: str
    exit_code: int


class TriageSession(Struct, frozen=True):
    """Commands that ran, and the files as they are after the last."""

    done: tuple[Done, ...]
    tree: Tree


class _Told(Struct):
    output: str | None = None
    exit_code: int = 0
    modes: dict[str, int] = {}


@cache
def _tools() -> tuple[Sandbox, Toolchain]:
    return find_sandbox(), _toolchain()


def text_tree(texts: Mapping[str, str], folder: str = "") -> dict[str, TriageEntry]:
    """Files of texts, below a folder; scripts are executable."""
    modes = {path: 0o755 if path.endswith(".sh") else 0o644 for path in texts}
    return {f"{folder}{path}": TriageEntry(text.encode(), modes[path]) for path, text in texts.items()}


def write_tree(tree: Tree, folder: Path) -> None:
    """Write files with their permissions into a folder; files of one tree have one time, whenever it is written."""
    for path, entry in tree.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(entry.data)
        file.chmod(entry.mode)


def run_session(
    tree: Tree,
    commands: Sequence[str],
    limits: RunLimits,
    setup: str = "",
    environment: Mapping[str, str] = NO_VARIABLES,
    modes: bool = True,
) -> TriageSession:
    """Run commands in order on a copy of a tree, each in the root of it.

    A command that breaks the limit on time is ended with exit code 124. One that breaks another limit ends everything
    that runs, as in a container: it has exit code 137, and the next command starts anew on the files as they are.
    """
    sandbox, tools = _tools()
    variables = {**tools.environment, **_VARIABLES, **environment}
    with tempfile.TemporaryDirectory(prefix="misstep-tree-") as folder:
        base = Path(folder)
        write_tree(tree, base)
        with open_workspace(base, sandbox=sandbox, read_only=tools.read_only, environment=variables) as workspace:
            done: list[Done] = []
            file_modes: dict[str, int] = {}
            while True:
                answers, finished = _run(workspace, [setup, limits.seconds, *commands[len(done) :]], tools, limits)
                done += [Done(masked(one.output), one.exit_code) for one in answers if one.output is not None]
                if finished.ended == "exited":
                    file_modes = answers[-1].modes
                    break
                done.append(Done("Killed\n", KILLED))
                if len(done) >= len(commands):
                    answers, _ = _run(workspace, ["", limits.seconds], tools, limits)
                    file_modes = answers[-1].modes if answers else dict.fromkeys(workspace.files(), 0o644)
                    break
            return TriageSession(tuple(done), dict(_files(workspace, file_modes)) if modes else {})


def _run(
    workspace: Workspace, work: list[str | float], tools: Toolchain, limits: RunLimits
) -> tuple[list[_Told], Finished]:
    allowed = Limits(
        seconds=_START_SECONDS + limits.seconds * len(work),
        memory_mb=limits.memory_mb,
        disk_mb=limits.disk_mb,
        processes=limits.processes,
    )
    finished = workspace.run([tools.python, "-c", _RUNNER, json.dumps(work)], limits=allowed)
    lines = finished.output.splitlines()
    answers = [msgspec.json.decode(line, type=_Told) for line in lines if line.startswith('{"')]
    return answers, finished


def _files(workspace: Workspace, modes: Mapping[str, int]) -> Iterator[tuple[str, TriageEntry]]:
    for path in workspace.files():
        if "__pycache__" not in path and ".pytest_cache" not in path:
            yield path, TriageEntry(workspace.read(path), modes.get(path, 0o644))


_MASKS = (
    (re.compile(r"\bin \d+\.\d+ ?s(?:econds)?\b"), "in 0.04s"),
    (re.compile(r"\b0x[0-9a-f]{8,}\b"), "0x7f3a5c0d1e80"),
)


def masked(text: str) -> str:
    """A command's output without times, addresses and this machine's folders; cut in the middle where it is long."""
    for folder in sorted({str(folder.parent) for folder in _tools()[1].read_only}, key=len, reverse=True):
        text = text.replace(folder, "/opt/python")
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    if len(text) <= _MOST_OUTPUT:
        return text
    half = _MOST_OUTPUT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[-half:]}"

"""Tell whether the observer's hook is in a coding agent's settings, and whether it answers.

    {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "misstep observe --hook"}]}]}}

A command is only read and never run: a project's settings may come from anybody.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import dropwhile
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from misstep_harness.errors import MissingPrerequisite

AgentProgram = Literal["claude", "codex"]

_FILES: dict[AgentProgram, tuple[str, str, str]] = {
    "claude": (".claude", "CLAUDE_CONFIG_DIR", "settings.json"),
    "codex": (".codex", "CODEX_HOME", "hooks.json"),
}
"""The folder of an agent's settings, the variable that names the user's own, and the file in it."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
"""A variable that a shell line sets before its program."""

BUSY_SECONDS = 0.2
"""Seconds from which a start of Python alone shows that the machine is busy: idle, it takes a tenth of that or two."""

TRIAL_SECONDS = 20.0
_CALLS = 12


class InstalledHook(Struct, frozen=True):
    """The hook in a file of settings: for which event, and with which command."""

    file: Path
    event: str
    command: str

    @property
    def program(self) -> str | None:
        """Return the program that the command names, where this machine has it."""
        words = dropwhile(_ASSIGNMENT.match, shlex.split(self.command))
        return shutil.which(os.path.expandvars(Path(next(words, "")).expanduser()))


def settings_file(agent: AgentProgram, project: Path | None) -> Path:
    """Return the file of a project, or without one the user's own."""
    folder, variable, name = _FILES[agent]
    own = Path(os.environ.get(variable) or Path.home() / folder)
    return (own if project is None else project / folder) / name


def settings_files(project: Path) -> tuple[Path, ...]:
    """Return the files of settings that an agent in the folder `project` reads."""
    of_claude, of_codex = ([settings_file(agent, place) for place in (None, project)] for agent in _FILES)
    return *of_claude, project / ".claude" / "settings.local.json", *of_codex


def installed_hooks(files: Iterable[Path]) -> Iterator[InstalledHook]:
    """Return the observer's hooks in some files of settings; a file that is missing or broken has none."""
    for file in files:
        try:
            settings = msgspec.json.decode(file.read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        for event, command in own_commands(settings):
            yield InstalledHook(file, event, command)


def own_commands(settings: Any) -> Iterator[tuple[str, str]]:
    """Return event and command of each hook of the observer in settings of any form."""
    value = _of(settings, "hooks")
    for event, groups in value.items() if isinstance(value, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            hooks = _of(group, "hooks")
            for hook in hooks if isinstance(hooks, list) else ():
                if isinstance(command := _of(hook, "command"), str) and is_ours(command):
                    yield event, command


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def is_ours(command: str) -> bool:
    """Return whether a command is the observer's hook."""
    try:
        words = shlex.split(command)
    except ValueError:  # an open quotation: whoever runs it says so
        return False
    return bool(words) and any("misstep" in word for word in words) and {"observe", "--hook"} <= set(words)


def tried_hook() -> float:
    """Return the seconds that the hook takes for an event of a made-up session that goes in circles.

    A busy machine makes any program slow: the hook then has a second trial, with more time in proportion to what Python
    alone takes to start.
    """
    try:
        return _seconds_of_hook(TRIAL_SECONDS)
    except MissingPrerequisite as error:
        alone = bare_start()
        try:
            return _seconds_of_hook(TRIAL_SECONDS * max(1.0, alone / BUSY_SECONDS))
        except MissingPrerequisite:
            if alone < BUSY_SECONDS:
                raise
            why = f"the machine is busy: Python alone takes {alone:.1f} s to start"
            raise BusyMachine(f"{error.found}, and {why}", "Try again when it is idle.") from error


class BusyMachine(MissingPrerequisite):
    """The machine is too busy to tell whether something works."""


def bare_start() -> float:
    """Return the seconds that Python takes now to start and do nothing."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=False)
    return time.perf_counter() - started


def _seconds_of_hook(limit: float) -> float:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        transcript = folder / "session.jsonl"
        lines: list[dict[str, Any]] = [_line(0, "user", "List the files.")]
        for number in range(1, _CALLS):
            use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "cat notes.txt"}}
            answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "Nothing is written here yet."}
            lines.append(_line(2 * number, "assistant", [use]))
            lines.append(_line(2 * number + 1, "user", [answer]))
        transcript.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        environment = {**os.environ, "MISSTEP_CACHE": str(folder / "cache")}
        try:
            reply = _tried("PostToolUse", transcript, environment, limit)
            started = time.perf_counter()
            _tried("PostToolUse", transcript, environment, limit)
            seconds = time.perf_counter() - started
            _tried("SessionEnd", transcript, environment, limit)
        except subprocess.TimeoutExpired as error:
            raise MissingPrerequisite(f"it did not answer within {limit:.0f} s") from error
    if b"additionalContext" not in reply.stdout:
        why = reply.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise MissingPrerequisite(f"it said nothing of a loop{f': {why}' if why else ''}")
    return seconds


def _tried(
    name: str, transcript: Path, environment: dict[str, str], limit: float
) -> "subprocess.CompletedProcess[bytes]":
    event = {"session_id": "trial", "transcript_path": str(transcript), "hook_event_name": name}
    return subprocess.run(
        [sys.executable, "-m", "misstep", "observe", "--hook"],
        input=json.dumps(event).encode(),
        capture_output=True,
        env=environment,
        timeout=limit,
        check=False,
    )


def _line(number: int, role: str, content: Any) -> dict[str, Any]:
    message = {"role": role, "content": content} | ({"id": f"m{number}"} if role == "assistant" else {})
    parent = f"u{number - 1}" if number else None
    common = {"sessionId": "trial", "isSidechain": False, "cwd": "/", "version": "2.0.0"}
    return common | {"type": role, "uuid": f"u{number}", "parentUuid": parent, "message": message}

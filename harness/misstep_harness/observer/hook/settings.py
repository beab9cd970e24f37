"""Tell whether the observer's hook is in a coding agent's settings, and whether it answers.

    {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "misstep observe --hook"}]}]}}

A command is only read and never run: a project's settings may come from anybody.

Put the observer's hook into the settings of a coding agent, and take it out again; all else in the file stays.

Claude Code reads `.claude/settings.json`, Codex `.codex/hooks.json`, both of one form:

    {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "misstep observe --hook", "timeout": 10}]}]}}

Only text is put in or taken out, so that what a file has besides keeps its order, its form and its blanks.
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
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import dropwhile
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from misstep_harness.errors import CannotWrite, InputError, MissingPrerequisite
from misstep_harness.journal.records import replace_file

AgentProgram = Literal["claude", "codex"]

EVENTS_OF: dict[AgentProgram, tuple[str, ...]] = {
    "claude": ("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionEnd"),
    "codex": ("PostToolUse", "UserPromptSubmit"),
}
"""The events that the hook is for; Codex tells of calls that fail as of those that work, and not of a session's end."""

TIMEOUT = 10
_FORM = "Mend the file, or put the hook in by hand: docs/wink.md has it."
_BLANKS = re.compile(r"[ \t\n\r]*")


class SettingsChange(Struct, frozen=True):
    """A change of a file: its text before, `None` without a file, and its text then, `None` where the file goes."""

    file: Path
    before: str | None
    after: str | None

    def diff(self) -> str:
        """Return the change as a diff; empty if there is none."""
        before, after = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = unified_diff(before, after, str(self.file), str(self.file))
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def write(self) -> None:
        """Carry it out."""
        try:
            if self.after is None:
                self.file.unlink()
                return
            target = self.file.resolve()  # settings are often a link into a folder of dotfiles
            target.parent.mkdir(parents=True, exist_ok=True)
            mode = target.stat().st_mode & 0o777 if target.exists() else None
            replace_file(target, self.after.encode(), 0o666 if mode is None else mode)
            if mode is not None:
                target.chmod(mode)
        except OSError as error:
            raise CannotWrite(self.file, error.strerror or str(error)) from error


def hook_command(options: Sequence[str]) -> str:
    """Return the command of this installation's hook: by its name alone where that is found."""
    script = Path(sys.executable).with_name("misstep")
    command = shutil.which("misstep")
    if command and script.exists() and Path(command).samefile(script):
        program = ["misstep"]
    else:
        program = [str(script)] if script.exists() else [sys.executable, "-m", "misstep"]
    return shlex.join([*program, "observe", "--hook", *options])


def installed(file: Path, agent: AgentProgram, command: str) -> SettingsChange:
    """Return the change that puts the hook in; one that is there with other options goes."""
    before = _text(file)
    text = before if before and before.strip() else "{}\n"
    _checked(text, file)
    there = list(own_commands(json.loads(text)))
    if all([ours for at, ours in there if at == event] == [command] for event in EVENTS_OF[agent]):
        return SettingsChange(file, before, before)
    text = _without(text)
    for event in EVENTS_OF[agent]:
        hook = {"type": "command", "command": command, "timeout": TIMEOUT}
        text = _with(text, ("hooks", event), {"hooks": [hook]})
    return SettingsChange(file, before, text)


def uninstalled(file: Path) -> SettingsChange:
    """Return the change that takes the hook out; a file that has nothing else then goes."""
    before = _text(file)
    if before is None or not before.strip():
        return SettingsChange(file, before, before)
    _checked(before, file)
    after = _without(before)
    return SettingsChange(file, before, None if after != before and after == "{}\n" else after)


def _text(file: Path) -> str | None:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", "Save the file as UTF-8.", file=file) from error
    except OSError as error:
        raise InputError(error.strerror or str(error), "Check its permissions.", file=file) from error


def _checked(text: str, file: Path) -> None:
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError) as error:
        has_comment = re.search(r"(^|[,{\[\]}])[ \t]*(//|/\*)", text, re.MULTILINE)
        why = "it has comments, which a change would lose" if has_comment else f"not valid JSON: {error}"
        raise InputError(why, _FORM, file=file, line=getattr(error, "lineno", None)) from error
    if not isinstance(settings, dict):
        raise InputError("not an object", _FORM, file=file)
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise InputError("not an object", _FORM, file=file, field="hooks")
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise InputError("not a list", _FORM, file=file, field=f"hooks.{event}")


class _Part(Struct, frozen=True):
    """A member of an object or array in a text: its key or number, where it begins, where its value does and ends."""

    key: str | int
    start: int
    value: int
    end: int


def _parts(text: str, at: int) -> Iterator[_Part]:
    """Return the members of what begins at a place; nothing of another value."""
    decode = json.JSONDecoder().raw_decode
    is_object = text[at] == "{"
    if text[at] not in "{[":
        return
    place, number = _behind(text, at + 1), 0
    while text[place] not in "}]":
        start, key = place, number
        if is_object:
            name, place = decode(text, place)
            place = _behind(text, _behind(text, place) + 1)
        _, end = decode(text, place)
        yield _Part(name if is_object else key, start, place, end)
        place, number = _behind(text, end), number + 1
        if text[place] == ",":
            place = _behind(text, place + 1)


def _behind(text: str, place: int) -> int:
    """Return the first place from this one on that is not blank."""
    return _BLANKS.match(text, place).end()  # type: ignore[union-attr]


def _part(text: str, at: int, key: str) -> _Part | None:
    return next((one for one in _parts(text, at) if one.key == key), None)


def _with(text: str, keys: Sequence[str], value: Any) -> str:
    """Return the text with a value at the end of the list at these keys, which are made where they are missing."""
    at = _behind(text, 0)
    for depth, key in enumerate(keys):
        part = _part(text, at, key)
        if part is None:
            for missing in reversed(keys[depth + 1 :]):
                value = {missing: [value]}
            value = value if depth + 1 < len(keys) else [value]
            return _added(text, at, depth + 1, value, key)
        at = part.value
    return _added(text, at, len(keys) + 1, value)


def _added(text: str, at: int, depth: int, value: Any, key: str = "") -> str:
    """Return the text with one member more at the end of the object or array at a place."""
    unit = _unit(text)
    line = "" if unit is None else "\n" + unit * depth
    shown = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line)
    shown = f"{json.dumps(key, ensure_ascii=False)}: {shown}" if key else shown
    parts = list(_parts(text, at))
    if parts:
        return f"{text[: parts[-1].end]},{line or ' '}{shown}{text[parts[-1].end :]}"
    inner = text[at + 1 : _behind(text, at + 1)]
    closing = "" if unit is None or "\n" in inner else "\n" + unit * (depth - 1)
    return f"{text[: at + 1]}{line}{shown}{closing}{text[at + 1 :]}"


def _unit(text: str) -> str | None:
    """Return what a line is indented by; `None` for a file in one line that has members."""
    indented = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    if indented:
        return indented[1]
    return "  " if "\n" in text.strip() or text.strip() == "{}" else None


def _without(text: str) -> str:
    """Return the text without our hooks, and without the groups, events and `hooks` that have nothing else."""
    while (place := _ours(text)) is not None:
        for at, part in reversed(place):
            parts = list(_parts(text, at))
            text = _removed(text, at, parts, next(n for n, one in enumerate(parts) if one.key == part))
            if len(parts) > 1:
                break
    return text


def _ours(text: str) -> list[tuple[int, str | int]] | None:
    """Return the way to the first hook of ours: where each object or array begins, and the key there."""
    root = _behind(text, 0)
    hooks = _part(text, root, "hooks")
    for event in _parts(text, hooks.value) if hooks else ():
        for group in _parts(text, event.value):
            inner = _part(text, group.value, "hooks") if text[group.value] == "{" else None
            for hook in _parts(text, inner.value) if inner else ():
                value = json.loads(text[hook.value : hook.end])
                command = value.get("command") if isinstance(value, dict) else None
                if hooks and isinstance(command, str) and is_ours(command):
                    inside = inner.value if inner else 0
                    return [(root, "hooks"), (hooks.value, event.key), (event.value, group.key), (inside, hook.key)]
    return None


def _removed(text: str, at: int, parts: Sequence[_Part], number: int) -> str:
    """Return the text without one member of what begins at a place."""
    if number:
        return text[: parts[number - 1].end] + text[parts[number].end :]
    if len(parts) > 1:
        return text[: parts[0].start] + text[parts[1].start :]
    return text[: at + 1] + text[_behind(text, parts[0].end) :]


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

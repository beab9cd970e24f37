"""Put the observer's hook into the settings of a coding agent, and take it out again; all else in the file stays.

Claude Code reads `.claude/settings.json`, Codex `.codex/hooks.json`, both of one form:

    {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "misstep observe --hook", "timeout": 10}]}]}}

Only text is put in or taken out, so that what a file has besides keeps its order, its form and its blanks.
"""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.errors import CannotWrite, InputError
from misstep_harness.journal.records import replace_file
from misstep_harness.observer.hook.settings import AgentProgram, is_ours, own_commands

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

"""How different agents call the same things: reading, searching, editing, running, and what their tools answer."""

import json
import re
import shlex
from typing import Any

from msgspec import Struct

from misstep.harness.generate.voice import Voice

Arguments = dict[str, Any]
Named = tuple[str, Arguments]


class Broken(Struct, frozen=True):
    """A call that its tool refuses: name, arguments (or raw text, with the parser's complaint) and the answer."""

    name: str
    arguments: Arguments | str
    answer: str
    parse_error: str | None = None


class Vocabulary:
    """A general agent with a tool for each act, whose record has neither error flags nor exit codes."""

    agent = "handyman"
    edits_by_text = True
    """Whether an edit names the text to replace, so that it can fail to find it."""
    taken_for = ("start_line", "def {}")
    """An argument of a look at a file, and a value that it cannot take."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice

    def refusal(self, kind: str, **names: object) -> str:
        """Return what the harness answers to a call that did not work, the same words all through a session."""
        return self.wrapped(self.voice.keep(kind, **names))

    def wrapped(self, text: str) -> str:
        """Return an error in the frame of the harness."""
        return text

    def read(self, path: str, first: int, count: int | None) -> Named:
        """Look at a file from line `first` on; `count` lines, or all."""
        return "read_file", {"path": path} | (
            {} if count is None else {"start_line": first, "end_line": first + count - 1}
        )

    def search(self, pattern: str, folder: str) -> Named:
        """Look for a text in the files below a folder."""
        return "search", {"query": pattern, "folder": folder}

    def edit(self, path: str, old: str, new: str) -> Named:
        """Replace a text in a file."""
        return "replace_in_file", {"path": path, "find": old, "replace": new}

    def write(self, path: str, text: str) -> Named:
        """Write a whole file."""
        return "write_file", {"path": path, "content": text}

    def run(self, command: str) -> Named:
        """Run a command in a shell."""
        return "run_command", {"command": command}

    def shown(self, lines: list[str], first: int) -> str:
        """Return what reading answers."""
        return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, start=first))

    def edited(self, path: str) -> str:
        """Return what a successful edit answers."""
        return self.voice.keep("edited", path=path)

    def written(self, path: str) -> str:
        """Return what writing a file answers."""
        return self.voice.keep("written", path=path)

    def not_found(self, path: str, old: str) -> str:
        """Return what an edit answers whose text is not in the file."""
        return self.refusal("edit_not_found", path=path, old=old)

    def unknown(self, path: str, word: str) -> Broken:
        """Return a call of a tool that this agent does not have."""
        tool = self.voice.keep("imagined_tool")
        return Broken(tool, {"file": path, "symbol": word}, self.refusal("unknown_tool", tool=tool))

    def incomplete(self, path: str, word: str) -> Broken:
        """Return a look for a word in a file that leaves out an argument that is required."""
        return self.lacking(self.search(word, path), "query")

    def invalid(self, path: str, word: str) -> Broken:
        """Return a call with an argument that its tool cannot take."""
        argument, value = self.taken_for
        return self.refusing(self.read(path, 1, 40), argument, value.format(word))

    def malformed(self, path: str, word: str) -> Broken:
        """Return a look for a word in a file whose arguments do not parse."""
        name, arguments = self.search(word, path)
        raw, error = _cut_short(arguments)
        return self.unparsed(name, raw, error)

    def lacking(self, named: Named, argument: str) -> Broken:
        """Return a call without one of its arguments."""
        name, arguments = named
        answer = self.refusal("missing_argument", tool=name, argument=argument)
        return Broken(name, {key: value for key, value in arguments.items() if key != argument}, answer)

    def refusing(self, named: Named, argument: str, value: object) -> Broken:
        """Return a call with a value for one of its arguments that its tool cannot take."""
        name, arguments = named
        answer = self.refusal("invalid_argument", tool=name, argument=argument, value=value)
        return Broken(name, arguments | {argument: value}, answer)

    def unparsed(self, name: str, raw: str, error: str) -> Broken:
        """Return a call whose arguments are a text that does not parse, and what the parser says of it."""
        return Broken(name, raw, self.refusal("malformed_call", tool=name, reason=error), error)

    def turn_extra(self, planning: bool) -> Arguments:  # noqa: ARG002
        """Return what the record says of the mode beside a turn of the user; most say nothing."""
        return {}

    def session_extra(self, plannings: list[bool]) -> Arguments:  # noqa: ARG002
        """Return what the record says of the modes of all turns."""
        return {}

    def framed(self, output: str, code: int) -> str:
        """Return what a command's output looks like."""
        return output if code == 0 else f"{output}\n(exit code {code})"

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:  # noqa: ARG002
        """Error flag and exit code as this agent records them; `code` is `None` where nothing was run."""
        return None, None


class _ClaudeCode(Vocabulary):
    agent = "claude-code"
    taken_for = ("offset", "{}")

    def read(self, path: str, first: int, count: int | None) -> Named:
        return "Read", {"file_path": f"/home/kim/{path}"} | ({} if count is None else {"offset": first, "limit": count})

    def search(self, pattern: str, folder: str) -> Named:
        return "Grep", {"pattern": pattern, "path": folder or ".", "output_mode": "content"}

    def edit(self, path: str, old: str, new: str) -> Named:
        return "Edit", {"file_path": f"/home/kim/{path}", "old_string": old, "new_string": new}

    def write(self, path: str, text: str) -> Named:
        return "Write", {"file_path": f"/home/kim/{path}", "content": text}

    def run(self, command: str) -> Named:
        return "Bash", {"command": command}

    def shown(self, lines: list[str], first: int) -> str:
        return "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start=first))

    def wrapped(self, text: str) -> str:
        return f"<tool_use_error>{text}</tool_use_error>"

    def incomplete(self, path: str, word: str) -> Broken:
        return self.lacking(self.search(word, path), "pattern")

    def turn_extra(self, planning: bool) -> Arguments:
        return {"permissionMode": "plan" if planning else "default"}

    def framed(self, output: str, code: int) -> str:
        return output if code == 0 else f"Exit code {code}\n{output}"

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:  # noqa: ARG002
        return failed, None


class _OpenHands(Vocabulary):
    agent = "openhands"
    taken_for = ("view_range", "{}")

    def read(self, path: str, first: int, count: int | None) -> Named:
        span = {} if count is None else {"view_range": [first, first + count - 1]}
        return "str_replace_editor", {"command": "view", "path": f"/workspace/{path}"} | span

    def search(self, pattern: str, folder: str) -> Named:
        return self.run(f'grep -rn "{pattern}" /workspace/{folder}')

    def edit(self, path: str, old: str, new: str) -> Named:
        arguments = {"command": "str_replace", "path": f"/workspace/{path}", "old_str": old, "new_str": new}
        return "str_replace_editor", arguments

    def write(self, path: str, text: str) -> Named:
        return "str_replace_editor", {"command": "create", "path": f"/workspace/{path}", "file_text": text}

    def run(self, command: str) -> Named:
        return "execute_bash", {"command": command}

    def shown(self, lines: list[str], first: int) -> str:
        return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, start=first))

    def wrapped(self, text: str) -> str:
        return f"ERROR:\n{text}"

    def incomplete(self, path: str, word: str) -> Broken:  # noqa: ARG002
        return self.lacking(self.read(path, 1, 40), "command")

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:  # noqa: ARG002
        return None, code


class _Shell(Vocabulary):
    def read(self, path: str, first: int, count: int | None) -> Named:
        return self.run(f"cat {path}" if count is None else f"sed -n '{first},{first + count - 1}p' {path}")

    def shown(self, lines: list[str], first: int) -> str:  # noqa: ARG002
        return "\n".join(lines)

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:
        return None, int(failed) if code is None else code


class _Codex(_Shell):
    agent = "codex"
    taken_for = ("yield_time_ms", "{}")

    def search(self, pattern: str, folder: str) -> Named:
        return self.run(f"rg -n {shlex.quote(pattern)} {folder}".rstrip())

    def edit(self, path: str, old: str, new: str) -> Named:
        before, after = _marked("-", old), _marked("+", new)
        return "apply_patch", {"input": _patch(f"*** Update File: {path}\n@@\n{before}\n{after}")}

    def write(self, path: str, text: str) -> Named:
        return "apply_patch", {"input": _patch(f"*** Add File: {path}\n{_marked('+', text)}")}

    def run(self, command: str) -> Named:
        return "exec_command", {"cmd": command, "workdir": "/home/kim/project"}

    def incomplete(self, path: str, word: str) -> Broken:
        arguments = {"workdir": path.rpartition("/")[0], "justification": f"find {word}"}
        return self.lacking(("exec_command", arguments), "cmd")

    def malformed(self, path: str, word: str) -> Broken:
        return self.unparsed("exec_command", f'{{"cmd": "rg -n {word} {path}, "workdir": ', "expected `,` or `}`")

    def session_extra(self, plannings: list[bool]) -> Arguments:
        modes = ("read-only" if planning else "workspace-write" for planning in plannings)
        return {"turn_contexts": [{"sandbox_policy": {"mode": mode}} for mode in modes]}

    def framed(self, output: str, code: int) -> str:
        return f"Exit code: {code}\nOutput:\n{output}"


class _OlderCodex(_Codex):
    """Codex as it was: `shell` with a list of words, also for patches."""

    def run(self, command: str) -> Named:
        return "shell", {"command": ["bash", "-lc", command], "timeout_ms": 60000}

    def edit(self, path: str, old: str, new: str) -> Named:
        return "shell", {"command": ["apply_patch", str(super().edit(path, old, new)[1]["input"])]}

    def write(self, path: str, text: str) -> Named:
        return "shell", {"command": ["apply_patch", str(super().write(path, text)[1]["input"])]}

    def incomplete(self, path: str, word: str) -> Broken:
        arguments = {"workdir": path.rpartition("/")[0], "justification": f"find {word}"}
        return self.lacking(("shell", arguments), "command")

    def invalid(self, path: str, word: str) -> Broken:
        return self.refusing(("shell", {}), "command", f"grep -n {word} {path}")

    def malformed(self, path: str, word: str) -> Broken:
        raw = f'{{"command": ["bash", "-lc", "rg -n {word} {path}"'
        return self.unparsed("shell", raw, "EOF while parsing a list")


class _BashAlone(_Shell):
    agent = "bash-alone"
    edits_by_text = False

    def search(self, pattern: str, folder: str) -> Named:
        return self.run(f"grep -rn {shlex.quote(pattern)} {folder or '.'}")

    def edit(self, path: str, old: str, new: str) -> Named:
        pattern = re.sub(r"([\\.*^$\[\]])", r"\\\1", old.strip())
        replacement = re.sub(r"([\\&])", r"\\\1", new.strip())
        return self.run(f"sed -i {shlex.quote(f's|{pattern}|{replacement}|')} {path}")

    def write(self, path: str, text: str) -> Named:
        return self.run(f"cat > {path} <<'EOF'\n{text}\nEOF")

    def run(self, command: str) -> Named:
        return "bash", {"command": command}

    def edited(self, path: str) -> str:  # noqa: ARG002
        return ""

    def written(self, path: str) -> str:  # noqa: ARG002
        return ""

    def incomplete(self, path: str, word: str) -> Broken:
        return self.lacking(("bash", {"description": f"look for {word} in {path}"}), "command")

    def invalid(self, path: str, word: str) -> Broken:
        return self.refusing(("bash", {}), "command", {"grep": word, "file": path})

    def malformed(self, path: str, word: str) -> Broken:
        return self.unparsed("bash", f'{{"command": "grep -n {word} {path}', "unterminated string")


def _marked(mark: str, text: str) -> str:
    return "\n".join(f"{mark}{line}" for line in text.split("\n"))


def _patch(body: str) -> str:
    return f"*** Begin Patch\n{body}\n*** End Patch"


def _cut_short(arguments: Arguments) -> tuple[str, str]:
    raw = json.dumps(arguments)[:-2]
    try:
        json.loads(raw)
    except json.JSONDecodeError as error:
        return raw, str(error)
    raise ValueError(f"still parses: {raw}")


VOCABULARIES: tuple[type[Vocabulary], ...] = (Vocabulary, _ClaudeCode, _OpenHands, _Codex, _OlderCodex, _BashAlone)

"""Agents whose acts are shell commands: SWE-agent with its own commands, Codex, and one that has nothing but bash."""

import re
import shlex

from misstep.harness.generate.vocabularies import Arguments, Broken, Named, Vocabulary


class _SweAgent(Vocabulary):
    """SWE-agent: actions by their first word, answers as plain text; an edit names the text to replace."""

    agent = "swe-agent"

    def read(self, path: str, first: int, count: int | None) -> Named:
        return _first_word(f"open {path}" if count is None else f"open {path} {first}")

    def search(self, pattern: str, folder: str) -> Named:
        return _first_word(f'search_dir "{pattern}" {folder or "."}')

    def edit(self, path: str, old: str, new: str, line: int) -> Named:  # noqa: ARG002
        texts = f"--old_str {shlex.quote(old)} --new_str {shlex.quote(new)}"
        return _first_word(f"str_replace_editor str_replace {path} {texts}")

    def write(self, path: str, text: str) -> Named:
        return _first_word(f"cat > {path} <<'EOF'\n{text}\nEOF")

    def run(self, command: str) -> Named:
        return _first_word(command)

    def shown(self, lines: list[str], first: int) -> str:
        numbered = "\n".join(f"{number}:{line}" for number, line in enumerate(lines, start=first))
        return f"[File, {len(lines)} lines]\n{numbered}"

    def written(self, path: str) -> str:  # noqa: ARG002
        return ""

    def unknown(self, path: str, word: str) -> Broken:
        name, arguments = _first_word(f"{self.voice.keep('imagined_tool')} {word} {path}")
        return Broken(name, arguments, self.refusal("no_such_command", tool=name))

    def incomplete(self, path: str, word: str) -> Broken:  # noqa: ARG002
        return self.lacking(_first_word(f"search_file --in {path}"), "term")

    def invalid(self, path: str, word: str) -> Broken:
        name, arguments = _first_word(f"open {path} {word}")
        return Broken(name, arguments, self.refusal("invalid_argument", tool=name, argument="line_number", value=word))

    def malformed(self, path: str, word: str) -> Broken:
        raw = f'{{"command": "search_file {word} {path}'
        answer = self.refusal("malformed_call", tool="search_file", reason="unterminated string at char 12")
        return Broken("search_file", raw, answer, "unterminated string")


class _OlderSweAgent(_SweAgent):
    """SWE-agent as it was: an edit gives the lines of the open file anew."""

    edits_by_text = False
    edits_open_file = True

    def edit(self, path: str, old: str, new: str, line: int) -> Named:  # noqa: ARG002
        return _first_word(f"edit {line}:{line + old.count(chr(10))}\n{new}\nend_of_edit")


class _Codex(Vocabulary):
    """Codex: commands by `exec_command`, edits as patches, exit codes on everything that ran."""

    agent = "codex"

    def read(self, path: str, first: int, count: int | None) -> Named:
        return self.run(f"cat {path}" if count is None else f"sed -n '{first},{first + count - 1}p' {path}")

    def search(self, pattern: str, folder: str) -> Named:
        return self.run(f"rg -n {shlex.quote(pattern)} {folder}".rstrip())

    def edit(self, path: str, old: str, new: str, line: int) -> Named:  # noqa: ARG002
        before, after = _marked("-", old), _marked("+", new)
        return "apply_patch", {"input": _patch(f"*** Update File: {path}\n@@\n{before}\n{after}")}

    def write(self, path: str, text: str) -> Named:
        return "apply_patch", {"input": _patch(f"*** Add File: {path}\n{_marked('+', text)}")}

    def run(self, command: str) -> Named:
        return "exec_command", {"cmd": command, "workdir": "/home/kim/project"}

    def shown(self, lines: list[str], first: int) -> str:  # noqa: ARG002
        return "\n".join(lines)

    def incomplete(self, path: str, word: str) -> Broken:
        told = {"workdir": path.rpartition("/")[0], "justification": f"find {word}"}
        return self.lacking(("exec_command", told), "cmd")

    def invalid(self, path: str, word: str) -> Broken:
        return self.refusing(self.read(path, 1, 40), "yield_time_ms", word)

    def malformed(self, path: str, word: str) -> Broken:
        return self.unparsed("exec_command", f'{{"cmd": "rg -n {word} {path}, "workdir": ', "expected `,` or `}`")

    def session_extra(self, plannings: list[bool]) -> Arguments:
        modes = ("read-only" if planning else "workspace-write" for planning in plannings)
        return {"turn_contexts": [{"sandbox_policy": {"mode": mode}} for mode in modes]}

    def framed(self, output: str, code: int) -> str:
        return f"Exit code: {code}\nOutput:\n{output}"

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:
        return None, (1 if failed else 0) if code is None else code


class _OlderCodex(_Codex):
    """Codex as it was: `shell` with a list of words, also for patches."""

    def run(self, command: str) -> Named:
        return "shell", {"command": ["bash", "-lc", command], "timeout_ms": 60000}

    def edit(self, path: str, old: str, new: str, line: int) -> Named:
        return "shell", {"command": ["apply_patch", str(super().edit(path, old, new, line)[1]["input"])]}

    def write(self, path: str, text: str) -> Named:
        return "shell", {"command": ["apply_patch", str(super().write(path, text)[1]["input"])]}

    def incomplete(self, path: str, word: str) -> Broken:
        told = {"workdir": path.rpartition("/")[0], "justification": f"find {word}"}
        return self.lacking(("shell", told), "command")

    def invalid(self, path: str, word: str) -> Broken:
        return self.refusing(("shell", {}), "command", f"grep -n {word} {path}")

    def malformed(self, path: str, word: str) -> Broken:
        raw = f'{{"command": ["bash", "-lc", "rg -n {word} {path}"'
        return self.unparsed("shell", raw, "EOF while parsing a list")


class _BashAlone(Vocabulary):
    """An agent with one tool, bash, whose record has exit codes."""

    agent = "bash-alone"
    edits_by_text = False

    def read(self, path: str, first: int, count: int | None) -> Named:
        return self.run(f"cat {path}" if count is None else f"sed -n '{first},{first + count - 1}p' {path}")

    def search(self, pattern: str, folder: str) -> Named:
        return self.run(f"grep -rn {shlex.quote(pattern)} {folder or '.'}")

    def edit(self, path: str, old: str, new: str, line: int) -> Named:  # noqa: ARG002
        pattern = re.sub(r"([\\.*^$\[\]])", r"\\\1", old.strip())
        replacement = re.sub(r"([\\&])", r"\\\1", new.strip())
        return self.run(f"sed -i {shlex.quote(f's|{pattern}|{replacement}|')} {path}")

    def write(self, path: str, text: str) -> Named:
        return self.run(f"cat > {path} <<'EOF'\n{text}\nEOF")

    def run(self, command: str) -> Named:
        return "bash", {"command": command}

    def shown(self, lines: list[str], first: int) -> str:  # noqa: ARG002
        return "\n".join(lines)

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

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:
        return None, (1 if failed else 0) if code is None else code


def _first_word(command: str) -> Named:
    return command.split(maxsplit=1)[0], {"command": command}


def _marked(mark: str, text: str) -> str:
    return "\n".join(f"{mark}{line}" for line in text.split("\n"))


def _patch(body: str) -> str:
    return f"*** Begin Patch\n{body}\n*** End Patch"


SHELL_VOCABULARIES: tuple[type[Vocabulary], ...] = (_SweAgent, _OlderSweAgent, _Codex, _OlderCodex, _BashAlone)
"""The agents that act by commands."""

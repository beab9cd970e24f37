"""Agents whose acts are shell commands: SWE-agent with its own commands, Codex, and one that has nothing but bash."""

import re
import shlex

from harness.generate.vocabularies import Broken, Named, Vocabulary


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
        return f"{numbered}\n({len(lines)} lines shown)"

    def edited(self, path: str) -> str:
        return f"{path} has been updated. Review the change."

    def written(self, path: str) -> str:  # noqa: ARG002
        return "(no output)"

    def not_found(self, path: str, old: str) -> str:
        return f"Your edit was not applied: the text below does not occur in {path}.\n{old}"

    def unknown(self, path: str, word: str) -> Broken:
        name, arguments = _first_word(f"goto_symbol {word} {path}")
        return Broken(name, arguments, "bash: goto_symbol: command not found")

    def incomplete(self, path: str, word: str) -> Broken:
        name, arguments = _first_word(f"search_file --in {path}")
        return Broken(name, arguments, f"Usage: search_file <term> [<file>]\nThe term is missing, such as {word}.")

    def invalid(self, path: str, word: str) -> Broken:
        name, arguments = _first_word(f"open {path} {word}")
        return Broken(
            name, arguments, f"Error: <line_number> must be a number, not {word}\nUsage: open <path> [<line>]"
        )

    def malformed(self, path: str, word: str) -> Broken:
        raw = f'{{"command": "search_file {word} {path}'
        answer = "Your output could not be parsed: a discussion and one command are expected. Please try again."
        return Broken("search_file", raw, answer, "the command is not closed")


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

    def edited(self, path: str) -> str:
        return f"Done. These files were updated:\nM {path}"

    def written(self, path: str) -> str:
        return f"Done. These files were updated:\nA {path}"

    def not_found(self, path: str, old: str) -> str:
        return f"apply_patch verification failed: the expected lines are not in {path}:\n{old}"

    def unknown(self, path: str, word: str) -> Broken:
        return Broken("symbol_search", {"path": path, "query": word}, "unsupported call: symbol_search")

    def incomplete(self, path: str, word: str) -> Broken:
        answer = "failed to parse function arguments: missing field `cmd`"
        return Broken("exec_command", {"workdir": path.rpartition("/")[0], "justification": f"find {word}"}, answer)

    def invalid(self, path: str, word: str) -> Broken:
        name, arguments = self.read(path, 1, 40)
        answer = f"failed to parse function arguments: invalid type: string {word!r}, expected u64 for `yield_time_ms`"
        return Broken(name, arguments | {"yield_time_ms": word}, answer)

    def malformed(self, path: str, word: str) -> Broken:
        raw = f'{{"cmd": "rg -n {word} {path}, "workdir": '
        error = "expected `,` or `}`"
        return Broken("exec_command", raw, f"failed to parse function arguments: {error}", error)

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
        answer = "failed to parse function arguments: missing field `command`"
        return Broken("shell", {"workdir": path.rpartition("/")[0], "justification": f"find {word}"}, answer)

    def invalid(self, path: str, word: str) -> Broken:
        answer = "failed to parse function arguments: invalid type: string, expected a sequence for `command`"
        return Broken("shell", {"command": f"grep -n {word} {path}"}, answer)

    def malformed(self, path: str, word: str) -> Broken:
        raw = f'{{"command": ["bash", "-lc", "rg -n {word} {path}"'
        return Broken("shell", raw, "failed to parse function arguments: EOF while parsing a list", "EOF in a list")


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

    def unknown(self, path: str, word: str) -> Broken:
        return Broken(
            "view_symbol", {"path": path, "symbol": word}, "Unknown tool: view_symbol. The only tool is bash."
        )

    def incomplete(self, path: str, word: str) -> Broken:
        answer = "Error: the argument `command` is missing in the call of bash"
        return Broken("bash", {"description": f"look for {word} in {path}"}, answer)

    def invalid(self, path: str, word: str) -> Broken:
        answer = "Error: invalid argument: `command` must be a string, not an object"
        return Broken("bash", {"command": {"grep": word, "file": path}}, answer)

    def malformed(self, path: str, word: str) -> Broken:
        raw = f'{{"command": "grep -n {word} {path}'
        return Broken("bash", raw, "Error: the tool call is not valid JSON: unterminated string", "unterminated string")

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:
        return None, (1 if failed else 0) if code is None else code


def _first_word(command: str) -> Named:
    return command.split(maxsplit=1)[0], {"command": command}


def _marked(mark: str, text: str) -> str:
    return "\n".join(f"{mark}{line}" for line in text.split("\n"))


def _patch(body: str) -> str:
    return f"*** Begin Patch\n{body}\n*** End Patch"


SHELL_VOCABULARIES: tuple[Vocabulary, ...] = (_SweAgent(), _OlderSweAgent(), _Codex(), _OlderCodex(), _BashAlone())
"""The agents that act by commands."""

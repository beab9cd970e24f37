"""How different agents call the same things, as `agents.toml` lists them, and what their tools answer."""

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from misstep_harness.generate.voice import Voice, WordingSet, fill

Arguments = dict[str, Any]
Named = tuple[str, Arguments]


class _Call(Struct, frozen=True, forbid_unknown_fields=True):
    tool: str
    arguments: Arguments


class Agent(Struct, frozen=True, forbid_unknown_fields=True):
    """An agent's calls and the form of what it is answered; the data file says what each is."""

    name: str
    record: Literal["flags", "codes", "text"]
    required: str
    read: _Call
    page: _Call
    search: _Call
    incomplete: _Call
    edit: _Call
    write: _Call
    run: _Call
    set: str = ""
    modes: Literal["", "turns", "session"] = ""
    edits_by_text: bool = True
    line: str = "$text"
    error: str = "$text"
    ran: str = "$output"
    failed: str = "$output\n(exit code $code)"
    edited: str = "$text"
    written: str = "$text"


@cache
def load_agents(wordings: WordingSet) -> tuple[Agent, ...]:
    """Return the agents that speak from a set of wordings."""
    raw = (Path(__file__).parent / "agents.toml").read_bytes()
    agents = msgspec.toml.decode(raw, type=dict[str, list[Agent]])["agent"]
    return tuple(agent for agent in agents if agent.set in ("", wordings))


class Broken(Struct, frozen=True):
    """A call that its tool refuses: name, arguments (or raw text, with the parser's complaint) and the answer."""

    name: str
    arguments: Arguments | str
    answer: str
    parse_error: str | None = None


class Vocabulary:
    """The calls of one agent and what its tools answer."""

    def __init__(self, agent: Agent, voice: Voice) -> None:
        self.agent, self.voice = agent, voice

    def refusal(self, kind: str, **names: object) -> str:
        """Return what the harness answers to a call that did not work, the same words all through a session."""
        return fill(self.agent.error, {"text": self.voice.keep(kind, **names)})

    def read(self, path: str, first: int, count: int | None) -> Named:
        """Look at a file from line `first` on; `count` lines, or all."""
        if count is None:
            return _filled(self.agent.read, path=path)
        return _filled(self.agent.page, path=path, first=first, count=count, last=first + count - 1)

    def search(self, pattern: str, folder: str) -> Named:
        """Look for a text in the files below a folder."""
        return _filled(self.agent.search, word=pattern, quoted=shlex.quote(pattern), folder=folder or ".")

    def edit(self, path: str, old: str, new: str) -> Named:
        """Replace a text in a file."""
        pattern = re.sub(r"([\\.*^$\[\]])", r"\\\1", old.strip())
        replacement = re.sub(r"([\\&])", r"\\\1", new.strip())
        script = shlex.quote(f"s|{pattern}|{replacement}|")
        patch = {"removed": _marked("-", old), "added": _marked("+", new)}
        return _filled(self.agent.edit, path=path, old=old, new=new, script=script, **patch)

    def write(self, path: str, text: str) -> Named:
        """Write a whole file."""
        return _filled(self.agent.write, path=path, text=text, added=_marked("+", text))

    def run(self, command: str) -> Named:
        """Run a command in a shell."""
        return _filled(self.agent.run, command=command)

    def shown(self, lines: list[str], first: int) -> str:
        """Return what reading answers."""
        numbered = enumerate(lines, start=first)
        return "\n".join(fill(self.agent.line, {"number": f"{number:6}", "text": line}) for number, line in numbered)

    def accepted(self, kind: Literal["edited", "written"], path: str) -> str:
        """Return what an edit or a written file answers."""
        return fill(getattr(self.agent, kind), {"text": self.voice.keep(kind, path=path)})

    def unknown(self, path: str, word: str) -> Broken:
        """Return a call of a tool that this agent does not have."""
        tool = self.voice.keep("imagined_tool")
        return Broken(tool, {"file": path, "symbol": word}, self.refusal("unknown_tool", tool=tool))

    def incomplete(self, path: str, word: str) -> Broken:
        """Return a look for a word in a file that leaves out an argument that is required."""
        name, arguments = _filled(self.agent.incomplete, path=path, word=word)
        answer = self.refusal("missing_argument", tool=name, argument=self.agent.required)
        return Broken(name, arguments, answer)

    def malformed(self, path: str, word: str) -> Broken:
        """Return a look for a word in a file whose arguments do not parse."""
        name, arguments = self.search(word, path)
        raw = json.dumps(arguments)[:-2]
        error = "unexpected end of the arguments"
        return Broken(name, raw, self.refusal("malformed_call", tool=name, reason=error), error)

    def framed(self, output: str, code: int) -> str:
        """Return what a command's output looks like."""
        return fill(self.agent.failed if code else self.agent.ran, {"output": output, "code": code})

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:
        """Error flag and exit code as this agent records them; `code` is `None` where nothing was run."""
        flag = failed if self.agent.record == "flags" else None
        return flag, (int(failed) if code is None else code) if self.agent.record == "codes" else None


def _filled(call: _Call, **names: object) -> Named:
    return call.tool, {name: _value(template, names) for name, template in call.arguments.items()}


def _value(template: Any, names: dict[str, object]) -> Any:
    """Return an argument; a number stays one where it is all of a text."""
    if isinstance(template, dict):
        return {name: _value(inner, names) for name, inner in template.items()}
    if isinstance(template, list):
        return [_value(inner, names) for inner in template]
    return names[template[1:]] if template[1:] in names else fill(template, names)


def _marked(mark: str, text: str) -> str:
    return "\n".join(f"{mark}{line}" for line in text.split("\n"))

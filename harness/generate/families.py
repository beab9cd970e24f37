"""Agents whose tools are called as nobody else's, as `families.toml` lists them: MCP servers and tools of a house."""

from functools import cache
from random import Random
from typing import Literal

import msgspec
from msgspec import Struct

from misstep.harness.generate.vocabularies import Arguments, Broken, Named, Vocabulary
from misstep.harness.generate.voice import FOLDER, Voice


class _Tool(Struct, frozen=True, forbid_unknown_fields=True):
    tool: str
    path: str = ""
    first: str = ""
    count: str = ""
    text: str = ""
    old: str = ""
    new: str = ""
    within: str = ""
    listed: str = ""


class _Family(Struct, frozen=True, forbid_unknown_fields=True):
    agent: str
    set: str
    record: Literal["flags", "codes", "text"]
    root: str
    read: _Tool
    search: _Tool
    edit: _Tool
    write: _Tool
    run: _Tool


@cache
def load_families() -> tuple[_Family, ...]:
    """Return the families of the data file."""
    raw = (FOLDER.parent / "families.toml").read_bytes()
    return tuple(msgspec.toml.decode(raw, type=dict[str, list[_Family]])["family"])


def own_tools(random: Random, voice: Voice) -> Vocabulary:
    """Return the calls of one of the families of the set that a voice draws from."""
    return _OwnTools(voice, random.choice([one for one in load_families() if one.set == voice.wordings]))


class _OwnTools(Vocabulary):
    def __init__(self, voice: Voice, family: _Family) -> None:
        super().__init__(voice)
        self._family = family
        self.agent = family.agent

    def read(self, path: str, first: int, count: int | None) -> Named:
        tool = self._family.read
        span = {} if count is None else {tool.first: first, tool.count: count}
        return _named(tool, {tool.path: self._family.root + path} | span)

    def search(self, pattern: str, folder: str) -> Named:
        tool = self._family.search
        return _named(tool, {tool.text: pattern, tool.path: self._family.root + folder})

    def edit(self, path: str, old: str, new: str) -> Named:
        tool = self._family.edit
        texts: Arguments = {tool.old: old, tool.new: new}
        return _named(tool, {tool.path: self._family.root + path} | ({tool.listed: [texts]} if tool.listed else texts))

    def write(self, path: str, text: str) -> Named:
        tool = self._family.write
        return _named(tool, {tool.path: self._family.root + path, tool.text: text})

    def run(self, command: str) -> Named:
        return _named(self._family.run, {self._family.run.text: command})

    def incomplete(self, path: str, word: str) -> Broken:
        tool = self._family.search
        return self.lacking(_named(tool, {tool.path: self._family.root + path, "note": word}), tool.text)

    def invalid(self, path: str, word: str) -> Broken:
        tool = self._family.read
        name, arguments = _named(tool, {tool.path: self._family.root + path, tool.first: f"def {word}"})
        answer = self.refusal("invalid_argument", tool=name, argument=tool.first, value=f"def {word}")
        return Broken(name, arguments, answer)

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:
        flag = failed if self._family.record == "flags" else None
        return flag, code if self._family.record == "codes" else None


def _named(tool: _Tool, arguments: Arguments) -> Named:
    return tool.tool, {tool.within: arguments} if tool.within else arguments

"""Read what the agent read, typed and wrote, act by act, and the files of a case as texts."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Literal

import msgspec
from msgspec import Struct

from misstep_harness.classifiers.effects import CHANGES_FILES, effects
from misstep_harness.classifiers.failures import failed
from misstep_harness.classifiers.history import Act, History
from misstep_harness.classifiers.shell import Command, commands_of, placed
from misstep_harness.classifiers.tools import LOOKS, path_of, words
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.protocols import ReadOnlyAccess
from misstep_harness.triage.records import Part


def texts_of(access: ReadOnlyAccess, part: Part) -> dict[str, str]:
    """Path → text of the files of a part that are UTF-8."""
    texts: dict[str, str] = {}
    for path in access.files(part):
        data = access.read(part, path)
        if data is not None and b"\0" not in data:
            with suppress(UnicodeDecodeError):
                texts[path] = data.decode()
    return texts


def changed_texts(access: ReadOnlyAccess) -> dict[str, str]:
    """Path → text of the files that the agent made or changed."""
    before = texts_of(access, "environment")
    return {path: text for path, text in texts_of(access, "workspace").items() if before.get(path) != text}


def parsed(text: str) -> list[ast.AST]:
    """Return all nodes of a Python program; none of what cannot be parsed."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return list(ast.walk(ast.parse(text)))
    return []


def joined(texts: Mapping[str, str]) -> str:
    """Return all texts as one."""
    return "\n".join(texts.values())


_SHORTEST = 14
_COMMON = re.compile(r"(?:import|from|#!|#include|package|using|except|finally|return$|else|pass$|if __name__)\b")
_MANY_LINES, _MUCH_TEXT = 3, 90


def telling_lines(*texts: str) -> frozenset[str]:
    """Return the lines of texts, without their margins, that are neither short nor what any program has."""
    lines = (line.strip() for text in texts for line in text.splitlines())
    return frozenset(line for line in lines if len(line) >= _SHORTEST and not _COMMON.match(line))


def are_many(lines: Iterable[str]) -> bool:
    """Return whether shared lines are too many, or too long, to be chance."""
    shared = set(lines)
    return len(shared) >= _MANY_LINES or sum(map(len, shared)) >= _MUCH_TEXT


def cut(text: str, most: int = 5) -> str:
    """Return the first lines of a text, as evidence shows them."""
    lines = text.strip().splitlines()
    return "\n".join(line[:200] for line in lines[:most]) + ("\n…" if len(lines) > most else "")


Way = Literal["reads", "copies", "runs"]

_NO_LOOKS = words("cd ls find tree stat pwd echo printf env export set true false test [ seq which whereis type date")
_COPIES = words("cp mv ln rsync install tar unzip")
_RUNS = words("bash sh zsh dash source . python python3 node perl ruby")
_HISTORY = words("show log diff stash cat-file reflog")


class Access(Struct, frozen=True):
    """A file that an act names: how it is used."""

    path: str
    way: Way


class Doing(Struct, frozen=True):
    """One act of the agent.

    - `shows`: Whether it only prints text from somewhere: its output was not worked out by a program.
    """

    step: int
    accesses: tuple[Access, ...]
    wrote: tuple[str, ...]
    typed: str
    output: str
    shows: bool
    line: str
    succeeded: bool


def doings(trajectory: Trajectory | None) -> tuple[Doing, ...]:
    """Return what the agent did, in order; nothing without a run."""
    return tuple(map(_doing, History(trajectory).acts)) if trajectory is not None else ()


def _doing(act: Act) -> Doing:
    commands = commands_of(act)
    accesses = [access for command in commands for access in _accesses(command)]
    if act.kind in ("read", "view", "look", "search") and (path := path_of(act.call)):
        accesses.append(Access(path, "reads"))
    shows = act.kind in ("read", "view", "look", "search") or (bool(commands) and any(map(_shows, commands)))
    arguments = act.call.arguments
    typed = arguments if isinstance(arguments, str) else "\n".join(_texts(arguments))
    return Doing(
        act.step,
        tuple(accesses),
        tuple(effect.target for effect in effects(act) if effect.verb in CHANGES_FILES),
        typed,
        act.result.text if act.result is not None else "",
        shows,
        act.line or "",
        not failed(act) and not (act.result is not None and (act.result.exit_code or 0) != 0),
    )


def _shows(command: Command) -> bool:
    if command.program == "git":
        return len(command.words) > 1 and command.words[1] in _HISTORY
    return command.program in LOOKS - _NO_LOOKS


def _accesses(command: Command) -> Iterator[Access]:
    program = command.program
    named = [word for word in command.words[1:] if not word.startswith("-")]
    way: Way | None = None
    if program in _COPIES:
        way, named = "copies", named[:-1] or named
    elif program in _RUNS:
        way, named = "runs", named[:1]
    elif program in LOOKS - _NO_LOOKS:
        way = "reads"
    elif command.words and "/" in command.words[0]:
        way, named = "runs", [command.words[0]]
    if way is not None:
        yield from (Access(placed(path, command.folder), way) for path in named)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
    elif value is not None:
        yield msgspec.json.encode(value).decode()

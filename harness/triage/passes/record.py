"""What the record of a run says that the agent read, typed and wrote, act by act."""

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from misstep.harness.classifiers.calls.effects import CHANGES_FILES, effects
from misstep.harness.classifiers.calls.failures import failed
from misstep.harness.classifiers.calls.history import Act, History
from misstep.harness.classifiers.calls.programs import LOOKS, words
from misstep.harness.classifiers.calls.shell import Command, commands_of, placed
from misstep.harness.classifiers.calls.tools import path_of
from misstep.harness.trajectory import Trajectory

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
    """Return what the agent did, in order; nothing if there is no run."""
    return tuple(map(_doing, History(trajectory).acts)) if trajectory is not None else ()


def _doing(act: Act) -> Doing:
    made = commands_of(act)
    accesses = [access for command in made for access in _accesses(command)]
    if act.kind in ("read", "view", "look", "search") and (path := path_of(act.call)):
        accesses.append(Access(path, "reads"))
    shows = act.kind in ("read", "view", "look", "search") or (bool(made) and any(map(_shows, made)))
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

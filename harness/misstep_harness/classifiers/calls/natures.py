"""What repeating a call can mean: whether it changes things, only looks, waits, or moves what is seen.

bash {"command": "cat a.py | head"}  → look      bash {"command": "pytest -q"}   → test
bash {"command": "sleep 30; gh run view"} → wait  edit_file {…}                  → change
"""

from typing import Literal

from misstep_harness.classifiers.calls import programs
from misstep_harness.classifiers.calls.effects import CHANGES_FILES, command_effects, effects, is_test_run
from misstep_harness.classifiers.calls.failures import own_failure
from misstep_harness.classifiers.calls.history import Act, once
from misstep_harness.classifiers.calls.shell import Command, commands_of
from misstep_harness.classifiers.calls.tools import Kind, words_of
from misstep_harness.trajectory import ToolCall

Nature = Literal["look", "orient", "test", "run", "change", "wait", "move"]

_BY_KIND: dict[Kind, Nature] = {
    "read": "look", "search": "look", "list": "look", "look": "look", "ask": "look", "note": "look", "finish": "look",
    "edit": "change", "write": "change", "patch": "change", "delete": "change", "rename": "change", "undo": "change",
    "change": "change", "test": "test", "run": "run", "wait": "wait", "view": "move",
}  # fmt: skip

_STATUS_WORDS = programs.words("status wait watch poll rollout checks runs")
_HOW_LONG = programs.words(
    "s sec secs second seconds ms millis milliseconds minute minutes mins duration delay time timeout wait"
)
_PAUSES = ("sleep", "wait", "watch", ":")
_ALONE = 2
"""Words of `git status` and of `ls` without anything more."""

_RANK: dict[Nature, int] = {"orient": 0, "look": 1, "test": 2, "move": 3, "run": 4, "change": 5, "wait": 6}


@once
def nature_of(act: Act) -> Nature:
    """Return what repeating a call can mean; a command line of several commands is what its weightiest command is."""
    line = act.line
    if line is None:
        return "wait" if _only_waits(act.call) else _BY_KIND.get(act.kind, "run")
    if not line.strip():
        return "look" if own_failure(act) else "wait"  # an empty line asks what a running program has to say
    commands = commands_of(act)
    natures = {_command_nature(command) for command in commands}
    # What is done before a look at how it goes is no waiting, and neither are tests and changes after a pause.
    if natures & {"test", "change"} or ("run" in natures and all(one.program not in _PAUSES for one in commands)):
        natures.discard("wait")
    return max(natures, key=_RANK.__getitem__, default="run")


def changes_files(act: Act) -> bool:
    """Return whether a call wrote, edited, made or deleted a file."""
    return any(effect.verb in CHANGES_FILES for effect in effects(act))


def _only_waits(call: ToolCall) -> bool:
    arguments = call.arguments
    if not isinstance(arguments, dict) or len(arguments) != 1:
        return False
    ((name, value),) = arguments.items()
    return isinstance(value, int | float) and not isinstance(value, bool) and not _HOW_LONG.isdisjoint(words_of(name))


def is_run(command: Command) -> bool:
    """Return whether a command runs tests or a program, and does not only look."""
    return _command_nature(command) in ("test", "run")


def _command_nature(command: Command) -> Nature:
    words = command.words
    program = command.program
    if command_effects(command):
        return "change"
    if not words or program in programs.ORIENTS:
        return "orient"
    if is_test_run(command):
        return "test"
    if words[0].startswith("./"):
        return "run"  # a program of the project, whatever its name
    if program == "git":
        what = next((word for word in words[1:] if not word.startswith("-")), "")
        if what in ("status", "diff") and all(word.startswith("-") for word in words[_ALONE:]):
            return "orient"
        return "look" if what in programs.GIT_LOOKS else "run"
    if program in programs.WAITS and (program in _PAUSES or _STATUS_WORDS & set(words) or "get" in words):
        return "wait"
    if program in programs.MOVES:
        return "move"
    if program == "ls" and len(words) <= _ALONE:
        return "orient"
    return "look" if program in programs.LOOKS or program == "sed" else "run"

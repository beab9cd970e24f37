"""Whether an instruction was followed, as the calls after it show."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from harness.classifiers.effects import CHANGES_FILES, command_effects, effects, is_test_run
from harness.classifiers.history import Act, History, once
from harness.classifiers.instructions import Instruction
from harness.classifiers.programs import LOOKS, RUNNERS
from harness.classifiers.prose import own_words
from harness.classifiers.shell import Command, commands, commands_of
from harness.classifiers.targets import is_scratch
from harness.classifiers.tools import bare_name, squeezed
from harness.classifiers.verdicts import counted, quoted
from harness.values import written

Shown = tuple[list[int], str]

_UNABLE = re.compile(
    r"\b(?:can't|cannot|can not|couldn't|could not|unable|isn't available|is not available|not available|"
    r"don't have|do not have|unavailable|"
    r"isn't installed|not installed|doesn't exist|does not exist|no such)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD_GAP = re.compile(r"\s+")
_LINE_END = re.compile(r"\n+")
_TEST_WORD = re.compile(r"(?:^|[\s:/._-])(?:tests?|spec|check|pytest)(?:$|[\s:/._-])", re.IGNORECASE)


def not_followed(history: History, one: Instruction) -> Shown | None:
    """The steps that show that an instruction was not followed, and what was seen; `None` where it was."""
    acts = _between(history, one.since, one.until)
    if one.sort == "ask":
        return _unasked(one, acts)
    if one.sort.startswith("avoid"):
        return _used_all_the_same(one, acts)
    if one.sort == "flag":
        return _without_flag(one, acts)
    if one.sort == "short":
        return _too_long(history, one)
    if not _had_its_chance(history, one):
        return None
    if one.sort == "correction":
        return _uncorrected(history, one, acts)
    if one.sort == "baseline":
        return _untested_before(acts)
    if one.sort == "tool":
        return _tool_unused(history, one, acts)
    if one.sort == "read":
        return _unread(one, acts)
    if _done(history, one, acts):
        return None
    what = {
        "command": f"never runs {quoted(' '.join(one.names))}",
        "tests": "runs no tests after its changes",
        "check": f"never runs a {one.mode}",
        "file": f"never writes {quoted(one.names[0])}",
    }[one.sort]
    return _instead(history, one, acts), f"the agent {what}"


def _without_flag(one: Instruction, acts: list[Act]) -> Shown | None:
    """Runs of a command without the flag that it is always to be given."""
    words = _core(list(one.names))
    steps = [
        act.step
        for act in acts
        for command in commands_of(act)
        if _in_order(words, command) and one.mode.split("=")[0].split(" ")[0] not in " ".join(command.words)
    ]
    return (steps, f"the agent runs {quoted(' '.join(one.names))} without it ({counted(steps)})") if steps else None


def _uncorrected(history: History, one: Instruction, acts: list[Act]) -> Shown | None:
    """A correction after which nothing is changed, in a run in which the agent can change things."""
    changing = ("edit", "write", "patch", "delete", "rename", "change", "run", "undo")
    if history.turns[-1].step > one.since:
        return None
    could = any(effects(act) for act in history.acts if act.step < one.since)
    if not could or any(act.kind in changing or effects(act) for act in acts):
        return None
    return [history.agent_steps[-1]], f"the agent changes nothing after that ({counted([history.agent_steps[-1]])})"


def _too_long(history: History, one: Instruction) -> Shown | None:
    """A last answer that is much longer than it may be: for sentences by more than one, else by half."""
    index = history.agent_steps[-1]
    if one.until is not None or index <= one.since or history.trajectory.steps[index].calls:
        return None
    text = own_words(history.trajectory.steps[index].text)
    limit, unit = int(one.names[0]), one.mode
    pieces = {"sentence": _SENTENCE_END, "word": _WORD_GAP, "line": _LINE_END}[unit].split(text.strip())
    count = len([piece for piece in pieces if piece.strip()])
    if count <= (limit + 1 if unit == "sentence" else limit * 1.5):
        return None
    return [index], f"the answer has {count} {unit}s ({counted([index])})"


def _untested_before(acts: list[Act]) -> Shown | None:
    """Changes before the tests were run for the first time."""
    for act in acts:
        if _is_test(act):
            return None
        if any(effect.verb in CHANGES_FILES and not is_scratch(effect.target) for effect in effects(act)):
            return [act.step], f"the agent makes changes without having run the tests ({counted([act.step])})"
    return None


def _between(history: History, since: int, until: int | None) -> list[Act]:
    """The calls after one step and before another."""
    acts = history.acts
    start = bisect_right(acts, since, key=_step)
    return acts[start : len(acts) if until is None else bisect_left(acts, until, key=_step)]


def _step(act: Act) -> int:
    return act.step


def _from_both_ends(acts: Sequence[Act]) -> Iterator[Act]:
    """Calls from both ends on: what was asked for is done soon after it was asked for, or at the end."""
    for place in range((len(acts) + 1) // 2):
        yield acts[place]
        if place != len(acts) - 1 - place:
            yield acts[len(acts) - 1 - place]


def _done(history: History, one: Instruction, acts: list[Act]) -> bool:
    if one.sort == "tests":
        # What comes after the next turn is about something else: one of the two has to be tested.
        following = next((turn.step for turn in history.turns if turn.step > one.since), None)
        return _tested(acts) or _tested(_between(history, one.since, following))
    return {"command": _ran, "check": _checked, "file": _made}[one.sort](one, acts)


def _instead(history: History, one: Instruction, acts: list[Act]) -> list[int]:
    """The instruction, what was done in place of it (that command otherwise, else the changes), and the end."""
    core = _core(list(one.names)) if one.sort == "command" else []
    alike = [act.step for act in acts if core and any(_in_order(core[:2], command) for command in commands_of(act))]
    changes = [act.step for act in acts if effects(act)]
    return [*_ends(history, one), *(alike or changes)]


def _ends(history: History, one: Instruction) -> list[int]:
    return [one.since, history.agent_steps[-1]]


def _had_its_chance(history: History, one: Instruction) -> bool:
    """Whether the agent came to an end of its own after the instruction, without asking back or giving up."""
    if one.until is not None or not history.acts or history.agent_steps[-1] <= one.since:
        return False
    last = history.trajectory.steps[history.agent_steps[-1]].text
    if (history.acts[-1].step <= one.since and not last) or last.rstrip().endswith("?"):
        return False
    words = {"tests": ("test",), "check": one.names}.get(one.sort, (" ".join(one.names[:2]),))
    after = (text for step, text in _unable(history) if step > one.since)
    return not any(word.lower() in text for text in after for word in words)


@once
def _unable(history: History) -> list[tuple[int, str]]:
    """The agent's steps that say that something cannot be done, with their texts in small letters."""
    texts = ((step, history.trajectory.steps[step].text) for step in history.agent_steps)
    return [(step, text.lower()) for step, text in texts if _UNABLE.search(text)]


def _unasked(one: Instruction, acts: list[Act]) -> Shown | None:
    verbs: frozenset[Any] = CHANGES_FILES if one.names[0] == "edit" else frozenset(one.names)
    for act in acts:
        if act.kind == "ask":
            return None
        for effect in effects(act):
            if effect.verb in verbs and not is_scratch(effect.target):
                return [
                    act.step
                ], f"the agent does it without asking: {effect.verb} {quoted(effect.target)} ({counted([act.step])})"
    return None


def _used_all_the_same(one: Instruction, acts: list[Act]) -> Shown | None:
    steps = []
    for act in acts:
        made = commands_of(act)
        if one.sort == "avoid tests":
            used = act.kind == "test" or any(is_test_run(command) for command in made)
        elif one.sort == "avoid all":
            used = any(command.program not in LOOKS and command.program != "git" for command in made)
        else:
            used = _uses(one, act, made)
        if used:
            steps.append(act.step)
    what = "commands" if one.sort == "avoid all" else quoted(one.names[0])
    return (steps, f"the agent uses {what} all the same ({counted(steps)})") if steps else None


def _uses(one: Instruction, act: Act, made: Sequence[Command]) -> bool:
    """Whether a call is what may not be used: a tool of that name, that program, an import of it in written text."""
    bad = one.names[0].lower()
    if squeezed(act.call.name) == squeezed(bad) or bad in {word for command in made for word in _programs(command)}:
        return True
    if " " in bad and any(_in_order(bad.split(), command) for command in made):
        return True
    if not one.instead or not bad.isidentifier():
        return False
    imports = re.compile(rf"^[^\S\n]*+(?:import|from) {re.escape(bad)}\b(?!\.mock)", re.MULTILINE)
    return any(imports.search(effect.text) for effect in effects(act))


def _programs(command: Command) -> set[str]:
    """The programs that a command runs by name: its own, the module of `python -m`, what a runner runs."""
    words = command.words
    if not words or command.piped:
        return set()
    found = {command.program}
    if command.program.startswith("python") and "-m" in words[:-1]:
        found.add(words[words.index("-m") + 1])
    if command.program in RUNNERS:
        ways = RUNNERS[command.program]
        plain = [word for word in words[1:] if not word.startswith("-")]
        if not ways or (plain[:1] and plain[0] in ways):
            found.update(plain[1 if ways else 0 :][:1])
    return found


def _tool_unused(history: History, one: Instruction, acts: list[Act]) -> Shown | None:
    wanted = squeezed(one.names[0])
    if not one.mode and any(_is_use(act, wanted) for act in _from_both_ends(acts)):
        return None
    uses = [act for act in acts if _is_use(act, wanted)]
    if not uses:
        mode = f" with mode {quoted(one.mode)}" if one.mode else ""
        return _instead(history, one, acts), f"the agent never uses {quoted(one.names[0])}{mode}"
    if one.mode and not any(one.mode.lower() in _all_text(act).lower() for act in uses):
        steps = [act.step for act in uses]
        return steps, f"the agent uses {quoted(one.names[0])} without the mode {quoted(one.mode)} ({counted(steps)})"
    return None


def _is_use(act: Act, wanted: str) -> bool:
    """Whether a call uses a tool: by its name, as a program of a shell, or through a tool that takes its name."""
    name = squeezed(act.call.name)
    if name == wanted or name.endswith(wanted) or (wanted.endswith(name) and len(name) > 3):
        return True
    line = act.line
    if line is not None:
        return any(
            wanted == squeezed(program) for command in commands_of(act) for program in _programs(command) if program
        )
    arguments = act.call.arguments
    values = arguments.values() if isinstance(arguments, dict) else ()
    return any(isinstance(value, str) and len(value) < 80 and squeezed(value.lstrip("/")) == wanted for value in values)


def _all_text(act: Act) -> str:
    arguments = act.call.arguments
    if isinstance(arguments, str):
        return arguments
    return " ".join(value if isinstance(value, str) else written(value, indented=False) for value in arguments.values())


def _unread(one: Instruction, acts: list[Act]) -> Shown | None:
    name = one.names[0].rsplit("/", 1)[-1]
    for act in acts:
        if name in _all_text(act):
            return None
        if any(effect.verb in CHANGES_FILES and not is_scratch(effect.target) for effect in effects(act)):
            return [
                act.step
            ], f"the agent makes changes without having read {quoted(one.names[0])} ({counted([act.step])})"
    return None


def _in_order(words: list[str], command: Command) -> bool:
    """Whether the words of a command, flags aside, stand in a command that was run, in this order."""
    ran = iter([command.program, *(word.rsplit("/", 1)[-1] for word in command.words[1:])])
    return all(word.rsplit("/", 1)[-1] in ran for word in words if not word.startswith("-"))


def _ran(one: Instruction, acts: list[Act]) -> bool:
    wanted = list(one.names)
    for act in _from_both_ends(acts):
        line = act.line
        if line is None:
            if squeezed(act.call.name) == squeezed("".join(wanted)) or wanted[0] in _all_text(act):
                return True
            continue
        if " ".join(wanted) in line:
            return True
        flags = [word for word in wanted if word.startswith("--")]
        if any(_in_order(_core(wanted), command) for command in commands_of(act)) and all(
            flag in line for flag in flags
        ):
            return True
    return False


def _core(words: list[str]) -> list[str]:
    """The words of the first command of a line, without what wraps it."""
    made = commands(" ".join(words))
    return list(made[-1].words) if made and made[-1].words else words


def _tested(acts: list[Act]) -> bool:
    """Whether tests were run, after the first change where there was one."""
    tested_before = changed = False
    for act in acts:
        if _is_test(act):
            if changed:
                return True
            tested_before = True
        elif not changed:
            changed = any(effect.verb in CHANGES_FILES for effect in effects(act))
    return tested_before and not changed


def _is_test(act: Act) -> bool:
    """Whether a call runs tests, or may: any command that is not a mere look and speaks of tests counts."""
    line = act.line
    if line is None:
        return (
            act.kind in ("test", "run")
            and _TEST_WORD.search(f"{bare_name(act.call.name)} {_all_text(act)}") is not None
        )
    return any(
        is_test_run(command)
        or (
            command.program not in LOOKS
            and not command_effects(command)
            and _TEST_WORD.search(" ".join(command.words)) is not None
        )
        for command in commands_of(act)
    )


def _checked(one: Instruction, acts: list[Act]) -> bool:
    return any(
        any(name in (act.line or f"{act.call.name} {_all_text(act)}") for name in one.names)
        for act in _from_both_ends(acts)
    )


def _made(one: Instruction, acts: list[Act]) -> bool:
    name = one.names[0].rsplit("/", 1)[-1]
    return any(name in _all_text(act) for act in _from_both_ends(acts))

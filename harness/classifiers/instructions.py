"""What the user asks to be done in a certain way: tools and modes, commands, files, an order of steps.

    "Use the `review_code` tool with mode `thorough`."  → Instruction("tool", ("review_code",), mode="thorough")
    "Run the tests before you finish."                  → Instruction("tests", …)
    "Use pnpm, not npm."                                → Instruction("avoid", ("npm",), instead="pnpm")
    "Ask me before deleting anything."                  → Instruction("ask", ("delete",))

Offers ("you can use …"), conditions ("if you need it, run …") and descriptions ("run `x` and you will see …") are none.
"""

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct, structs

from harness.classifiers.history import Turn
from harness.classifiers.orders import (
    ASKS,
    ASSIGNED,
    AVOID,
    AVOID_ALL,
    AVOID_TESTS,
    AVOID_WORDS,
    BASELINE,
    BUG_REPORT,
    BY_SCRIPT,
    CALLED,
    CANCELLED,
    CHANGE,
    CHECKS,
    COMMAND,
    CORRECTION,
    FILE_WORDS,
    FILES,
    FLAGS,
    GATE,
    INSIDE_CALL,
    INSTEAD,
    MODES,
    NO_TOOL,
    NOT_ASKED,
    NUMBERS,
    OFFER,
    READS,
    REPORT,
    SCRIPTS,
    SHORT,
    TESTS,
    TOOLS,
)
from harness.classifiers.programs import PROGRAMS
from harness.classifiers.prose import OPEN as NAME_MARK
from harness.classifiers.prose import REMEMBERED, Phrase, Sentence, has, marked
from harness.classifiers.tools import is_known_name
from harness.classifiers.wording import as_path

Sort = Literal[
    "tool", "command", "flag", "tests", "baseline", "check", "file", "read", "short", "correction",
    "avoid", "avoid tests", "avoid all", "ask",
]  # fmt: skip


_CLAUSE_END = re.compile(r"[,;:]|\bbut\b")
_NEGATION = re.compile(r"n't|not |never|without")
_RUNNING = re.compile(r"\b(?:run|test)")


class Instruction(Struct, frozen=True, gc=False):
    """One instruction, in force from the turn `since` until the turn `until` (`None`: to the end).

    `names` are the tool, the words of the command, the file, or what may not be used; `mode` is the mode that the
    tool is to be called with; `words` are the user's.
    """

    sort: Sort
    names: tuple[str, ...]
    words: str
    mode: str = ""
    instead: str = ""
    since: int = -1
    until: int | None = None


def instructions_of(turns: list[Turn]) -> list[Instruction]:
    """The instructions of a run's turns, each until a later turn takes it back."""
    found: list[Instruction] = []
    standing: dict[str, list[int]] = {}  # what ends it → the places of the instructions that it ends
    for turn in turns:
        if not found and not has(turn.lowered, GATE):
            continue
        for ending in _endings(standing, turn.sentences):
            for place in standing.pop(ending):
                found[place] = structs.replace(found[place], until=turn.step)
        made = [one for sentence in turn.sentences for one in _instructions_in(sentence)]
        if made and BUG_REPORT.search(" ".join(turn.sentences)):
            made = [one for one in made if one.sort not in ("command", "file", "read")]
        for place, one in enumerate(made, len(found)):
            standing.setdefault(_ended_by(one), []).append(place)
        found += [structs.replace(one, since=turn.step) for one in made]
    return found


_CANCEL, _ANY_TURN, _RUN = "\0cancel", "\0any turn", "\0run"
"""What ends an instruction, besides words that stand in a turn."""


def _ended_by(one: Instruction) -> str:
    """Asking is settled by any turn, a ban by asking for what it forbids, the rest by taking it back."""
    if one.sort == "ask":
        return _ANY_TURN
    if one.sort.startswith("avoid"):
        return one.names[0].lower() if one.sort == "avoid" else _RUN
    return _CANCEL


def _endings(standing: dict[str, list[int]], sentences: list[str]) -> list[str]:
    """What a later turn ends, of what stands."""
    if not standing:
        return []
    if any(CANCELLED.search(sentence) for sentence in sentences):
        return list(standing)
    clauses = [clause for sentence in sentences for clause in _CLAUSE_END.split(sentence.lower())]
    asked = "\n".join(clause for clause in clauses if not _NEGATION.search(clause))
    runs = _RUNNING.search(asked) is not None
    return [one for one in standing if one == _ANY_TURN or (runs if one == _RUN else one in asked)]


@lru_cache(maxsize=REMEMBERED)
def _instructions_in(raw: str) -> list[Instruction]:
    """The instructions of one sentence."""
    lowered = raw.lower()
    return _read(marked(raw), lowered) if has(lowered, GATE) else []


def _read(sentence: Sentence, lowered: str) -> list[Instruction]:
    text = sentence.text
    words = sentence.shown(text)

    def made(sort: Sort, *names: str, mode: str = "", instead: str = "") -> Instruction:
        return Instruction(sort, names, words, mode, instead)

    if NOT_ASKED.search(text):
        return []
    asked = [made("ask", what) for what, phrase in ASKS if phrase.search(text, lowered)]
    if asked:
        return asked[:1]
    if CORRECTION.search(text) and CHANGE.search(text):
        return [made("correction")]
    if any(phrase.search(text, lowered) for phrase in BASELINE):
        return [made("baseline", "tests")]
    if (instead := _instead(sentence, lowered)) is not None:
        return [made("avoid", instead[1], instead=instead[0])]
    if OFFER.all_in(text):
        return []
    if has(lowered, AVOID_WORDS) and (avoided := _avoided(sentence, lowered)) is not None:
        return [made(*avoided)]
    found = [made("tool", name, mode=mode) for name, mode in _tools(sentence, lowered)]
    found += [made("flag", *line.split(), mode=flag) for flag, line in _flags(sentence, lowered)]
    found += [made("short", str(number), mode=unit) for number, unit in _lengths(text, lowered)]
    if found or REPORT.all_in(text):
        return found
    found += [made("command", *line.split()) for line in _commands(sentence, lowered)]
    if not found and TESTS.search(text, lowered):
        found.append(made("tests", "tests"))
    found += [
        made("check", *sorted(names), mode=label) for label, names, phrase in CHECKS if phrase.search(text, lowered)
    ]
    if sentence.names:
        if has(lowered, FILE_WORDS):
            found += [made("file", name) for name in _paths(sentence, lowered, FILES)]
        found += [made("read", name) for name in _paths(sentence, lowered, READS)]
    return found


def _flags(sentence: Sentence, lowered: str) -> list[tuple[str, str]]:
    """The flags that a command is always to be given, and the command."""
    match = FLAGS.search(sentence.text, lowered)
    if match is None:
        return []
    flag, line = sentence.name(match["flag"]), sentence.name(match["name"])
    return [(flag, line)] if flag.startswith("-") and not line.startswith("-") and line else []


def _lengths(text: str, lowered: str) -> list[tuple[int, str]]:
    """How long an answer may be, and in what."""
    for phrase in SHORT:
        match = phrase.search(text, lowered)
        if match:
            number = match["number"].lower()
            return [(NUMBERS[number] if number in NUMBERS else int(number), match["unit"].lower())]
    return []


def _avoided(sentence: Sentence, lowered: str) -> tuple[Sort, str] | None:
    """What a sentence forbids to run or to use."""
    if AVOID_TESTS.search(sentence.text, lowered):
        return "avoid tests", "tests"
    if AVOID_ALL.search(sentence.text, lowered):
        return "avoid all", "commands"
    match = AVOID.search(sentence.text, lowered)
    if match is None:
        return None
    name = _named(match["bad"], sentence)
    known = name.split(" ")[0] in PROGRAMS or (match["word"] or "").strip() in ("tool", "skill")
    return ("avoid", name) if known else None


def _named(text: str, sentence: Sentence) -> str:
    names = sentence.names_in(text)
    return names[0] if names else text


def _instead(sentence: Sentence, lowered: str) -> tuple[str, str] | None:
    """What is to be used and what it is to be used instead of, where both are programs."""
    for phrase in INSTEAD:
        match = phrase.search(sentence.text, lowered)
        if match:
            good, bad = _named(match["good"], sentence).lower(), _named(match["bad"], sentence).lower()
            if good != bad and bad.split(" ")[0] in PROGRAMS and good.split(" ")[0] in PROGRAMS:
                return good, bad
    return None


def _tools(sentence: Sentence, lowered: str) -> list[tuple[str, str]]:
    for phrase in TOOLS:
        match = phrase.search(sentence.text, lowered)
        if match is None:
            continue
        name = _named(match["name"], sentence)
        mode = ""
        if (called := CALLED.match(name)) is not None:
            name = called.group(1)
            inside = INSIDE_CALL.search(called.group(2))
            mode = inside.group(1) if inside else ""
        if not re.fullmatch(r"[\w.:/-]+", name) or name.lower() in NO_TOOL or as_path(name) is not None:
            continue
        if not match["name"].startswith(NAME_MARK) and "_" not in name and ("-" in name or not is_known_name(name)):
            continue
        return [(name, mode or _mode(sentence.text[match.end("name") :], sentence))]
    return []


def _mode(rest: str, sentence: Sentence) -> str:
    for pattern in MODES:
        match = pattern.search(rest)
        if match:
            mode = _named(match["mode"], sentence)
            assigned = ASSIGNED.match(mode)
            return assigned.group(1) if assigned else mode if re.fullmatch(r"[\w-]+", mode) else ""
    return ""


def _commands(sentence: Sentence, lowered: str) -> list[str]:
    for phrase in (*COMMAND, BY_SCRIPT):
        match = phrase.search(sentence.text, lowered)
        if match is None:
            continue
        line = _named(match.group("name") if "name" in match.groupdict() else match.group("bare"), sentence).strip("$ ")
        first = line.split(" ")[0] if line else ""
        if "<" in line or "..." in line.replace("/...", ""):
            continue
        if phrase is BY_SCRIPT:
            if line.startswith(SCRIPTS) or (first in PROGRAMS and " " in line):
                return [line]
            continue
        if first in PROGRAMS or first.startswith(SCRIPTS) or first.endswith((".sh", ".py")):
            return [line]
    return []


def _paths(sentence: Sentence, lowered: str, phrases: list[Phrase]) -> list[str]:
    for phrase in phrases:
        match = phrase.search(sentence.text, lowered)
        if match:
            name = _named(match["name"], sentence)
            target = as_path(name)
            if (
                target is not None
                and target.sort == "path"
                and "." in name.rsplit("/", 1)[-1].lstrip(".")
                and "*" not in name
            ):
                return [name]
    return []

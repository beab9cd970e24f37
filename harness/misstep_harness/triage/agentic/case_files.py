"""Show a judge a case, fenced and within a budget, and check that the places in its verdict are there."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import get_args

from msgspec import Struct

from misstep_harness.classifiers.shell import commands as commands_in
from misstep_harness.fault_mappings import taxonomy
from misstep_harness.judges.context import CHARACTERS_PER_TOKEN, cut_text, fitted_steps, shares, shown_step
from misstep_harness.judges.fencing import fence, readable
from misstep_harness.triage.protocols import ReadOnlyAccess, TextAccess
from misstep_harness.triage.records import Evidence, EvidenceKind, Outcome, Part

_UNKNOWN = "The record does not say whether the tests passed."


def taxonomy_text() -> str:
    """Return the labels with their subcategories and what each means for runs that failed and that passed."""
    lines: list[str] = []
    for label, category in taxonomy().items():
        lines.append(f"{label} ({category.name}):")
        for observed, cell in (("failed", category.failure), ("passed", category.success)):
            if cell is not None:
                lines.append(f"  of a run that {observed}: {cell.meaning}")
        lines += [f"  - {name} (of a {each.observed}): {each.meaning}" for name, each in category.subcategories.items()]
    return "\n".join(lines)


def case_text(access: TextAccess, outcome: Outcome | None, budget: int) -> str:
    """Return what a judge is shown of a case before it asks for more."""
    run = access.trajectory
    texts = {f"{INSTRUCTION} (what the agent was asked)": access.instruction or (run.task if run is not None else "")}
    texts |= {f"logs/{name}": text for name, text in access.logs.items()} | dict(access.attached)
    texts = {name: readable(text) for name, text in texts.items() if text.strip()}
    steps = () if run is None else run.steps
    opening = _UNKNOWN if outcome is None else f"The tests {outcome}, as the harness recorded it."
    room = budget * CHARACTERS_PER_TOKEN - len(opening) - (_AROUND if steps else 0)
    of_texts = room // 2 if steps else room
    chosen = _those_with_room(texts, of_texts - _AROUND)
    left_out = f"{len(texts) - len(chosen):,} further files are left out." if len(chosen) < len(texts) else ""
    around = len(left_out) + sum(_AROUND + len(name) for name in chosen)
    rooms = shares([len(texts[name]) for name in chosen], max(0, of_texts - around))
    shown = {name: cut_text(texts[name], most).text for name, most in zip(chosen, rooms, strict=True)}
    if steps:
        left = max(0, room - around - sum(rooms))
        fitted = readable(fitted_steps(steps, left, "shorten_middle", None, 0).text)
        shown["The run"] = cut_text(fitted, left).text
    salt = access.case.id
    files = [f"{name}:\n{fence(text, f'{salt} {name}')}" for name, text in shown.items()]
    return "\n\n".join(filter(None, [opening, *files, left_out]))


_AROUND = 120
"""Characters of the fence around a text and of the line that says what was cut of it, and more."""

_LEAST = 200
"""Characters of a file, if it has as many, that are worth showing."""


def _those_with_room(texts: Mapping[str, str], room: int) -> list[str]:
    sizes = accumulate(_AROUND + len(name) + min(len(text), _LEAST) for name, text in texts.items())
    return [name for name, size in zip(texts, sizes, strict=True) if size <= room]


INSTRUCTION = "instruction.md"
LOGS: Part = "logs"
STEPS = "trajectory"
_PARTS: tuple[Part, ...] = tuple(part for part in get_args(Part) if part != LOGS)


class CaseFiles:
    """The files of a case by paths such as `tests/test_app.py`, `logs/tests.log` and `trajectory/step_012`."""

    def __init__(self, texts: TextAccess, files: ReadOnlyAccess | None = None) -> None:
        self._access, self._reading = texts, files

    @cached_property
    def _texts(self) -> dict[str, str]:
        run = self._access.trajectory
        steps = enumerate(run.steps) if run is not None else ()
        instruction = {INSTRUCTION: self._access.instruction} if self._access.instruction else {}
        logs = {f"{LOGS}/{name}": text for name, text in self._access.logs.items()}
        attached = dict(self._access.attached) if self._reading is None else {}
        return instruction | logs | attached | {step_path(number): shown_step(step, number) for number, step in steps}

    @cached_property
    def _files(self) -> dict[str, tuple[Part, str]]:
        reading = self._reading
        if reading is None:
            return {}
        return {f"{part}/{path}": (part, path) for part in _PARTS for path in reading.files(part)}

    def files(self) -> list[str]:
        """Return every file, sorted."""
        return sorted([*self._texts, *self._files])

    def exists(self, path: str) -> bool:
        """Return whether there is such a file."""
        return path in self._texts or path in self._files

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; raises `FileNotFoundError` if there is none that may be read."""
        if path in self._texts:
            return self._texts[path].encode(errors="replace")
        part, below = self._files.get(path, (None, ""))
        content = self._reading.read(part, below) if part and self._reading is not None else None
        if content is None:
            raise FileNotFoundError(path)
        return content

    def named(self, path: str) -> str:
        """Return the path in the tree that a name means: itself, or the one file that ends so; empty if none does.

        A file of the workspace is also in the environment, and in the replica without either; the workspace is meant.
        """
        path = path.strip("/")
        if self.exists(path) or not path:
            return path or ""
        alike = [one for one in self.files() if one.endswith(f"/{path}")]
        return next((one for one in alike if len(alike) == 1 or one == f"workspace/{path}"), "")


def step_path(number: int) -> str:
    """Return the path of a step."""
    return f"{STEPS}/step_{number:03}"


MOST_EVIDENCE_TEXT = 1_000
"""Characters of one piece of evidence that are kept."""

COMMAND = "$ "
LOOKING = ("read_directory", "read_file", "find_file", "go_to_line", "search_code", "search_code_in_file")
"""The commands that only look; evidence names them with whatever arguments."""

OWN = ("diff", "run", "test", "edit", "reset")
"""The commands of an investigation besides; evidence may name them alone."""

_STEP = re.compile(rf"(?:{STEPS}[ /])?steps?[ _]0*(\d{{1,7}})(?:\s?[-–:]\s?\d{{1,7}})?", re.IGNORECASE)
_LINE = re.compile(r"(?<=[^:])(?::L?|#L| lines? )\d+(?:\s?[-–:]\s?L?\d+)?\Z")
_SAID = re.compile(r"(?:run|command)(?: command=|: ?| )|\s\((?:exit|ended)[^()]{0,60}\)\Z")
"""What a model puts around a command that it names."""


class _Place(Struct, frozen=True):
    kind: EvidenceKind = "record"
    step: int | None = None
    fault: str = ""


class _Found(Struct, frozen=True):
    evidence: tuple[Evidence, ...]
    steps: tuple[int, ...]
    faults: tuple[str, ...]


def place_of(where: str, files: CaseFiles, commands: Collection[str] = ()) -> _Place:
    """Return what a place is that evidence names; `commands` are those that were run."""
    where = where.strip("`'\" ").removeprefix("./")
    line = where.removeprefix(COMMAND)
    if _was_run(line, commands):
        return _Place("command")
    if line != where:
        return _Place(fault=f"no command {line!r} was run")
    if (step := _STEP.fullmatch(where)) is not None:
        number = int(step[1])
        is_there = files.exists(step_path(number))
        return _Place("step", number) if is_there else _Place(fault=f"the run has no step {number}")
    path = files.named(_LINE.sub("", where))
    if path:
        return _Place("log" if path.startswith(f"{LOGS}/") else "file")
    return _Place(fault=f"there is no {where!r}")


def _was_run(named: str, commands: Collection[str]) -> bool:
    """Return whether a command was run that has this line, begins with it, or is of a program of this name.

    Of a command in several lines the first is enough, and of the commands that an investigator is given their name.
    """
    lines = {" ".join(line.split()) for command in commands for line in (command, command.partition("\n")[0])}
    plain = " ".join(named.split())
    bare = _SAID.sub("", plain).strip("`'\" ")
    if {plain, bare} & lines or plain.partition(" ")[0].rstrip(":") in {*LOOKING, *OWN} & set(commands):
        return True
    programs = {simple.program for command in commands for simple in commands_in(command)}
    return bool(bare) and (bare in programs or any(line.startswith(f"{bare} ") for line in lines))


def found_evidence(pieces: Sequence[tuple[str, str]], files: CaseFiles, commands: Collection[str] = ()) -> _Found:
    """Return the evidence in pairs of place and text."""
    placed = [(place_of(where, files, commands), where, text[:MOST_EVIDENCE_TEXT]) for where, text in pieces]
    evidence = tuple(Evidence(place.kind, where, text) for place, where, text in placed if not place.fault)
    steps = {place.step for place, _, _ in placed if place.step is not None}
    return _Found(evidence, tuple(sorted(steps)), tuple(place.fault for place, _, _ in placed if place.fault))


def subcategory_fault(label: str, subcategory: str) -> str:
    """Return what is wrong with a subcategory of a label; empty where the taxonomy has it there, or it is empty."""
    known = [name for fault, category in taxonomy().items() if fault == label for name in category.subcategories]
    if not subcategory or subcategory in known:
        return ""
    return f"{label} has no subcategory {subcategory!r}; it has {', '.join(known) or 'none'}"

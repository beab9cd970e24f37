"""Check what a model gives as its verdict: the label and subcategory are the taxonomy's, and each place is there."""

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from misstep.harness.records.attribution import Evidence, EvidenceKind, taxonomy
from misstep.harness.triage.agentic.case_files import LOGS, STEPS, CaseFiles, step_path

MOST_EVIDENCE_TEXT = 1_000
"""Characters of one piece of evidence that are kept."""

COMMAND = "$ "
LOOKING = ("read_directory", "read_file", "find_file", "go_to_line", "search_code", "search_code_in_file")
"""The commands that only look; evidence names them with whatever arguments."""

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
    path = _LINE.sub("", where)
    if files.exists(path):
        return _Place("log" if path.startswith(f"{LOGS}/") else "file")
    return _Place(fault=f"there is no {where!r}")


def _was_run(named: str, commands: Collection[str]) -> bool:
    """Return whether a command was run that has this name or this line; of one in several lines the first is enough."""
    lines = {" ".join(line.split()) for command in commands for line in (command, command.partition("\n")[0])}
    plain = " ".join(named.split())
    bare = _SAID.sub("", plain).strip("`'\" ")
    looks = plain.partition(" ")[0] in {*LOOKING, "diff"} & set(commands)
    return bool({plain, bare} & lines) or looks


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

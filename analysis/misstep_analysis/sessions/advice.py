"""Lines for CLAUDE.md or AGENTS.md from the findings of a run of `classify`, as a diff that a person applies.

The words of a line are ours. Of a session a line has only names and the shape of a call: a program, its options and its
paths, each checked. Other words of a session could be instructions, and an agent would follow them.
"""

import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from misstep_analysis.runs.finished import require_finished
from misstep_analysis.sessions.costs import Cost, Price, costs_of
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import opening
from misstep_harness.forms import toml_form
from misstep_harness.journal.classified import PlacedVerdict, labelled_sessions
from misstep_harness.journal.opened import OpenRun
from misstep_harness.places import data_folder
from misstep_harness.session import Session

CalledNames = Callable[[str, str], tuple[str, Sequence[str]]]
"""The name and the line of a call → the bare name of its tool, and the words of the first program of a shell's line."""

MOST_LINES = 10
_WORDS = 6
_SEEN = " (seen in "
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,39}")
_OPTION_OR_PATH = re.compile(r"--?[A-Za-z0-9-]{1,30}|[A-Za-z0-9_~.-]{0,40}[./][A-Za-z0-9_./-]{1,80}")

_MISSING = re.compile(r"\b([A-Za-z0-9_][A-Za-z0-9_.+-]{0,39}): (?:command )?not found\b")

Level = Literal["missing", "program", "tool"]


class _Template(Struct, frozen=True, forbid_unknown_fields=True):
    category: str
    of: Level
    text: str


class _AdviceFile(Struct, frozen=True, forbid_unknown_fields=True):
    heading: str
    line: tuple[_Template, ...]


class Advice(Struct, frozen=True):
    """A line, what it is about, how many sessions show it, and which; the cost is null if no finding names a step."""

    line: str
    category: str
    of: Level
    name: str
    sessions: int
    items: list[str]
    cost: Cost | None = None


class _Shown(Struct, frozen=True):
    session: Session
    verdict: PlacedVerdict
    tool: str
    program: str
    missing: str
    quote: str

    @property
    def root(self) -> str:
        return self.session.parent or self.session.item


_LEVELS: dict[Level, Callable[[_Shown], str]] = {
    "missing": lambda one: one.missing,
    "program": lambda one: one.program,
    "tool": lambda one: one.tool,
}
"""What a line may be about, the narrowest first: a finding that no narrow line has counts for the wider one."""


def advice_of(
    run: OpenRun, at_least: int, by: Literal["cost", "count"], price: Price, called: CalledNames
) -> list[Advice]:
    """Return the lines that at least so many sessions bear out, those of most cost or count first, ten at most."""
    require_finished(run)
    templates = {(one.category, one.of): one.text for one in _advice_file().line}
    sessions = [one for one in labelled_sessions(run.folder) if "yes" in one.labels or one.session.parent is not None]
    remaining = [
        _shown(one.session, verdict, called) for one in sessions for verdict in one.verdicts if verdict.label == "yes"
    ]
    lines: list[Advice] = []
    line_of: dict[tuple[str, str], str] = {}
    for level, name_of in _LEVELS.items():
        groups: defaultdict[tuple[str, str], list[_Shown]] = defaultdict(list)
        for one in remaining:
            if (text := templates.get((one.verdict.judge, level))) and (name := name_of(one)):
                groups[one.verdict.judge, text.format(name=name)].append(one)
        for (category, text), group in groups.items():
            if len({one.root for one in group}) >= at_least:
                lines.append(_advice(category, level, name_of(group[0]), text, group))
                line_of |= {(one.session.item, category): lines[-1].line for one in group}
        remaining = [one for one in remaining if (one.session.item, one.verdict.judge) not in line_of]
    relabelled = (
        structs.replace(
            one,
            verdicts=tuple(
                structs.replace(verdict, judge=line_of.get((one.session.item, verdict.judge), ""))
                for verdict in one.verdicts
            ),
        )
        for one in sessions
    )
    costs = costs_of([one.line for one in lines], relabelled, price).categories
    lines = [structs.replace(one, cost=costs.get(one.line)) for one in lines]
    places = {line: place - len(costs) for place, line in enumerate(costs)}
    lines.sort(key=lambda one: (places.get(one.line, 0) if by == "cost" else 0, -one.sessions))
    return lines[:MOST_LINES]


def _advice(category: str, level: Level, name: str, text: str, group: Sequence[_Shown]) -> Advice:
    roots = list(dict.fromkeys(one.root for one in group))
    quote = next((one.quote for one in group if one.quote), "") if level == "program" else ""
    such = f", such as `{quote}`" if quote else ""
    line = f"- {text}{_SEEN}{counted_text(len(roots), 'session')}{such})"
    return Advice(line, category, level, name, len(roots), roots)


def _shown(session: Session, verdict: PlacedVerdict, called: CalledNames) -> _Shown:
    named, words = called(*next(iter(verdict.calls or ()), ("", "")))
    program = words[0].rsplit("/", 1)[-1]
    if not _NAME.fullmatch(program):
        program = ""
    tool, missing = named if _NAME.fullmatch(named) else "", _MISSING.search(verdict.rationale)
    return _Shown(session, verdict, tool, program, missing[1] if missing else "", program and _shape(words))


def _shape(words: Sequence[str]) -> str:
    """Return a call without its free words: its program, options and paths; each run of other words is "…"."""
    parts = [words[0].rsplit("/", 1)[-1]]
    for word in words[1:]:
        safe = word if _OPTION_OR_PATH.fullmatch(word) else "…"
        parts += [] if safe == parts[-1] == "…" else [safe]
    return " ".join(parts[:_WORDS])


def advice_diff(lines: Iterable[Advice], file: Path) -> str:
    """Return the unified diff that adds lines to a file, which may be absent; empty if it has them all."""
    old = ""
    if file.exists():
        with opening(file, "Name a text file.", "cannot be read"):
            old = file.read_bytes().decode()
    end = "\r\n" if "\r\n" in old else "\n"
    heading = f"## {_advice_file().heading}"
    new = [one.line for one in lines if one.line.split(_SEEN)[0] not in old]
    if not new:
        return ""
    before = _lines(old)
    place = next((number for number, line in enumerate(before, 1) if line.strip() == heading), 0)
    added = [f"{line}{end}" for line in new]
    if place:
        place += 1 if place < len(before) and not before[place].strip() else 0
        after = [*before[:place], *added, *before[place:]]
    else:
        closed = [*before[:-1], before[-1].rstrip("\r\n") + end, end] if before else []
        after = [*closed, heading + end, end, *added]
    name = file.as_posix()
    diff = unified_diff(before, after, f"a/{name}" if before or file.exists() else "/dev/null", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)


def _lines(text: str) -> list[str]:
    return io.StringIO(text, newline="\n").readlines()


def _advice_file() -> _AdviceFile:
    file = data_folder() / "advice.toml"
    return toml_form(file.read_bytes(), _AdviceFile, file, "Install Misstep again.")

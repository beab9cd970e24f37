"""Word what an agent is told: DOs and DON'Ts from a store of one file a category, filled from evidence (section 3.2).

    [[levels]]
    says = ["You have made the call `{call}` {times} times, and nothing changed in between.", "You repeat yourself."]
    do = ["Use what `{call}` has shown already."]
    dont = ["Do not make this call again."]

Of `says`, the first sentence whose placeholders all have values is said; any other line without a value is left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep.harness.prompting import fill, placeholders_in
from misstep.harness.records.intervention import INTERVENTION, Misbehaviour
from misstep.harness.reminder import reminder
from misstep.harness.trajectory import Step

OTHER = "other"
"""The file for categories that have none of their own."""

_FOLDER = Path(__file__).with_name("guidance")

PLACEHOLDERS = frozenset({"call", "changed", "constraint", "parameters", "request", "times", "tool", "tools"})


class Level(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said at one level."""

    says: tuple[str, ...]
    do: tuple[str, ...]
    dont: tuple[str, ...]


class CategoryGuidance(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said on one category, a level at a time."""

    levels: tuple[Level, Level, Level]


class _Frame(Struct, frozen=True, forbid_unknown_fields=True):
    opening: tuple[str, str, str]
    do: str
    dont: str
    request: str
    closing: str


@cache
def categories() -> tuple[str, ...]:
    """Return the categories with guidance of their own."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml") if path.stem not in (OTHER, "frame")))


def guidance(spoken: Sequence[tuple[Misbehaviour, int]]) -> str:
    """Return what is said on misbehaviours, each at its level, as one reminder."""
    frame = _frame()
    highest = max(level for _, level in spoken)
    requests = (fault.evidence["request"] for fault, _ in spoken if fault.evidence.get("request"))
    request = next((fill(frame.request, {"request": text}) for text in requests), "")
    sections = dict.fromkeys(_section(fault, level, frame) for fault, level in spoken)
    text = "\n\n".join(filter(None, (frame.opening[highest - 1], *sections, request, frame.closing)))
    return reminder(text, (fault.category for fault, _ in spoken))


def guidance_step(text: str, number: int) -> Step:
    """Guidance as a step of the run, marked with the number of its intervention."""
    return Step("system", text, extra={INTERVENTION: number})


def of_category(category: str) -> CategoryGuidance:
    """Return what the store holds on a category."""
    return _read(category if category in categories() else OTHER)


def _section(fault: Misbehaviour, level: int, frame: _Frame) -> str:
    texts = of_category(fault.category).levels[level - 1]
    values = {name: value for name, value in fault.evidence.items() if value}
    lines = [next(iter(_filled(texts.says, values)), "")]
    for title, listed in ((frame.do, texts.do), (frame.dont, texts.dont)):
        if filled := _filled(listed, values):
            lines += [title, *(f"- {line}" for line in filled)]
    return "\n".join(filter(None, lines))


def _filled(lines: Iterable[str], values: Mapping[str, str]) -> list[str]:
    return [fill(line, values) for line in lines if placeholders_in(line) <= values.keys()]


@cache
def _frame() -> _Frame:
    return msgspec.toml.decode(_file("frame"), type=_Frame)


@cache
def _read(name: str) -> CategoryGuidance:
    return msgspec.toml.decode(_file(name), type=CategoryGuidance)


def _file(name: str) -> bytes:
    return (_FOLDER / f"{name}.toml").read_bytes()

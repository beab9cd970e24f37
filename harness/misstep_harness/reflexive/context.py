"""What an agent sees in a turn: named parts under a budget of tokens, made anew for each turn."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from misstep_harness.agent.turns import tokens_in_text
from misstep_harness.judges.fencing import fence, readable
from misstep_harness.reflexive.protocols import Context, Part
from misstep_harness.reflexive.records import (
    Checked,
    Diagnosed,
    ItemBegan,
    LoopEvent,
    PartShown,
    Planned,
    Reflected,
    Role,
    TurnEnded,
    WorkItem,
)
from misstep_harness.reminder import defused

RESERVED: Mapping[str, float] = MappingProxyType({"task": 0.25, "facts": 0.25})
"""Part → the share of the room that it has whatever is before it, as far as it needs it."""

_NEWEST_LAST = frozenset({"history"})

_CUT = "[cut here: this part was too long]"
_LEAST_SHOWN = 40

CHARACTERS = 4

_FENCE = len(fence(""))


def assembled(
    role: Role, item: WorkItem, attempt: int, parts: Sequence[Part], room_tokens: int
) -> tuple[Context, tuple[PartShown, ...]]:
    """Return what an agent sees, and the record of it."""
    named = [(part.name, safe) for part in parts if (safe := defused(readable(part.text)).strip())]
    left = room_tokens * CHARACTERS
    promised = [min(length(name, text), int(RESERVED.get(name, 0.0) * left)) for name, text in named]
    shown: list[Part] = []
    record: list[PartShown] = []
    for number, (name, text) in enumerate(named):
        fitting = fitted(name, text, left - sum(promised[number + 1 :]), from_end=name in _NEWEST_LAST)
        if fitting:
            shown.append(Part(name, fitting))
            left -= length(name, fitting)
        record.append(part_shown(name, fitting, whole=fitting == text))
    return Context(role, item, attempt, tuple(shown)), tuple(record)


def part_shown(name: str, text: str, *, whole: bool) -> PartShown:
    """Return the record of a part, from the text that was shown of it."""
    if not text:
        return PartShown(name, 0, shown="left_out")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return PartShown(name, tokens_in_text(text), digest, "whole" if whole else "cut")


def length(name: str, text: str) -> int:
    """The characters that a part takes in `Context.text`, with its heading, its fence and the blank line after it."""
    return len(f"## {name}\n\n\n") + _FENCE + len(readable(text))


def fitted(name: str, text: str, room: int, *, from_end: bool) -> str:
    """As much of a text as the room takes, with a line that says that it was cut; empty where that is too little."""
    short, most = text, len(text) - len(_CUT) - 1
    while (over := length(name, short) - room) > 0:
        most -= over
        if most < _LEAST_SHOWN:
            return ""
        short = f"{_CUT}\n{cut_at_line(text, most)}" if from_end else f"{cut_at_sentence(text, most)}\n{_CUT}"
    return short


_ENDS = re.compile(r"[.!?…](?=\s)|\n")
_LEAST_KEPT = 0.5
"""The share of the room that has to be filled for a cut at the end of a sentence; else the cut is at a word."""


def cut_at_sentence(text: str, most: int) -> str:
    """Return the beginning of a text, in at most so many characters: up to the end of a sentence, a line or a word."""
    if len(text) <= most:
        return text
    head = text[: max(most, 0)]
    ends = [end.end() for end in _ENDS.finditer(text, 0, max(most + 1, 0)) if end.end() <= most]
    if ends and ends[-1] >= _LEAST_KEPT * most:
        return head[: ends[-1]].rstrip()
    blank = head.rfind(" ")
    return head[:blank].rstrip() if blank >= _LEAST_KEPT * most else head


def cut_at_line(text: str, most: int) -> str:
    """Return the end of a text, in at most so many characters: from the beginning of a line if one is early enough."""
    if len(text) <= most:
        return text
    tail = text[len(text) - max(most, 0) :]
    place = tail.find("\n") + 1
    return tail[place:] if 0 < place <= (1 - _LEAST_KEPT) * most else tail


_SAID_ONCE = ("task", "plan")


def accumulated(
    role: Role, item: WorkItem, attempt: int, parts: Sequence[Part], events: Sequence[LoopEvent], room_tokens: int
) -> tuple[Context, tuple[PartShown, ...]]:
    """Return what an agent sees of all that it said and was told, and the record of it."""
    left = room_tokens * CHARACTERS
    once = {part.name: part for part in parts if part.name in _SAID_ONCE}
    shown: list[Part] = []
    record: list[PartShown] = []
    for part in _newest_first([part for part in parts if part.name not in once], once, events, role, item.id):
        text = defused(readable(part.text)).strip()
        if not text:
            continue
        fitting = fitted(part.name, text, left, from_end=True)
        if fitting:
            shown.append(Part(part.name, fitting))
            record.append(part_shown(part.name, fitting, whole=fitting == text))
            left -= length(part.name, fitting)
        if fitting != text:
            break
    there = {part.name for part in record}
    record += [part_shown(part.name, "", whole=False) for part in parts if part.text.strip() and part.name not in there]
    return Context(role, item, attempt, tuple(reversed(shown))), tuple(reversed(record))


def _newest_first(
    now: Sequence[Part], once: dict[str, Part], events: Sequence[LoopEvent], role: Role, item: str
) -> Iterator[Part]:
    waiting = dict(once)
    yield from reversed(now)
    for event in reversed(events):
        name, text = _part(event, role)
        if not name:
            continue
        if name in waiting and event.item == item:
            yield waiting.pop(name)
        else:
            yield Part(f"earlier {name}", text)
    yield from reversed(waiting.values())


def _part(event: LoopEvent, role: Role) -> tuple[str, str]:
    """What a role said or heard when something happened: the name of a part and its text, both empty for nothing."""
    match event.happened:
        case ItemBegan():
            return "task", event.item
        case Planned(plan=plan):
            return "plan", plan
        case TurnEnded(role=speaker, reply=reply) if speaker == role:
            return "reply", reply
        case Checked(text=text) if role in ("worker", "reflector"):
            return "check", text
        case Diagnosed(facts=facts) if role in ("reflector", "strategist"):
            return "facts", "\n".join(f"{name}: {text}" for name, text in facts.items())
        case Reflected(text=text) if role in ("worker", "strategist"):
            return "reflection", text
    return "", ""


__all__ = ["accumulated", "assembled"]

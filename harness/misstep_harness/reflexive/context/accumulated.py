"""A context that grows: what an agent sees that keeps one session for the whole run."""

from collections.abc import Iterator, Sequence

from misstep_harness.judges.fencing import readable
from misstep_harness.reflexive.context.assembling import CHARACTERS, fitted, length, part_shown
from misstep_harness.reflexive.protocols import Context, Part
from misstep_harness.reflexive.records.loop_events import (
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

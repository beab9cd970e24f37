"""Which item comes next: prerequisites first, what is marked so last, and what was put off when its wait is over."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from misstep_harness.reflexive.log import ItemState, LoopState


class _Step(Struct, frozen=True):
    """What to do next with which item: work on it, make its deferred check, or give it up for lack of another."""

    kind: Literal["work", "verify", "give_up"]
    item: str
    why: str = ""


def next_step(state: LoopState, *, ordered: bool) -> _Step | None:
    """Return what to do next; `None` when every item has its end."""
    items = state.items
    begun = next((name for name, each in items.items() if each.phase in ("working", "kept")), None)
    if begun is not None:
        return _Step("work", begun)
    waiting = [each for each in items.values() if each.phase == "waiting"]
    deferred = [each for each in items.values() if each.phase == "deferred"]
    if not ordered:
        following = next(iter(waiting), None)
    else:
        for each in waiting:
            if missing := _never_solved(each, state):
                why = "was not solved" if any(name in items for name in missing) else "is not an item of this run"
                return _Step("give_up", each.item.id, f"It needs {', '.join(missing)}, which {why}.")
        following = next(_in_order(waiting, state, bool(deferred)), None)
    if following is not None:
        return _Step("work", following.item.id)
    if deferred:
        return _Step("verify", deferred[0].item.id)
    if waiting:
        return _Step("give_up", waiting[0].item.id, "It needs an item that needs it.")
    return None


def _in_order(waiting: Sequence[ItemState], state: LoopState, deferred: bool) -> Iterator[ItemState]:
    able = [each for each in waiting if all(state.items[name].solved for name in each.item.after)]
    others = [each for each in able if not each.item.last]
    yield from (each for each in others if not _awaited(each, state, lambda _: True))
    if deferred and len([each for each in waiting if not each.item.last]) > len(others):
        return  # what they need is not decided yet
    yield from (each for each in others if not _awaited(each, state, lambda name: state.items[name].item.last))
    last = [each for each in able if each.item.last]
    yield from (each for each in last if not _awaited(each, state, lambda _: True))
    yield from [*others, *last]  # what was put off for each other


def _awaited(each: ItemState, state: LoopState, counts: Callable[[str], bool]) -> list[str]:
    return [name for name in each.until if state.items[name].phase != "ended" and counts(name)]


def _never_solved(each: ItemState, state: LoopState) -> list[str]:
    known = state.items
    return [
        name
        for name in each.item.after
        if name not in known or (known[name].phase == "ended" and not known[name].solved)
    ]

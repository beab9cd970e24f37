"""The reflexive loop over all items of a skill: begun, or gone on with after a kill at any event."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, cast

from msgspec import Struct

from misstep_harness.agent.clocks import Clock
from misstep_harness.reflexive.guarded import GuardedTarget
from misstep_harness.reflexive.item_work import ItemWork
from misstep_harness.reflexive.log import ItemState, Log, LoopState, last_that_holds
from misstep_harness.reflexive.memory import Lesson
from misstep_harness.reflexive.protocols import Agents, Skill, Target
from misstep_harness.reflexive.records import (
    Checked,
    Ending,
    Halted,
    LoopEvent,
    LoopSettings,
    Resumed,
    RunBegan,
    RunEnded,
    SnapshotTaken,
    Verified,
    Warned,
    WorkItem,
)
from misstep_harness.reflexive.snapshots import digest_now, keep_baseline, restored


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


async def run_loop(
    skill: Skill,
    target: Target,
    agents: Agents,
    settings: LoopSettings,
    clock: Clock,
    log: Log,
    earlier: Sequence[Lesson] = (),
    seed: int = 0,
    *,
    agents_name: str = "",
    items: Sequence[WorkItem] | None = None,
    item_ended: Callable[[], None] = lambda: None,
) -> None:
    """Work until every item has its end."""
    if log.state.ended:
        return
    target = cast(Target, GuardedTarget(target, clock, settings.item.seconds))
    if log.state.began is None:
        named = tuple(skill.items if items is None else items)
        name = agents_name or agents.worker.name
        log.add(RunBegan(skill.name, name, seed, tuple(sorted(settings.without)), named, keep_baseline(target)))
    else:
        await _go_on(target, settings, log)
    work = ItemWork(skill, target, agents, settings, clock, log, earlier)
    while not log.state.halted and (step := next_step(log.state, ordered=settings.has("ordering"))):
        if step.kind == "give_up":
            work.end(log.state.items[step.item], Ending("failed", "prerequisite_unsolved", step.why))
        elif step.kind == "verify":
            await work.verify(step.item)
        else:
            await work.work_on(step.item)
        if log.state.items[step.item].ending is not None:
            item_ended()
    for state in log.state.items.values():
        if state.ending is None:
            work.end(state, Ending("failed", "target_unrecoverable"))
    log.add(RunEnded())


async def _go_on(target: Target, settings: LoopSettings, log: Log) -> None:
    last, progress = log.holding[-1], target.kept("progress")
    known = {event.happened.digest for event in log.events if isinstance(event.happened, SnapshotTaken)}
    if progress is not None and progress not in known and _is_success(last, log):
        # The success was kept, and the kill came before that was written down.
        log.add(Resumed(last.number))
        log.add(SnapshotTaken("progress", progress), last.item, last.attempt)
    else:
        log.add(Resumed(last_that_holds(log.holding).number))
    if log.state.halted:
        return
    if target.kept("baseline") != log.state.baseline and digest_now(target) == log.state.baseline:
        # What was laid out just now is the very target that was found: the snapshot is made whole from it.
        target.keep("baseline")
        log.add(Warned("The snapshot baseline was damaged or missing; it was kept again from the target as it is."))
    if broken := await restored(target, log):
        text = f"The target is beyond recovery: {broken}."
        log.add(Halted(text) if settings.has("halting") else Warned(text))


def _is_success(event: LoopEvent, log: Log) -> bool:
    match event.happened:
        case Verified(status=status):
            return status == "passed"
        case Checked(healthy=healthy, counted=counted):
            return counted == "passed" or (
                counted == "unknown" and healthy and log.state.items[event.item].item.deferred
            )
    return False

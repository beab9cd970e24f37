"""The reflexive loop over all items of a skill: begun, or gone on with after a kill at any event."""

from collections.abc import Callable, Sequence
from typing import cast

from misstep_harness.agent.clocks import Clock
from misstep_harness.reflexive.guarded import GuardedTarget
from misstep_harness.reflexive.item_work import ItemWork
from misstep_harness.reflexive.log import Log, last_that_holds
from misstep_harness.reflexive.memory import Lesson
from misstep_harness.reflexive.ordering import next_step
from misstep_harness.reflexive.protocols import Agents, Skill, Target
from misstep_harness.reflexive.records.loop_events import (
    Checked,
    Ending,
    Halted,
    LoopEvent,
    Resumed,
    RunBegan,
    RunEnded,
    SnapshotTaken,
    Verified,
    Warned,
    WorkItem,
)
from misstep_harness.reflexive.settings import LoopSettings
from misstep_harness.reflexive.snapshots import digest_now, keep_baseline, restored


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
